// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hardware of an engine: reset, start, pause, stop.
 *
 * Whoever resets or starts an engine holds its mutex, so that the watch, the
 * power management, an error handler and unbinding come one after the other.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bitfield.h>
#include <linux/iopoll.h>
#include <linux/jiffies.h>

#include "driver.h"

static const char * const litepcie_engine_names[LITEPCIE_DIRECTIONS] = {
	[LITEPCIE_READER] = "reader",
	[LITEPCIE_WRITER] = "writer",
};

/**
 * litepcie_engine_reset() - take host memory from an engine
 * @engine: the engine, held, with its mutex
 *
 * Drops the position of the engine in the ring and waits until it has nothing
 * outstanding. The read that sees the end pushes the last posted writes before
 * it. An engine that does not end is cut off from the bus, and all its card.
 *
 * Return: 0, or negative errno; the engine does not reach host memory then.
 */
int litepcie_engine_reset(struct litepcie_engine *engine)
{
	u64 timeout_us = (u64)jiffies_to_msecs(litepcie_timeout()) * USEC_PER_MSEC;
	u32 control;
	int ret;

	writel(LITEPCIE_ENGINE_CONTROL_RESET,
	       engine->regs + LITEPCIE_ENGINE_CONTROL);
	ret = readl_poll_timeout(engine->regs + LITEPCIE_ENGINE_CONTROL, control,
				 control == ~0U ||
				 !(control & LITEPCIE_ENGINE_CONTROL_RESET),
				 100, timeout_us);
	if (!ret && control != ~0U)
		return 0;
	pci_clear_master(engine->ld->pdev);
	dev_err(&engine->ld->dev, "%s %s\n", engine->name,
		ret ? "does not end its reset: card disabled" :
		      "does not answer: card gone");
	return ret ? -EIO : -ENODEV;
}

/**
 * litepcie_engine_enable() - set up an engine and let it run what waits
 * @engine: the engine, reset, its ring rewound, with its mutex
 */
void litepcie_engine_enable(struct litepcie_engine *engine)
{
	void __iomem *regs = engine->regs;

	writel(lower_32_bits(engine->ring_dma), regs + LITEPCIE_ENGINE_RING_LO);
	writel(upper_32_bits(engine->ring_dma), regs + LITEPCIE_ENGINE_RING_HI);
	writel(engine->ring_log2, regs + LITEPCIE_ENGINE_RING_LOG2);
	writel(lower_32_bits(engine->status_dma),
	       regs + LITEPCIE_ENGINE_STATUS_ADDRESS_LO);
	writel(upper_32_bits(engine->status_dma),
	       regs + LITEPCIE_ENGINE_STATUS_ADDRESS_HI);
	writel(0, regs + LITEPCIE_ENGINE_MODERATION);
	writel(LITEPCIE_ENGINE_CONTROL_ENABLE, regs + LITEPCIE_ENGINE_CONTROL);

	spin_lock_irq(&engine->lock);
	engine->state = LITEPCIE_ENGINE_RUNNING;
	litepcie_ring_feed(engine);
	spin_unlock_irq(&engine->lock);
}

/**
 * litepcie_engine_set_paused() - keep requests where they are
 * @engine: the engine, with its mutex
 *
 * Return: true if the engine was running.
 */
bool litepcie_engine_set_paused(struct litepcie_engine *engine)
{
	bool runs;

	spin_lock_irq(&engine->lock);
	runs = engine->state == LITEPCIE_ENGINE_RUNNING;
	if (runs)
		engine->state = LITEPCIE_ENGINE_PAUSED;
	spin_unlock_irq(&engine->lock);
	return runs;
}

/**
 * litepcie_engine_init() - make an engine of the card ready to be started
 * @ld: the device, identified, with its queue
 * @direction: LITEPCIE_READER or LITEPCIE_WRITER
 * @watchdog: litepcie_watchdog(); a parameter, so that this file calls none above it
 *
 * Return: 0, also if the card has no such engine, or negative errno.
 */
