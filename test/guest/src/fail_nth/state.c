// SPDX-License-Identifier: BSD-2-Clause
/*
 * The card is bound, unbound and reset.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include "fail_nth.h"

#define DRIVER	"/sys/bus/pci/drivers/litepcie/"
#define DEVICES	"/sys/bus/pci/devices/" CARD "/"

static void before_probe(void)
{
	set(DRIVER, "unbind", CARD);
	helper = open(DRIVER "bind", O_WRONLY);
	check(helper >= 0, "%s", strerror(errno));
}

static long path_probe(void)
{
	return write(helper, CARD, strlen(CARD));
}

/* If a failure was not fatal, the driver is bound now, and unbind takes it back. */
static void after_probe(void)
{
	close(helper);
	if (access(DRIVER CARD, F_OK))
		set(DRIVER, "bind", CARD);
}

static void before_remove(void)
{
	helper = open(DRIVER "unbind", O_WRONLY);
	check(helper >= 0, "%s", strerror(errno));
}

static void before_reset(void)
{
	helper = open(DEVICES "reset", O_WRONLY);
	check(helper >= 0, "%s", strerror(errno));
}

static long path_reset(void)
{
	return write(helper, "1", 1);
}

static void after_reset(void)
{
	close(helper);
}

const struct path state_paths[] = {
	{ "probe", before_probe, path_probe, after_probe },
	{ "remove", before_remove, path_probe, after_probe },
	{ "reset", before_reset, path_reset, after_reset },
	{ NULL, NULL, NULL, NULL },
};
