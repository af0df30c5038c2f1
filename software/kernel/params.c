// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters of the module.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/sizes.h>

#include "driver.h"

static unsigned int timeout_ms = 10000;
module_param(timeout_ms, uint, 0644);
MODULE_PARM_DESC(timeout_ms,
		 "Milliseconds without progress until an engine is reset, at least 100 (10000)");

static unsigned int file_bytes = SZ_8M;
module_param(file_bytes, uint, 0644);
MODULE_PARM_DESC(file_bytes,
		 "Most bytes in calls of one open file and direction (8388608)");

static unsigned int engine_bytes = SZ_64M;
module_param(engine_bytes, uint, 0644);
MODULE_PARM_DESC(engine_bytes,
		 "Most bytes in calls of all open files, per direction and card (67108864)");

/**
 * litepcie_file_bytes() - limit of the calls of one open file, per direction
 *
 * Return: module parameter file_bytes.
 */
size_t litepcie_file_bytes(void)
{
	return READ_ONCE(file_bytes);
}

/**
 * litepcie_engine_bytes() - limit of the calls of all open files for an engine
 *
 * Return: module parameter engine_bytes.
 */
size_t litepcie_engine_bytes(void)
{
	return READ_ONCE(engine_bytes);
}

/**
 * litepcie_timeout() - time without progress after which an engine is reset
 *
 * Return: module parameter timeout_ms, in jiffies.
 */
unsigned long litepcie_timeout(void)
{
	return msecs_to_jiffies(max(READ_ONCE(timeout_ms), 100U));
}
