// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Opening the card, and saying what to do when that fails. */
#include <errno.h>
#include <stdio.h>

#include "util.h"

static const char *advice(int error)
{
	switch (error) {
	case -ENOENT:
		return "is the module loaded (lsmod | grep litepcie), is the card there (lspci)?";
	case -EACCES:
	case -EPERM:
		return "run as root, or give your user the right to the device file";
	case -ENXIO:
	case -ENODEV:
		return "is the card there (lspci), and what does the driver say (dmesg)?";
	case -ENOTTY:
		return "give the device file of a card, /dev/litepcieN";
	default:
		return "what does the driver say (dmesg)?";
	}
}

static void explain(const char *device, int error)
{
	int version;

	if (error != -EPROTONOSUPPORT) {
		fail(EXIT_FAILED, "%s: %s: %s", device, litepcie_strerror(error), advice(error));
		return;
	}
	version = litepcie_driver_version(device);
	fail(EXIT_FAILED,
	     "%s: the driver speaks interface version %d, this program version %d: use module and "
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
	*code = EXIT_FAILED;
	return NULL;
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
