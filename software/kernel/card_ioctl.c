// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ioctls of /dev/litepcieN that need the card.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bitfield.h>
#include <linux/build_bug.h>
#include <linux/capability.h>
#include <linux/nospec.h>
#include <linux/string.h>

#include "card_ioctl.h"
#include "driver.h"

/* Reads a 64-bit counter: reading the low half latches the high half. */
static u64 litepcie_read_counter(void __iomem *low)
{
	u32 value = readl(low);

	return (u64)readl(low + 4) << 32 | value;
}

/**
 * litepcie_ioctl_info() - what the card is, and its link
 * @ld: the device; it is there and stays until the call ends
 * @arg: struct litepcie_info
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_ioctl_info(struct litepcie_device *ld, union litepcie_argument *arg)
{
	struct litepcie_identity *id = &ld->id;
	struct litepcie_info *info = &arg->info;
	u16 link = 0;
	u32 sizes;

	if (memchr_inv(info->reserved, 0, sizeof(info->reserved)))
		return -EINVAL;

	sizes = readl(ld->regs + LITEPCIE_LINK_SIZES);
	pcie_capability_read_word(ld->pdev, PCI_EXP_LNKSTA, &link);
	*info = (struct litepcie_info) {
		.uapi_version = LITEPCIE_UAPI_VERSION,
		.gateware_version = id->version,
		.capabilities = id->capabilities,
		.channels = litepcie_channels(id),
		.memory_bytes = id->memory_bytes,
		.window_bytes = id->window_bytes,
		.clock_hz = id->clock_hz,
		.data_width_bits =
			32 * FIELD_GET(LITEPCIE_GEOMETRY_WIDTH_MASK, id->geometry),
		.built_gen = FIELD_GET(LITEPCIE_BUILT_LINK_GEN_MASK, id->built_link),
		.built_lanes = FIELD_GET(LITEPCIE_BUILT_LINK_LANES_MASK, id->built_link),
		.link_gen = FIELD_GET(PCI_EXP_LNKSTA_CLS, link),
		.link_lanes = FIELD_GET(PCI_EXP_LNKSTA_NLW, link),
		.max_payload_bytes = FIELD_GET(LITEPCIE_LINK_SIZES_MPS_MASK, sizes),
		.max_read_request_bytes = FIELD_GET(LITEPCIE_LINK_SIZES_MRRS_MASK, sizes),
		.tags = FIELD_GET(LITEPCIE_GEOMETRY_TAGS_MASK, id->geometry) + 1,
		.streams = id->streams,
		.link_status = readl(ld->regs + LITEPCIE_LINK_STATUS),
		.stream_lacks = id->stream_lacks[LITEPCIE_READER] |
				id->stream_lacks[LITEPCIE_WRITER] << 16,
	};
	static_assert(sizeof(info->target) == sizeof(id->target));
	memcpy(info->target, id->target, sizeof(info->target));
	strscpy(info->bus_address, pci_name(ld->pdev), sizeof(info->bus_address));
	return 0;
}

/**
 * litepcie_ioctl_counters() - counters of an engine
 * @ld: the device; it is there and stays until the call ends
 * @arg: struct litepcie_counters
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_ioctl_counters(struct litepcie_device *ld, union litepcie_argument *arg)
{
	struct litepcie_counters *counters = &arg->counters;
	void __iomem *regs;
	u32 channel;

	if (memchr_inv(counters->reserved, 0, sizeof(counters->reserved)))
		return -EINVAL;
	if (counters->channel >= litepcie_channels(&ld->id))
		return -EINVAL;
	channel = array_index_nospec(counters->channel, LITEPCIE_MAX_CHANNELS);
	if (counters->direction == LITEPCIE_READER &&
	    ld->id.capabilities & LITEPCIE_CAPABILITY_READER)
		regs = ld->regs + LITEPCIE_READER_BASE(channel);
	else if (counters->direction == LITEPCIE_WRITER &&
		 ld->id.capabilities & LITEPCIE_CAPABILITY_WRITER)
		regs = ld->regs + LITEPCIE_WRITER_BASE(channel);
	else
		return -EINVAL;

	mutex_lock(&ld->latch);
	counters->active_cycles = litepcie_read_counter(regs + LITEPCIE_ENGINE_ACTIVE_LO);
	counters->bytes = litepcie_read_counter(regs + LITEPCIE_ENGINE_BYTES_LO);
	mutex_unlock(&ld->latch);
	counters->descriptors = readl(regs + LITEPCIE_ENGINE_DESCRIPTORS);
	counters->tlps = readl(regs + LITEPCIE_ENGINE_TLPS);
	counters->wait_descriptor = readl(regs + LITEPCIE_ENGINE_WAIT_DESCRIPTOR);
	counters->wait_tag = readl(regs + LITEPCIE_ENGINE_WAIT_TAG);
	counters->wait_link = readl(regs + LITEPCIE_ENGINE_WAIT_LINK);
	counters->wait_data = readl(regs + LITEPCIE_ENGINE_WAIT_DATA);
	return 0;
}

/**
 * litepcie_ioctl_errors() - errors of the transaction layer
 * @ld: the device; it is there and stays until the call ends
 * @arg: struct litepcie_errors
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_ioctl_errors(struct litepcie_device *ld, union litepcie_argument *arg)
{
	struct litepcie_errors *errors = &arg->errors;
	void __iomem *regs = ld->regs;

	if (errors->reserved0 ||
	    memchr_inv(errors->reserved, 0, sizeof(errors->reserved)))
		return -EINVAL;
	errors->unsupported_request = readl(regs + LITEPCIE_ERROR_UNSUPPORTED_REQUEST);
	errors->completer_abort = readl(regs + LITEPCIE_ERROR_COMPLETER_ABORT);
	errors->poisoned = readl(regs + LITEPCIE_ERROR_POISONED);
	errors->unexpected = readl(regs + LITEPCIE_ERROR_UNEXPECTED);
	errors->timeout = readl(regs + LITEPCIE_ERROR_TIMEOUT);
	errors->bad_length = readl(regs + LITEPCIE_ERROR_BAD_LENGTH);
	errors->refused = readl(regs + LITEPCIE_ERROR_REFUSED);
	return 0;
}

/**
 * litepcie_ioctl_scratch() - write SCRATCH and read it back
 * @ld: the device; it is there and stays until the call ends
 * @arg: struct litepcie_scratch
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_ioctl_scratch(struct litepcie_device *ld, union litepcie_argument *arg)
{
	struct litepcie_scratch *scratch = &arg->scratch;

	mutex_lock(&ld->latch);
	writel(scratch->value, ld->regs + LITEPCIE_SCRATCH);
	scratch->readback = readl(ld->regs + LITEPCIE_SCRATCH);
	mutex_unlock(&ld->latch);
	return 0;
}

/**
 * litepcie_ioctl_reset() - reset an engine
 * @ld: the device; it was there when the call began
 * @arg: struct litepcie_reset
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_ioctl_reset(struct litepcie_device *ld, union litepcie_argument *arg)
{
	struct litepcie_reset *reset = &arg->reset;
	struct litepcie_engine *engine;
	u32 channel, direction;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (memchr_inv(reset->reserved, 0, sizeof(reset->reserved)) ||
	    reset->channel >= LITEPCIE_MAX_CHANNELS ||
	    reset->direction >= LITEPCIE_DIRECTIONS)
		return -EINVAL;
	channel = array_index_nospec(reset->channel, LITEPCIE_MAX_CHANNELS);
	direction = array_index_nospec(reset->direction, LITEPCIE_DIRECTIONS);
	engine = &ld->engines[channel][direction];
	return engine->regs ? litepcie_engine_restart(engine) : -EINVAL;
}
