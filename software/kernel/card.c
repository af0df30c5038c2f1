// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the card is, how the register bank of an engine is reset, and how any file says
 * that the card fails; the parameters of the module.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bitfield.h>
#include <linux/ctype.h>
#include <linux/iopoll.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/moduleparam.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "driver.h"

/* Reads the identity registers and checks that this driver supports the card. */

/**
 * litepcie_alive() - does a LitePCIe SoC answer
 * @ld: the device
 *
 * Return: false if register MAGIC has another value: the card is gone from the
 * bus (all ones) or has another design.
 */
bool litepcie_alive(struct litepcie_device *ld)
{
	return readl(ld->regs + LITEPCIE_MAGIC) == LITEPCIE_MAGIC_VALUE;
}

/* Checks magic and version; logs why a card is refused. */
static int litepcie_check_version(struct litepcie_device *ld,
				  struct litepcie_identity *id)
{
	struct device *dev = &ld->pdev->dev;
	u32 magic = readl(ld->regs + LITEPCIE_MAGIC);
	u32 version = readl(ld->regs + LITEPCIE_VERSION);
	u32 major = FIELD_GET(LITEPCIE_VERSION_MAJOR_MASK, version);

	if (magic == ~0U)
		return dev_err_probe(dev, -ENODEV, "card does not answer\n");
	if (magic != LITEPCIE_MAGIC_VALUE)
		return dev_err_probe(dev, -ENODEV,
				     "no LitePCIe SoC: magic is %#010x, not %#010x\n",
				     magic, LITEPCIE_MAGIC_VALUE);
	if (major != LITEPCIE_VERSION_MAJOR)
		return dev_err_probe(dev, -ENODEV,
				     "gateware has major version %u, this driver supports %u\n",
				     major, LITEPCIE_VERSION_MAJOR);
	id->version = version;
	return 0;
}

/*
 * Reads a name of ASCII characters, the first in the low byte of the first register.
 * It becomes part of the names of interrupts and of files in /proc, so it has
 * neither '/' nor control characters.
 */
static void litepcie_read_name(struct litepcie_device *ld, u32 offset, char *name,
			       unsigned int bytes)
{
	unsigned int i;
	__le32 word;

	for (i = 0; i < bytes; i += sizeof(word)) {
		word = cpu_to_le32(readl(ld->regs + offset + i));
		memcpy(name + i, &word, sizeof(word));
	}
	name[bytes - 1] = '\0';
	for (i = 0; name[i]; i++)
		if (!isascii(name[i]) || !isprint(name[i]) || name[i] == '/')
			name[i] = '?';
	memset(name + i, 0, bytes - i);
}

static int litepcie_read_interrupts(struct litepcie_device *ld,
				    struct litepcie_identity *id)
{
	unsigned int i;

	if (!(id->capabilities & LITEPCIE_CAPABILITY_INTERRUPT))
		return 0;
	id->interrupts = readl(ld->regs + LITEPCIE_INTERRUPT_COUNT);
	if (id->interrupts > LITEPCIE_MAX_INTERRUPTS)
		return dev_err_probe(&ld->pdev->dev, -ENODEV,
				     "%u interrupts of the user's logic are not supported; up to %u are\n",
				     id->interrupts, LITEPCIE_MAX_INTERRUPTS);
	id->interrupt_pulses = readl(ld->regs + LITEPCIE_INTERRUPT_PULSE);
	for (i = 0; i < id->interrupts; i++)
		litepcie_read_name(ld, LITEPCIE_INTERRUPT_NAME(i),
				   id->interrupt_names[i],
				   LITEPCIE_INTERRUPT_NAME_BYTES);
	return 0;
}

