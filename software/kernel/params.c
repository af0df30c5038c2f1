// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters of the module.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/sizes.h>

#include "driver.h"

/*
 * PCI Express lets a host take 64 s for a completion, but a card whose engine does
 * not end its reset holds up unbinding for this time.
 */
#define LITEPCIE_TIMEOUT_MS_MIN	100
#define LITEPCIE_TIMEOUT_MS_MAX	60000

static int litepcie_set_timeout(const char *value, const struct kernel_param *param)
{
	return param_set_uint_minmax(value, param, LITEPCIE_TIMEOUT_MS_MIN,
				     LITEPCIE_TIMEOUT_MS_MAX);
}

static const struct kernel_param_ops litepcie_timeout_ops = {
	.set = litepcie_set_timeout,
	.get = param_get_uint,
};

static unsigned int timeout_ms = 10000;
module_param_cb(timeout_ms, &litepcie_timeout_ops, &timeout_ms, 0644);
MODULE_PARM_DESC(timeout_ms,
		 "Milliseconds without progress until an engine is reset, 100 to 60000 (10000)");
__MODULE_PARM_TYPE(timeout_ms, "uint");

static unsigned int file_bytes = SZ_8M;
module_param(file_bytes, uint, 0644);
MODULE_PARM_DESC(file_bytes,
		 "Most bytes in calls of one open file and direction (8388608)");

static unsigned int engine_bytes = SZ_64M;
module_param(engine_bytes, uint, 0644);
MODULE_PARM_DESC(engine_bytes,
		 "Most bytes in calls of all open files, per direction and card (67108864)");

static unsigned int stream_bytes = SZ_256M;
module_param(stream_bytes, uint, 0644);
MODULE_PARM_DESC(stream_bytes,
		 "Most bytes in the ring of each direction of a stream (268435456)");

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
 * litepcie_stream_bytes() - limit of the ring of a direction of a stream
 *
 * Return: module parameter stream_bytes.
 */
size_t litepcie_stream_bytes(void)
{
	return READ_ONCE(stream_bytes);
}

/**
 * litepcie_timeout() - time without progress after which an engine is reset
 *
 * Return: module parameter timeout_ms, in jiffies.
 */
unsigned long litepcie_timeout(void)
{
	return msecs_to_jiffies(READ_ONCE(timeout_ms));
}
