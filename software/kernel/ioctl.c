// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ioctls of /dev/litepcieN. The uapi header describes them.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bitfield.h>
#include <linux/build_bug.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "driver.h"

/* No padding, and the same size for 32-bit and 64-bit programs. */
static_assert(sizeof(struct litepcie_info) == 240);
static_assert(sizeof(struct litepcie_counters) == 120);
static_assert(sizeof(struct litepcie_errors) == 72);
static_assert(sizeof(struct litepcie_scratch) == 16);
static_assert(sizeof(struct litepcie_reset) == 32);

union litepcie_argument {
	struct {
		__u32 size;
		__u32 flags;
	};
	struct litepcie_info info;
	struct litepcie_counters counters;
	struct litepcie_errors errors;
	struct litepcie_scratch scratch;
	struct litepcie_reset reset;
};

/* Reads a 64-bit counter: reading the low half latches the high half. */
static u64 litepcie_read_counter(void __iomem *low)
{
	u32 value = readl(low);

	return (u64)readl(low + 4) << 32 | value;
}

static int litepcie_info(struct litepcie_device *ld, union litepcie_argument *arg)
{
	struct litepcie_identity *id = &ld->id;
	struct litepcie_info *info = &arg->info;
	u16 link = 0;
	u32 sizes;

	if (info->reserved0 || memchr_inv(info->reserved, 0, sizeof(info->reserved)))
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
	};
	static_assert(sizeof(info->target) == sizeof(id->target));
	memcpy(info->target, id->target, sizeof(info->target));
	strscpy(info->bus_address, pci_name(ld->pdev), sizeof(info->bus_address));
	return 0;
}