static int litepcie_check_geometry(struct litepcie_device *ld,
				   const struct litepcie_identity *id)
{
	struct device *dev = &ld->pdev->dev;
	u32 channels = FIELD_GET(LITEPCIE_GEOMETRY_CHANNELS_MASK, id->geometry);
	u32 width = FIELD_GET(LITEPCIE_GEOMETRY_WIDTH_MASK, id->geometry);
	u32 ring = FIELD_GET(LITEPCIE_GEOMETRY_RING_LOG2_MASK, id->geometry);
	u32 failed = 0;

	if (!litepcie_channels_fit(channels, id->streams))
		return dev_err_probe(dev, -ENODEV,
				     "%u memory and %u stream channels are not supported; 1 to %u in all are\n",
				     channels, id->streams, LITEPCIE_MAX_CHANNELS);
	if (width < 2 || width > 16 || !is_power_of_2(width))
		return dev_err_probe(dev, -ENODEV,
				     "data path of %u dwords is not supported; 2, 4, 8 and 16 are\n",
				     width);
	if (ring < 1 || ring > LITEPCIE_MAX_RING_LOG2)
		return dev_err_probe(dev, -ENODEV,
				     "ring of 2^%u descriptors is not supported; 2^1 to 2^%u are\n",
				     ring, LITEPCIE_MAX_RING_LOG2);
	/* Reads as 0 in gateware before 1.8, which does not say which bytes failed. */
	if (!id->memory_bytes)
		failed = readl(ld->regs + LITEPCIE_MEMORY_FAILED);
	if (failed)
		return dev_err_probe(dev, -ENODEV,
				     "training of the memory failed: bytes %#x of its bus, one bit each\n",
				     failed);
	/* A descriptor addresses the memory with 32 bits. */
	if (!id->memory_bytes || id->memory_bytes > BIT_ULL(32))
		return dev_err_probe(dev, -ENODEV,
				     "memory of %llu bytes is not supported; 1 to 4294967296 are\n",
				     id->memory_bytes);
	return 0;
}

/*
 * The window must be in BAR0 and clear of the pinned registers and the MSI-X
 * table, which end LITEPCIE_REGS_END after the start of BAR0.
 */
static int litepcie_read_window(struct litepcie_device *ld,
				struct litepcie_identity *id)
{
	resource_size_t bar = pci_resource_len(ld->pdev, 0);
	struct device *dev = &ld->pdev->dev;
	u32 offset = readl(ld->regs + LITEPCIE_WINDOW_OFFSET);
	u32 bytes = readl(ld->regs + LITEPCIE_WINDOW_SIZE);

	if (!(id->capabilities & LITEPCIE_CAPABILITY_WINDOW))
		return 0;
	if (!bytes || offset > bar || bytes > bar - offset)
		return dev_err_probe(dev, -ENODEV,
				     "window of %#x bytes at %#x is not in BAR0 of %#llx bytes\n",
				     bytes, offset, (u64)bar);
	if (bytes > id->memory_bytes)
		return dev_err_probe(dev, -ENODEV,
				     "window of %#x bytes is larger than the memory of %#llx bytes\n",
				     bytes, id->memory_bytes);
	if (offset < LITEPCIE_REGS_END)
		return dev_err_probe(dev, -ENODEV,
				     "window of %#x bytes at %#x is over the registers, which end at %#x\n",
				     bytes, offset, LITEPCIE_REGS_END);
	if (!IS_ALIGNED(offset, SZ_4K))
		return dev_err_probe(dev, -ENODEV,
				     "window of %#x bytes at %#x is not aligned to 4096 bytes\n",
				     bytes, offset);
	/* Programs map whole pages, and only pages that are all window. */
	if (!PAGE_ALIGNED(offset))
		return 0;
	id->window_start = pci_resource_start(ld->pdev, 0) + offset;
	id->window_bytes = bytes & PAGE_MASK;
	return 0;
}

/*
 * Programs reach these registers directly. They must therefore be in BAR0 and
 * clear of those that only the driver may write.
 */
static int litepcie_read_user(struct litepcie_device *ld,
			      struct litepcie_identity *id)
{
	resource_size_t bar = pci_resource_len(ld->pdev, 0);
	struct device *dev = &ld->pdev->dev;
	u32 offset, bytes;

	if (!(id->capabilities & LITEPCIE_CAPABILITY_USER))
		return 0;
	offset = readl(ld->regs + LITEPCIE_USER_OFFSET);
	bytes = readl(ld->regs + LITEPCIE_USER_SIZE);
	if (!bytes || offset > bar || bytes > bar - offset)
		return dev_err_probe(dev, -ENODEV,
				     "user registers of %#x bytes at %#x are not in BAR0 of %#llx bytes\n",
				     bytes, offset, (u64)bar);
	if (offset < LITEPCIE_DRIVER_BYTES)
		return dev_err_probe(dev, -ENODEV,
				     "user registers at %#x are over those of the driver, which end at %#x\n",
				     offset, LITEPCIE_DRIVER_BYTES);
	if (!IS_ALIGNED(offset, SZ_4K) || !IS_ALIGNED(bytes, SZ_4K))
		return dev_err_probe(dev, -ENODEV,
				     "user registers of %#x bytes at %#x are not aligned to 4096 bytes\n",
				     bytes, offset);
	id->user_start = pci_resource_start(ld->pdev, 0) + offset;
	id->user_offset = offset;
	id->user_bytes = bytes;
	id->user_origin = readl(ld->regs + LITEPCIE_USER_ORIGIN);
	return 0;
}