int litepcie_engine_init(struct litepcie_device *ld, unsigned int direction,
			 work_func_t watchdog)
{
	bool reader = direction == LITEPCIE_READER;
	struct litepcie_engine *engine = &ld->engines[direction];
	u32 capability = reader ? LITEPCIE_CAPABILITY_READER :
				  LITEPCIE_CAPABILITY_WRITER;
	int ret;

	engine->ld = ld;
	engine->name = litepcie_engine_names[direction];
	engine->direction = direction;
	engine->dma = reader ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
	mutex_init(&engine->control);
	INIT_DELAYED_WORK(&engine->watchdog, watchdog);
	spin_lock_init(&engine->lock);
	INIT_LIST_HEAD(&engine->pending);
	INIT_LIST_HEAD(&engine->inflight);
	if (!(ld->id.capabilities & capability))
		return 0;

	engine->ring_log2 = min_t(u32, LITEPCIE_RING_LOG2,
				  FIELD_GET(LITEPCIE_GEOMETRY_RING_LOG2_MASK,
					    ld->id.geometry));
	/* Two requests of one caller have room in the ring at once. */
	engine->max_pages = min_t(u32, BIT(engine->ring_log2) / 2,
				  LITEPCIE_CHUNK_BYTES / PAGE_SIZE + 1);
	engine->regs = ld->regs + (reader ? LITEPCIE_READER_BASE(0) :
					    LITEPCIE_WRITER_BASE(0));
	ret = litepcie_engine_reset(engine);
	if (!ret)
		ret = litepcie_ring_alloc(engine);
	if (ret)
		engine->regs = NULL;
	return ret;
}

/**
 * litepcie_engine_free() - undo litepcie_engine_init()
 * @engine: stopped, or never started, or never initialised
 */
void litepcie_engine_free(struct litepcie_engine *engine)
{
	if (!engine->regs)
		return;
	cancel_delayed_work_sync(&engine->watchdog);
	litepcie_ring_free(engine);
}

/**
 * litepcie_engine_start() - let an engine run, from any state
 * @engine: the engine
 */
void litepcie_engine_start(struct litepcie_engine *engine)
{
	int ret;

	if (!engine->regs)
		return;
	mutex_lock(&engine->control);
	litepcie_engine_set_paused(engine);
	ret = litepcie_engine_reset(engine);
	if (ret) {
		litepcie_ring_fail(engine, ret);
	} else {
		litepcie_ring_rewind(engine, 0, 0, 0);
		litepcie_engine_enable(engine);
	}
	mutex_unlock(&engine->control);
}

/**
 * litepcie_engine_pause() - keep requests until litepcie_engine_start()
 * @engine: the engine; afterwards it does not reach host memory
 */
void litepcie_engine_pause(struct litepcie_engine *engine)
{
	u32 completed;
	int ret;

	if (!engine->regs)
		return;
	mutex_lock(&engine->control);
	if (litepcie_engine_set_paused(engine)) {
		completed = readl(engine->regs + LITEPCIE_ENGINE_COMPLETED);
		ret = litepcie_engine_reset(engine);
		if (ret)
			litepcie_ring_fail(engine, ret);
		else
			litepcie_ring_rewind(engine, completed, 0, 0);
	}
	mutex_unlock(&engine->control);
}

/**
 * litepcie_engine_stop() - end all requests and refuse those to come
 * @engine: the engine; afterwards it does not reach host memory
 * @error: negative errno for the requests
 */
void litepcie_engine_stop(struct litepcie_engine *engine, int error)
{
	if (!engine->regs)
		return;
	mutex_lock(&engine->control);
	if (litepcie_engine_set_paused(engine))
		litepcie_engine_reset(engine);
	litepcie_ring_fail(engine, error);
	mutex_unlock(&engine->control);
}

/**
 * litepcie_engine_disconnect() - as litepcie_engine_stop(), of a card cut off
 * @engine: the engine, whose registers are not touched
 * @error: negative errno for the requests
 */
void litepcie_engine_disconnect(struct litepcie_engine *engine, int error)
{
	if (!engine->regs)
		return;
	mutex_lock(&engine->control);
	litepcie_ring_fail(engine, error);
	mutex_unlock(&engine->control);
}
