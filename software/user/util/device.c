// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The device file that the command line names: by number, path or PCI address. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sysfs.h"
#include "util.h"

static bool is_number(const char *text)
{
	return *text && strlen(text) <= 4 && text[strspn(text, "0123456789")] == 0;
}

bool pci_address(const char *text, char *address, size_t size)
{
	unsigned int domain = 0, bus, slot, function;
	int end = 0;

	if (sscanf(text, "%4x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &end) != 4 ||
	    text[end]) {
		domain = 0;
		end = 0;
		if (sscanf(text, "%2x:%2x.%1x%n", &bus, &slot, &function, &end) != 3 || text[end])
			return false;
	}
	if (slot > 31 || function > 7)
		return false;
	snprintf(address, size, "%04x:%02x:%02x.%x", domain, bus, slot, function);
	return true;
}

static bool find_address(const char *address, char *path, size_t size)
{
	size_t count;
	char **names = sysfs_names(SYSFS_CARDS, &count);
	bool found = false;

	for (size_t i = 0; i < count && !found; i++) {
		char folder[SYSFS_TEXT], at[SYSFS_TEXT];

		snprintf(folder, sizeof(folder), "%s/%.64s", SYSFS_CARDS, names[i]);
		sysfs_link(folder, "device", at, sizeof(at));
		found = !strcmp(at, address);
		if (found)
			snprintf(path, size, "/dev/%s", names[i]);
	}
	sysfs_free(names, count);
	return found;
}

int settle_device(struct settings *settings, char *path, size_t size)
{
	const char *given = settings->device;
	char address[16], file[PATH_MAX];

	settings->chosen = given || settings->card != NO_CARD;
	if (given && settings->card != NO_CARD)
		return fail(EXIT_USAGE, "give --device or --card, not both");
	if (!given) {
		snprintf(path, size, "/dev/litepcie%u",
			 settings->card == NO_CARD ? 0 : (unsigned int)settings->card);
	} else if (is_number(given)) {
		snprintf(path, size, "/dev/litepcie%s", given);
	} else if (pci_address(given, address, sizeof(address))) {
		if (!find_address(address, path, size))
			return fail(EXIT_GONE,
				    "%s: no card of the driver has this PCI address; give "
				    "that of a card in /sys/class/litepcie",
				    address);
	} else if (strchr(given, '/')) {
		/* sysfs and /proc have no name of a link, such as that of the udev rule. */
		if (!realpath(given, file) || strlen(file) >= size)
			return 0;
		memcpy(path, file, strlen(file) + 1);
	} else {
		return fail(EXIT_USAGE,
			    "--device: '%s' is not a device; give a number, a path such as "
			    "/dev/litepcie0, or a PCI address such as 0000:01:00.0",
			    given);
	}
	settings->device = path;
	return 0;
}