static int litepcie_read_host(struct litepcie_device *ld, struct litepcie_identity *id)
{
	if (!(id->capabilities & LITEPCIE_CAPABILITY_HOST))
		return 0;
	id->host_buffers = readl(ld->regs + LITEPCIE_HOST_COUNT);
	id->host_limit = readl(ld->regs + LITEPCIE_HOST_LIMIT);
	if (id->host_buffers <= LITEPCIE_MAX_HOST_BUFFERS &&
	    is_power_of_2(id->host_limit) && id->host_limit <= SZ_256M)
		return 0;
	return dev_err_probe(&ld->pdev->dev, -ENODEV,
			     "%u host buffers of %#x bytes are not supported; up to %u of %#x are\n",
			     id->host_buffers, id->host_limit,
			     LITEPCIE_MAX_HOST_BUFFERS, SZ_256M);
}

/**
 * litepcie_identify() - read what the card is
 * @ld: the device, with its registers mapped
 * @id: filled in; padding is 0, so that two can be compared with memcmp()
 *
 * Return: 0, or -ENODEV if this driver does not support the card, with the
 * reason in the log.
 */
int litepcie_identify(struct litepcie_device *ld, struct litepcie_identity *id)
{
	u32 streams;
	int ret;

	memset(id, 0, sizeof(*id));
	ret = litepcie_check_version(ld, id);
	if (ret)
		return ret;
	id->capabilities = readl(ld->regs + LITEPCIE_CAPABILITIES);
	id->geometry = readl(ld->regs + LITEPCIE_GEOMETRY);
	id->memory_bytes = readl(ld->regs + LITEPCIE_MEMORY_SIZE_HI);
	id->memory_bytes <<= 32;
	id->memory_bytes |= readl(ld->regs + LITEPCIE_MEMORY_SIZE_LO);
	id->clock_hz = readl(ld->regs + LITEPCIE_CLOCK_HZ);
	id->built_link = readl(ld->regs + LITEPCIE_BUILT_LINK);
	/* Reads as 0 in gateware before 1.1, which has no such register. */
	streams = readl(ld->regs + LITEPCIE_STREAMS);
	id->streams = FIELD_GET(LITEPCIE_STREAMS_COUNT_MASK, streams);
	id->stream_lacks[LITEPCIE_TO_CARD] = FIELD_GET(LITEPCIE_STREAMS_NO_READER_MASK, streams);
	id->stream_lacks[LITEPCIE_FROM_CARD] = FIELD_GET(LITEPCIE_STREAMS_NO_WRITER_MASK, streams);
	litepcie_read_name(ld, LITEPCIE_TARGET, id->target, LITEPCIE_TARGET_BYTES);
	ret = litepcie_check_geometry(ld, id);
	if (ret)
		return ret;
	ret = litepcie_read_window(ld, id);
	if (ret)
		return ret;
	ret = litepcie_read_user(ld, id);
	if (ret)
		return ret;
	ret = litepcie_read_host(ld, id);
	if (ret)
		return ret;
	return litepcie_read_interrupts(ld, id);
}

/**
 * litepcie_check_link() - log generation and lanes of the link
 * @ld: the device, identified
 *
 * Warns if the link is slower or narrower than the card is built for: a bad
 * contact, a slot with fewer lanes, a slow port.
 */
void litepcie_check_link(struct litepcie_device *ld)
{
	u32 built_gen = FIELD_GET(LITEPCIE_BUILT_LINK_GEN_MASK,
				  ld->id.built_link);
	u32 built_lanes = FIELD_GET(LITEPCIE_BUILT_LINK_LANES_MASK,
				    ld->id.built_link);
	u32 gen, lanes;
	u16 link = 0;

	/* All ones if the card is gone, which others report. */
	if (pcie_capability_read_word(ld->pdev, PCI_EXP_LNKSTA, &link) ||
	    PCI_POSSIBLE_ERROR(link))
		return;
	gen = FIELD_GET(PCI_EXP_LNKSTA_CLS, link);
	lanes = FIELD_GET(PCI_EXP_LNKSTA_NLW, link);
	if (gen < built_gen || lanes < built_lanes)
		dev_warn(&ld->dev, "link is only Gen%u x%u, built for Gen%u x%u\n",
			 gen, lanes, built_gen, built_lanes);
	else
		dev_info(&ld->dev, "link is Gen%u x%u, built for Gen%u x%u\n",
			 gen, lanes, built_gen, built_lanes);
}

