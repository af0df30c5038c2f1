// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters of the module.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>

#include "driver.h"

static unsigned int timeout_ms = 10000;
module_param(timeout_ms, uint, 0644);
MODULE_PARM_DESC(timeout_ms,
		 "How long a card may move nothing before it is reset, in milliseconds, at least 100 (10000)");

/**
 * litepcie_timeout() - how long a card may move nothing
 *
 * Return: jiffies.
 */
unsigned long litepcie_timeout(void)
{
	return msecs_to_jiffies(max(READ_ONCE(timeout_ms), 100U));
}