static int litepcie_counters(struct litepcie_device *ld, union litepcie_argument *arg)
{
	struct litepcie_counters *counters = &arg->counters;
	void __iomem *regs;

	if (memchr_inv(counters->reserved, 0, sizeof(counters->reserved)))
		return -EINVAL;
	if (counters->channel >= litepcie_channels(&ld->id))
		return -EINVAL;
	if (counters->direction == LITEPCIE_READER &&
	    ld->id.capabilities & LITEPCIE_CAPABILITY_READER)
		regs = ld->regs + LITEPCIE_READER_BASE(counters->channel);
	else if (counters->direction == LITEPCIE_WRITER &&
		 ld->id.capabilities & LITEPCIE_CAPABILITY_WRITER)
		regs = ld->regs + LITEPCIE_WRITER_BASE(counters->channel);
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

static int litepcie_errors(struct litepcie_device *ld, union litepcie_argument *arg)
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

static int litepcie_scratch(struct litepcie_device *ld, union litepcie_argument *arg)
{
	struct litepcie_scratch *scratch = &arg->scratch;

	mutex_lock(&ld->latch);
	writel(scratch->value, ld->regs + LITEPCIE_SCRATCH);
	scratch->readback = readl(ld->regs + LITEPCIE_SCRATCH);
	mutex_unlock(&ld->latch);
	return 0;
}

static int litepcie_reset(struct litepcie_device *ld, union litepcie_argument *arg)
{
	struct litepcie_reset *reset = &arg->reset;
	struct litepcie_engine *engine;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (memchr_inv(reset->reserved, 0, sizeof(reset->reserved)) ||
	    reset->channel >= LITEPCIE_MAX_CHANNELS ||
	    reset->direction >= LITEPCIE_DIRECTIONS)
		return -EINVAL;
	engine = &ld->engines[reset->channel][reset->direction];
	return engine->regs ? litepcie_engine_restart(engine) : -EINVAL;
}

/**
 * struct litepcie_ioctl - one ioctl
 * @writes: it changes the card, so the file must be open for writing
 * @resets: it takes litepcie_engine.control, which comes before
 *	litepcie_device.card_lock
 * @size: size of its structure in this driver
 * @first: size of the first version of its structure
 * @handle: fills the kernel's copy of the structure
 */
struct litepcie_ioctl {
	bool writes;
	bool resets;
	u32 size;
	u32 first;
	int (*handle)(struct litepcie_device *ld, union litepcie_argument *arg);
};

static const struct litepcie_ioctl litepcie_ioctls[] = {
	[_IOC_NR(LITEPCIE_IOC_INFO)] = {
		.size = sizeof(struct litepcie_info),
		.first = offsetofend(struct litepcie_info, reserved),
		.handle = litepcie_info,
	},
	[_IOC_NR(LITEPCIE_IOC_COUNTERS)] = {
		.size = sizeof(struct litepcie_counters),
		.first = offsetofend(struct litepcie_counters, reserved),
		.handle = litepcie_counters,
	},
	[_IOC_NR(LITEPCIE_IOC_ERRORS)] = {
		.size = sizeof(struct litepcie_errors),
		.first = offsetofend(struct litepcie_errors, reserved),
		.handle = litepcie_errors,
	},
	[_IOC_NR(LITEPCIE_IOC_SCRATCH)] = {
		.writes = true,
		.size = sizeof(struct litepcie_scratch),
		.first = offsetofend(struct litepcie_scratch, readback),
		.handle = litepcie_scratch,
	},
	[_IOC_NR(LITEPCIE_IOC_RESET)] = {
		.writes = true,
		.resets = true,
		.size = sizeof(struct litepcie_reset),
		.first = offsetofend(struct litepcie_reset, reserved),
		.handle = litepcie_reset,
	},
};

/*
 * Waits for the end of a reset and lets none begin meanwhile. A card that went
 * away while it was read has answered with all ones, which is no data. No user
 * memory is accessed here: its pages may come late or never, and unbinding
 * waits for litepcie_device.gate.
 */
static int litepcie_ioctl_run(struct litepcie_device *ld,
			      const struct litepcie_ioctl *ioctl,
			      union litepcie_argument *arg)
{
	int idx, ret;

	ret = wait_event_interruptible(ld->card_change,
				       READ_ONCE(ld->card) != LITEPCIE_CARD_AWAY);
	if (ret)
		return ret;
	idx = srcu_read_lock(&ld->gate);
	down_read(&ld->card_lock);
	if (READ_ONCE(ld->gone) || ld->card != LITEPCIE_CARD_PRESENT ||
	    !litepcie_alive(ld)) {
		ret = -ENODEV;
	} else if (!ioctl->resets) {
		ret = ioctl->handle(ld, arg);
		if (!ret && !litepcie_alive(ld))
			ret = -ENODEV;
	}
	up_read(&ld->card_lock);
	if (!ret && ioctl->resets)
		ret = ioctl->handle(ld, arg);
	srcu_read_unlock(&ld->gate, idx);
	return ret;
}

/**
 * litepcie_ioctl() - run an ioctl
 * @ld: the device
 * @mode: file.f_mode of the open file
 * @command: LITEPCIE_IOC_*; its size field is ignored, because the structure
 *	contains its own size
 * @argument: the structure
 *
 * Return: 0 or a negative errno, as the uapi header says.
 */
long litepcie_ioctl(struct litepcie_device *ld, fmode_t mode,
		    unsigned int command, void __user *argument)
{
	const struct litepcie_ioctl *ioctl;
	union litepcie_argument arg = { };
	u32 size;
	int ret;

	if (_IOC_TYPE(command) != LITEPCIE_IOC_MAGIC ||
	    _IOC_DIR(command) != (_IOC_READ | _IOC_WRITE) ||
	    _IOC_NR(command) >= ARRAY_SIZE(litepcie_ioctls))
		return -ENOTTY;
	ioctl = &litepcie_ioctls[_IOC_NR(command)];
	if (ioctl->writes && !(mode & FMODE_WRITE))
		return -EBADF;
	if (get_user(size, (u32 __user *)argument))
		return -EFAULT;
	if (size < ioctl->first)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&arg, ioctl->size, argument, size);
	if (ret)
		return ret;
	if (arg.flags)
		return -EINVAL;
	ret = litepcie_ioctl_run(ld, ioctl, &arg);
	if (ret)
		return ret;
	arg.size = ioctl->size;
	if (copy_to_user(argument, &arg, min(size, ioctl->size)))
		return -EFAULT;
	return 0;
}
