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
		 "Milliseconds without progress until an engine is reset, at least 100 (10000)");

/**
 * litepcie_timeout() - time without progress after which an engine is reset
 *
 * Return: module parameter timeout_ms, in jiffies.
 */
unsigned long litepcie_timeout(void)
{
	return msecs_to_jiffies(max(READ_ONCE(timeout_ms), 100U));
}
