// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Opens the card, and says what to do if that fails. */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <sys/stat.h>

#include "util.h"

static const char *advice(int error)
{
	switch (error) {
	case -ENOENT:
		return "check that the module is loaded (lsmod | grep litepcie) and the card is "
		       "there (lspci)";
	case -EACCES:
	case -EPERM:
		return "run as root, or give your user permission for the device file";
	case -ENXIO:
	case -ENODEV:
		return "check that the card is there (lspci) and read the kernel log (dmesg)";
	case -ENOTTY:
		return "give the device file of a card, /dev/litepcieN";
	default:
		return "read the kernel log (dmesg)";
	}
}

int exit_code_of(int error)
{
	switch (error) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		return EXIT_GONE;
	default:
		return EXIT_FAILED;
	}
}

/* Without NSS, which a program that is linked statically does not have. */
static void group_name(gid_t number, char *name, size_t size)
{
	FILE *file = fopen("/etc/group", "re");
	const struct group *group;

	snprintf(name, size, "%u", (unsigned int)number);
	while (file && (group = fgetgrent(file)))
		if (group->gr_gid == number)
			snprintf(name, size, "%s", group->gr_name);
	if (file)
		fclose(file);
}

/* Names the group that may open the device file. */
static int explain_permission(const char *device, int error)
{
	struct stat status;
	char name[64];

	if (stat(device, &status))
		return fail(EXIT_FAILED, "%s: %s: %s", device, litepcie_strerror(error),
			    advice(error));
	if (!(status.st_mode & S_IWGRP) || !status.st_gid)
		return fail(EXIT_FAILED,
			    "%s: %s: only root may open it: run as root, or install the udev rule "
			    "60-litepcie.rules, which gives it to the group litepcie",
			    device, litepcie_strerror(error));
	group_name(status.st_gid, name, sizeof(name));
	return fail(EXIT_FAILED,
		    "%s: %s: the group %s may open it: run 'sudo usermod -aG %s USER' and log in "
		    "again, or run as root",
		    device, litepcie_strerror(error), name, name);
}

static void explain(const char *device, int error)
{
	int version;

	if (error == -EACCES) {
		explain_permission(device, error);
		return;
	}
	if (error != -EPROTONOSUPPORT) {
		fail(exit_code_of(error), "%s: %s: %s", device, litepcie_strerror(error),
		     advice(error));
		return;
	}
	version = litepcie_driver_version(device);
	fail(EXIT_FAILED,
	     "%s: the driver has interface version %d, this program has version %d: use module and "
	     "program of the same release",
	     device, version, LITEPCIE_UAPI_VERSION);
}

struct litepcie *open_card(const struct settings *settings, struct litepcie_info *info, int *code)
{
	struct litepcie *card;
	int err = litepcie_open(&card, settings->device);

	if (err >= 0) {
		err = litepcie_get_info(card, info);
		if (err >= 0)
			return card;
		litepcie_close(card);
	}
	explain(settings->device, err);
	*code = exit_code_of(err);
	return NULL;
}

int need_channels(const struct settings *settings, const struct litepcie_info *info)
{
	if (info->channels)
		return 0;
	return fail(EXIT_FAILED,
		    "%s: the card has no memory channels; its streams are for the command stream",
		    settings->device);
}

void capability_names(uint32_t capabilities, char *text, size_t size)
{
	size_t used = 0;

	text[0] = 0;
	for (unsigned int bit = 0; bit < 32 && used < size; bit++) {
		const char *name = litepcie_capability_name(bit);

		if (!(capabilities >> bit & 1))
			continue;
		used += snprintf(text + used, size - used, "%s", used ? ", " : "");
		if (used < size && name)
			used += snprintf(text + used, size - used, "%s", name);
		else if (used < size)
			used += snprintf(text + used, size - used, "bit %u", bit);
	}
}