/* Parameters of the module. */

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

/*
 * The register bank of an engine, of a memory channel or of a stream, and how any
 * file says that the card fails.
 */

/* After an engine that did not end its reset; usually a reset takes microseconds. */
#define LITEPCIE_STUCK_US	10000

/**
 * litepcie_card_fail() - say that the card does not answer or does not stop
 * @ld: the device
 * @error: -ENODEV: registers read as all ones; -EIO: an engine does not stop
 *
 * Switches bus mastering off at once. litepcie_cut_off_work() ends all calls, so
 * this may be called with any lock of the driver but litepcie_device.kept_lock.
 * Until that work has run, and until the card is known to be quiet, nothing frees
 * memory that the card was given.
 */
void litepcie_card_fail(struct litepcie_device *ld, int error)
{
	unsigned long flags;

	spin_lock_irqsave(&ld->kept_lock, flags);
	ld->loud = true;
	spin_unlock_irqrestore(&ld->kept_lock, flags);
	WRITE_ONCE(ld->stuck, true);
	pci_clear_master(ld->pdev);
	cmpxchg(&ld->failure, 0, error);
	queue_work(ld->queue, &ld->cut_off);
}

/**
 * litepcie_sleeper_add() - a file was opened whose calls wait for the card's events
 * @ld: the device
 *
 * Nothing else accesses a card that has no events, so the driver asks it once per
 * timeout_ms whether it is there.
 */
void litepcie_sleeper_add(struct litepcie_device *ld)
{
	int idx = srcu_read_lock(&ld->gate);

	atomic_inc(&ld->sleepers);
	if (!READ_ONCE(ld->gone))
		queue_delayed_work(ld->queue, &ld->check, litepcie_timeout());
	srcu_read_unlock(&ld->gate, idx);
}

/**
 * litepcie_sleeper_del() - undo litepcie_sleeper_add()
 * @ld: the device
 */
void litepcie_sleeper_del(struct litepcie_device *ld)
{
	atomic_dec(&ld->sleepers);
}

/**
 * litepcie_patience_us() - time to wait for the card to end what it has begun
 * @ld: the device
 *
 * Return: module parameter timeout_ms, in microseconds; less once the card did
 * not end something, so that unbinding waits for that time once and not for each
 * engine and buffer.
 */
u64 litepcie_patience_us(struct litepcie_device *ld)
{
	if (READ_ONCE(ld->stuck))
		return LITEPCIE_STUCK_US;
	return (u64)jiffies_to_msecs(litepcie_timeout()) * USEC_PER_MSEC;
}

/**
 * litepcie_bank_reset() - reset the engine of a register bank, wait until idle
 * @ld: the device
 * @regs: registers of the engine
 * @name: of the engine, for the log
 *
 * Clears the engine's position in the ring and waits until no request of the
 * engine is outstanding. The register read that sees the end of the reset also
 * pushes the engine's last posted writes into host memory. If the reset does
 * not end, litepcie_card_fail() disables the whole card, and no other engine is
 * waited for as long.
 *
 * Return: 0, and the engine no longer accesses host memory; or a negative errno,
 * and it may: whoever waits for the engine leaves its memory to the work.
 */
int litepcie_bank_reset(struct litepcie_device *ld, void __iomem *regs, const char *name)
{
	bool first = !READ_ONCE(ld->stuck);
	u32 control;
	int ret;

	writel(LITEPCIE_ENGINE_CONTROL_RESET, regs + LITEPCIE_ENGINE_CONTROL);
	/* Another engine may be found stuck meanwhile: two are not waited for. */
	ret = readl_poll_timeout(regs + LITEPCIE_ENGINE_CONTROL, control,
				 control == ~0U ||
				 !(control & LITEPCIE_ENGINE_CONTROL_RESET) ||
				 (first && READ_ONCE(ld->stuck)),
				 100, litepcie_patience_us(ld));
	if (!ret && control != ~0U && !(control & LITEPCIE_ENGINE_CONTROL_RESET))
		return 0;
	ret = control == ~0U ? -ENODEV : -EIO;
	dev_err(&ld->dev, "%s %s\n", name,
		ret == -EIO ? "reset timed out: card disabled" :
			      "registers read as all ones: card is gone");
	litepcie_card_fail(ld, ret);
	return ret;
}
