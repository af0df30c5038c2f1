// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The state of the lane through the driver: the registers of the SoC behind the user's bus. */
#include "lane.h"

#include <stdio.h>
#include <string.h>

#include "litepcie_regs.h"
#include "sysfs.h"

static int result(struct lane_port *port, int err)
{
	return err < 0 ? fail(exit_code_of(err), "%s: %s", port->name, litepcie_strerror(err)) : 0;
}

static int card_read(struct lane_port *port, uint32_t address, uint32_t *words, unsigned int count)
{
	return result(port, litepcie_user_read(port->handle, port->base + address, words, count));
}

static int card_write(struct lane_port *port, uint32_t address, uint32_t value)
{
	return result(port, litepcie_user_write(port->handle, port->base + address, &value, 1));
}

static void card_close(struct lane_port *port)
{
	litepcie_user_close(port->handle);
}

/* Reads what a hard block says: only its state, and only through the driver. */
static int hard_block(struct lane_port *port, const struct settings *settings)
{
	const char *name = strrchr(settings->device, '/');
	char folder[4096];

	*port = (struct lane_port){ .name = settings->device };
	snprintf(folder, sizeof(folder), SYSFS_CARDS "/%s", name ? name + 1 : settings->device);
	if (sysfs_line(folder, "ltssm", port->ltssm, sizeof(port->ltssm)))
		return 0;
	return fail(EXIT_USAGE,
		    "%s: this card has a hard block, whose lanes cannot be seen; 'config' "
		    "prints what PCI Express says of its link",
		    settings->device);
}

int lane_card_open(struct lane_port *port, const struct settings *settings)
{
	static char path[4096];
	struct litepcie_user *user;
	struct litepcie_info info;
	struct litepcie *card;
	int code, err;

	card = open_card(settings, &info, &code);
	if (!card)
		return code;
	litepcie_close(card);
	if (!(info.capabilities & LITEPCIE_CAPABILITY_LANE))
		return hard_block(port, settings);
	snprintf(path, sizeof(path), "%s_user", settings->device);
	err = litepcie_user_open(&user, path);
	if (err < 0)
		return fail(exit_code_of(err), "%s: %s", path, litepcie_strerror(err));
	*port = (struct lane_port){
		.handle = user,
		.name = path,
		.read = card_read,
		.write = card_write,
		.close = card_close,
		.base = litepcie_user_origin(user),
	};
	return 0;
}
