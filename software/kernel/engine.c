// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hardware of DMA engines, their watchdog, and the interrupts of a card.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bitfield.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/sched.h>

#include "driver.h"
#include "litepcie_trace.h"
#include "stream.h"

/*
 * The hardware of an engine: reset, start, pause, stop.
 *
 * States and events. An engine is PAUSED after litepcie_engine_init().
 *
 *                   start
 *      +--------+ ----------> +---------+ --.
 *      | PAUSED |    pause    | RUNNING |   | recover
 *      +--------+ <---------- +---------+ <-'
 *           |                   |     ^
 *           |  stop, disconnect,|     | start
 *           |  reset fails      v     |
 *           |                 +---------+
 *           `---------------> | FAILED  |
 *                             +---------+
 *
 * event       called by                            engine     requests
 * ----------  -----------------------------------  ---------  -----------------
 * start       probe, resume, after a card reset,   reset,     pending ones run
 *             ioctl                                enabled
 * pause       suspend, before a card reset         reset      kept as pending
 * recover     watchdog: the engine stopped or      reset,     the one that it
 *             makes no progress                    enabled    stopped in fails,
 *                                                             others run again
 * stop        remove, shutdown                     reset      all fail
 * disconnect  the card is cut off or disabled      untouched  all fail
 *             (power.c)
 *
 * If the engine does not end its reset, start and recover end in FAILED, and pause
 * in PAUSED. In both cases the requests stay until power.c ends them, because the
 * card may still access their pages. pause does nothing in FAILED.
 * litepcie_engine.control is held from the first to the last step of an event, so
 * events never overlap.
 */

static const char * const litepcie_engine_names[LITEPCIE_DIRECTIONS] = {
	[LITEPCIE_TO_CARD] = "reader",
	[LITEPCIE_FROM_CARD] = "writer",
};

/*
 * Sets the vector of an engine, and how many completions share an interrupt. The
 * last one of those that the engine has is never delayed. Older gateware cannot
 * tell it from the others: no interrupt is delayed there.
 */
static void litepcie_engine_interrupts(struct litepcie_engine *engine)
{
	struct litepcie_device *ld = engine->ld;

	if (!litepcie_has_interrupt(&ld->id)) {
		writel(0, engine->regs + LITEPCIE_ENGINE_MODERATION);
		return;
	}
	writel(FIELD_PREP(LITEPCIE_ENGINE_MODERATION_COUNT_MASK,
			  READ_ONCE(ld->moderation_count)) |
	       FIELD_PREP(LITEPCIE_ENGINE_MODERATION_US_MASK,
			  READ_ONCE(ld->moderation_us)),
	       engine->regs + LITEPCIE_ENGINE_MODERATION);
	writel(FIELD_PREP(LITEPCIE_ENGINE_INTERRUPT_VECTOR_MASK, engine->vector) |
	       LITEPCIE_ENGINE_INTERRUPT_IDLE,
	       engine->regs + LITEPCIE_ENGINE_INTERRUPT);
}

/**
 * litepcie_engine_moderate() - a parameter of interrupt moderation has changed
 * @engine: the engine
 */
void litepcie_engine_moderate(struct litepcie_engine *engine)
{
	mutex_lock(&engine->control);
	/* In another state, the card may be away; enabling sets the registers. */
	if (READ_ONCE(engine->state) == LITEPCIE_ENGINE_RUNNING)
		litepcie_engine_interrupts(engine);
	mutex_unlock(&engine->control);
}

/**
 * litepcie_engine_reset() - reset an engine and wait until it is idle
 * @engine: the engine, not RUNNING, with its mutex held
 *
 * Return: that of litepcie_bank_reset().
 */
static int litepcie_engine_reset(struct litepcie_engine *engine)
{
	return litepcie_bank_reset(engine->ld, engine->regs, engine->name);
}

/**
 * litepcie_engine_enable() - configure an engine and run pending requests
 * @engine: the engine, reset, its ring rewound, with its mutex held
 */
static void litepcie_engine_enable(struct litepcie_engine *engine)
{
	void __iomem *regs = engine->regs;

	writel(lower_32_bits(engine->ring_dma), regs + LITEPCIE_ENGINE_RING_LO);
	writel(upper_32_bits(engine->ring_dma), regs + LITEPCIE_ENGINE_RING_HI);
	writel(engine->ring_log2, regs + LITEPCIE_ENGINE_RING_LOG2);
	writel(lower_32_bits(engine->status_dma),
	       regs + LITEPCIE_ENGINE_STATUS_ADDRESS_LO);
	writel(upper_32_bits(engine->status_dma),
	       regs + LITEPCIE_ENGINE_STATUS_ADDRESS_HI);
	litepcie_engine_interrupts(engine);
	writel(LITEPCIE_ENGINE_CONTROL_ENABLE, regs + LITEPCIE_ENGINE_CONTROL);

	spin_lock_irq(&engine->pool->lock);
	engine->state = LITEPCIE_ENGINE_RUNNING;
	litepcie_ring_feed(engine->pool);
	spin_unlock_irq(&engine->pool->lock);
}

/**
 * litepcie_engine_set_paused() - give the card no more requests
 * @engine: the engine, with its mutex held
 *
 * Changes the state from RUNNING to PAUSED; does not touch the hardware. After
 * it, neither a caller nor the interrupt handler changes the ring.
 *
 * Return: true if the engine was running.
 */
static bool litepcie_engine_set_paused(struct litepcie_engine *engine)
{
	bool runs;

	spin_lock_irq(&engine->pool->lock);
	runs = engine->state == LITEPCIE_ENGINE_RUNNING;
	if (runs)
		engine->state = LITEPCIE_ENGINE_PAUSED;
	spin_unlock_irq(&engine->pool->lock);
	return runs;
}

/**
 * litepcie_engine_init() - prepare an engine for litepcie_engine_start()
 * @ld: the device, identified, with its queue
 * @channel: number of a memory channel
 * @direction: LITEPCIE_TO_CARD or LITEPCIE_FROM_CARD
 * @watchdog: litepcie_watchdog(), which is in a layer above this file
 *
 * Return: 0 or negative errno. A card without this engine is not an error.
 */
int litepcie_engine_init(struct litepcie_device *ld, unsigned int channel,
			 unsigned int direction, work_func_t watchdog)
{
	bool reader = direction == LITEPCIE_TO_CARD;
	struct litepcie_engine *engine = &ld->engines[channel][direction];
	u32 capability = reader ? LITEPCIE_CAPABILITY_READER :
				  LITEPCIE_CAPABILITY_WRITER;
	int ret;

	engine->ld = ld;
	snprintf(engine->name, sizeof(engine->name), "%s%u",
		 litepcie_engine_names[direction], channel);
	engine->channel = channel;
	engine->direction = direction;
	engine->dma = reader ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
	engine->pool = &ld->pools[direction];
	mutex_init(&engine->control);
	INIT_DELAYED_WORK(&engine->watchdog, watchdog);
	INIT_LIST_HEAD(&engine->pending);
	INIT_LIST_HEAD(&engine->inflight);
	if (!(ld->id.capabilities & capability))
		return 0;

	engine->ring_log2 = min_t(u32, LITEPCIE_RING_LOG2,
				  FIELD_GET(LITEPCIE_GEOMETRY_RING_LOG2_MASK,
					    ld->id.geometry));
	/*
	 * The ring has room for two requests: a caller keeps two in flight. Where the
	 * kernel copies (swiotlb), a request is no more than it copies at once.
	 */
	engine->max_pages = min_t(size_t, BIT(engine->ring_log2) / 2,
				  min_t(size_t, LITEPCIE_CHUNK_BYTES,
					dma_max_mapping_size(&ld->pdev->dev)) / PAGE_SIZE);
	engine->max_segment = dma_get_max_seg_size(&ld->pdev->dev);
	engine->regs = ld->regs + (reader ? LITEPCIE_READER_BASE(channel) :
					    LITEPCIE_WRITER_BASE(channel));
	ret = litepcie_ring_alloc(engine);
	if (ret) {
		engine->regs = NULL;
		return ret;
	}
	list_add_tail(&engine->node, &ld->all_engines);
	list_add_tail(&engine->share, &engine->pool->engines);
	return 0;
}

/**
 * litepcie_engine_free() - undo litepcie_engine_init()
 * @engine: an engine that does not run
 */
void litepcie_engine_free(struct litepcie_engine *engine)
{
	cancel_delayed_work_sync(&engine->watchdog);
	litepcie_ring_free(engine);
}

/* Resets an engine and runs its requests. */
static int litepcie_engine_run(struct litepcie_engine *engine)
{
	int ret;

	lockdep_assert_held(&engine->control);
	litepcie_engine_set_paused(engine);
	ret = litepcie_engine_reset(engine);
	if (ret) {
		litepcie_ring_refuse(engine, ret);
		return ret;
	}
	litepcie_ring_rewind(engine, 0, 0, 0);
	litepcie_engine_enable(engine);
	return 0;
}

/**
 * litepcie_engine_start() - reset an engine and run its requests, in any state
 * @engine: the engine
 */
void litepcie_engine_start(struct litepcie_engine *engine)
{
	mutex_lock(&engine->control);
	litepcie_engine_run(engine);
	mutex_unlock(&engine->control);
}

/**
 * litepcie_engine_restart() - reset a running engine because a program asks
 * @engine: the engine
 *
 * Its requests start again.
 *
 * Return: 0; -EAGAIN if the card is away; the errno of a card that is cut off or
 * disabled, or of an engine that has failed: only a reset of the card helps then.
 */
int litepcie_engine_restart(struct litepcie_engine *engine)
{
	int ret;

	mutex_lock(&engine->control);
	/* Each loss of the card says so before it takes the mutex. */
	ret = litepcie_card_error(engine->ld);
	if (ret)
		;
	else if (READ_ONCE(engine->ld->card) != LITEPCIE_CARD_PRESENT)
		ret = -EAGAIN;
	else if (READ_ONCE(engine->state) == LITEPCIE_ENGINE_FAILED)
		ret = READ_ONCE(engine->error);
	else
		ret = litepcie_engine_run(engine);
	mutex_unlock(&engine->control);
	return ret;
}

/**
 * litepcie_engine_pause() - keep requests until litepcie_engine_start()
 * @engine: the engine
 */
void litepcie_engine_pause(struct litepcie_engine *engine)
{
	u32 completed;

	mutex_lock(&engine->control);
	if (litepcie_engine_set_paused(engine)) {
		completed = readl(engine->regs + LITEPCIE_ENGINE_COMPLETED);
		/* If it may still access their pages, the requests stay in the ring. */
		if (!litepcie_engine_reset(engine))
			litepcie_ring_rewind(engine, completed, 0, 0);
	}
	mutex_unlock(&engine->control);
}

/**
 * litepcie_engine_halt() - reset an engine; litepcie_engine_disconnect() follows
 * @engine: the engine
 */
void litepcie_engine_halt(struct litepcie_engine *engine)
{
	mutex_lock(&engine->control);
	if (litepcie_engine_set_paused(engine))
		litepcie_engine_reset(engine);
	mutex_unlock(&engine->control);
}

/**
 * litepcie_engine_disconnect() - end all requests of an engine, refuse new ones
 * @engine: the engine; its registers are not accessed
 * @error: negative errno for the requests
 */
void litepcie_engine_disconnect(struct litepcie_engine *engine, int error)
{
	mutex_lock(&engine->control);
	litepcie_ring_fail(engine, error);
	mutex_unlock(&engine->control);
}

/* Watchdog of an engine: recovery when it stopped or makes no progress. */

/*
 * Resets and restarts an engine. The first incomplete request fails with
 * @error, unless that is 0; the requests after it are moved again from their
 * start. If the reset fails, the whole card is disabled.
 */
static void litepcie_watchdog_recover(struct litepcie_engine *engine, u32 bytes,
				      int error)
{
	u32 completed = readl(engine->regs + LITEPCIE_ENGINE_COMPLETED);
	int ret;

	litepcie_engine_set_paused(engine);
	ret = litepcie_engine_reset(engine);
	if (ret) {
		litepcie_ring_refuse(engine, ret);
		return;
	}
	litepcie_ring_rewind(engine, completed, bytes, error);
	litepcie_engine_enable(engine);
}

/*
 * The engine stopped although no request was in the ring. It is restarted at
 * once, but only once per timeout: it may stop again for the same reason.
 */
static void litepcie_watchdog_idle(struct litepcie_engine *engine, u8 reason)
{
	unsigned long again = engine->idle_stop + litepcie_timeout();

	if (engine->idle_stop && time_before(jiffies, again)) {
		queue_delayed_work(engine->ld->queue, &engine->watchdog,
				   again - jiffies);
		return;
	}
	/* 0 means never. */
	engine->idle_stop = jiffies | 1;
	dev_err(&engine->ld->dev, "%s stopped without a request: %s\n",
		engine->name, litepcie_reason_name(reason));
	litepcie_watchdog_recover(engine, 0, 0);
}

/* The status block says that the engine stopped. */
static void litepcie_watchdog_stopped(struct litepcie_engine *engine)
{
	u32 status = readl(engine->regs + LITEPCIE_ENGINE_STATUS);
	u32 bytes = readl(engine->regs + LITEPCIE_ENGINE_STOPPED_BYTES);
	u8 reason = FIELD_GET(LITEPCIE_ENGINE_STATUS_REASON_MASK, status);
	bool empty;

	trace_litepcie_stop(dev_name(&engine->ld->dev), engine->name, reason, bytes);
	spin_lock_irq(&engine->pool->lock);
	empty = list_empty(&engine->inflight);
	spin_unlock_irq(&engine->pool->lock);
	if (empty) {
		litepcie_watchdog_idle(engine, reason);
		return;
	}
	dev_warn_ratelimited(&engine->ld->dev, "%s stopped: %s\n",
			     engine->name, litepcie_reason_name(reason));
	litepcie_watchdog_recover(engine, bytes, litepcie_reason_errno(reason));
}

/* The status block did not change for the whole timeout: ask the card. */
static void litepcie_watchdog_silent(struct litepcie_engine *engine)
{
	u32 completed = readl(engine->regs + LITEPCIE_ENGINE_COMPLETED);
	unsigned long timeout = litepcie_timeout();
	bool moves;

	spin_lock_irq(&engine->pool->lock);
	moves = time_before(jiffies, engine->progress + timeout) ||
		(completed != engine->seen && completed != engine->completed &&
		 completed != ~0U);
	engine->seen = completed;
	spin_unlock_irq(&engine->pool->lock);
	if (moves) {
		queue_delayed_work(engine->ld->queue, &engine->watchdog, timeout);
		return;
	}
	trace_litepcie_stop(dev_name(&engine->ld->dev), engine->name, 0, 0);
	dev_warn_ratelimited(&engine->ld->dev, "%s made no progress for %u ms\n",
			     engine->name, jiffies_to_msecs(timeout));
	litepcie_watchdog_recover(engine, 0, -ETIMEDOUT);
}

/**
 * litepcie_watchdog() - recover an engine if it needs that
 * @work: litepcie_engine.watchdog
 *
 * Runs when the status block says that the engine stopped, and once per timeout
 * while requests are in the ring.
 */
void litepcie_watchdog(struct work_struct *work)
{
	struct litepcie_engine *engine =
		container_of(to_delayed_work(work), struct litepcie_engine, watchdog);
	unsigned long due;
	bool runs, stopped;

	mutex_lock(&engine->control);
	/* A lost interrupt must not be mistaken for a card without progress. */
	litepcie_ring_poll(engine, UINT_MAX);

	spin_lock_irq(&engine->pool->lock);
	runs = engine->state == LITEPCIE_ENGINE_RUNNING;
	stopped = engine->stopped;
	due = engine->progress + litepcie_timeout();
	if (runs && !stopped && list_empty(&engine->inflight))
		runs = false;
	spin_unlock_irq(&engine->pool->lock);

	if (runs && stopped)
		litepcie_watchdog_stopped(engine);
	else if (runs && time_before(jiffies, due))
		queue_delayed_work(engine->ld->queue, &engine->watchdog,
				   due - jiffies);
	else if (runs)
		litepcie_watchdog_silent(engine);
	mutex_unlock(&engine->control);
}

/*
 * Interrupts of a card.
 *
 * Each engine and each interrupt of the user's logic has a vector of its own if
 * the card has MSI-X, or the machine grants as many MSI. With fewer vectors,
 * engines share them: an engine has vector n modulo the number of vectors, with
 * n = 2 * channel + direction. All interrupts of the user's logic then share the
 * last vector. For engines, the handler reads only the status blocks in host
 * memory.
 */

/* Requests that the handler ends at most; its thread ends the others. */
#define LITEPCIE_IRQ_REQUESTS	64

/* Ends complete requests of the engines that have this vector; true: some are left. */
static bool litepcie_vector_poll(struct litepcie_vector *vector)
{
	struct litepcie_engine *engine;
	bool more = false;

	list_for_each_entry(engine, &vector->ld->all_engines, node)
		if (engine->vector == vector->number)
			more |= litepcie_ring_poll(engine, LITEPCIE_IRQ_REQUESTS);
	return more;
}

/*
 * Polls the engines that have this vector. An MSI is never shared with other
 * devices, so it is always handled: if there is no work, an earlier interrupt
 * has done it. What may take long is left to the thread: many requests, and the
 * register that tells which of the user's interrupts came.
 */
static irqreturn_t litepcie_interrupt(int irq, void *cookie)
{
	struct litepcie_vector *vector = cookie;
	struct litepcie_device *ld = vector->ld;
	bool user = ld->id.interrupts && vector->number >= ld->interrupt_vector;
	bool more;

	trace_litepcie_interrupt(dev_name(&ld->dev), vector->number);
	if (user && ld->interrupts_split)
		litepcie_interrupts_message(ld, vector->number);
	more = litepcie_vector_poll(vector);
	litepcie_streams_poll(ld, vector->number);
	if (user && !ld->interrupts_split && READ_ONCE(ld->armed))
		more = true;
	return more ? IRQ_WAKE_THREAD : IRQ_HANDLED;
}

static irqreturn_t litepcie_interrupt_thread(int irq, void *cookie)
{
	struct litepcie_vector *vector = cookie;
	struct litepcie_device *ld = vector->ld;

	if (ld->id.interrupts && vector->number >= ld->interrupt_vector &&
	    !ld->interrupts_split)
		litepcie_interrupts_message(ld, vector->number);
	while (litepcie_vector_poll(vector))
		cond_resched();
	return IRQ_HANDLED;
}

static unsigned int litepcie_irq_engines(struct litepcie_device *ld)
{
	return (litepcie_channels(&ld->id) + ld->id.streams) * LITEPCIE_DIRECTIONS;
}

/* The most vectors that the card can use. */
static unsigned int litepcie_irq_wanted(struct litepcie_device *ld)
{
	if (!litepcie_has_interrupt(&ld->id))
		return 1;
	return litepcie_irq_engines(ld) + ld->id.interrupts;
}

static int litepcie_irq_request(struct litepcie_vector *vector, bool only)
{
	struct litepcie_device *ld = vector->ld;
	const char *name = dev_name(&ld->dev);
	struct pci_dev *pdev = ld->pdev;
	unsigned int user = vector->number - ld->interrupt_vector;

	if (only)
		return pci_request_irq(pdev, 0, litepcie_interrupt,
				       litepcie_interrupt_thread, vector, "%s", name);
	if (ld->interrupts_split && vector->number >= ld->interrupt_vector)
		return pci_request_irq(pdev, vector->number, litepcie_interrupt,
				       litepcie_interrupt_thread, vector, "%s-%s", name,
				       ld->id.interrupt_names[user]);
	return pci_request_irq(pdev, vector->number, litepcie_interrupt,
			       litepcie_interrupt_thread, vector, "%s-%u", name,
			       vector->number);
}

/**
 * litepcie_irq_init() - get the interrupts of a card
 * @ld: the device, its engines initialised and not enabled
 *
 * Return: 0 or negative errno.
 */
int litepcie_irq_init(struct litepcie_device *ld)
{
	struct litepcie_stream_end *end;
	struct litepcie_engine *engine;
	int count, ret;

	count = pci_alloc_irq_vectors(ld->pdev, 1, litepcie_irq_wanted(ld),
				      PCI_IRQ_MSIX | PCI_IRQ_MSI);
	if (count < 0)
		return dev_err_probe(&ld->pdev->dev, count,
				     "no MSI-X and no MSI, which are the card's only interrupts\n");
	ld->interrupts_split = count == litepcie_irq_wanted(ld);
	ld->interrupt_vector = ld->interrupts_split ? litepcie_irq_engines(ld) : count - 1;
	list_for_each_entry(engine, &ld->all_engines, node)
		engine->vector = (LITEPCIE_DIRECTIONS * engine->channel +
				  engine->direction) % count;
	list_for_each_entry(end, &ld->stream_ends, node)
		end->vector = (LITEPCIE_DIRECTIONS * end->channel + end->direction) % count;
	for (ld->nr_vectors = 0; ld->nr_vectors < count; ld->nr_vectors++) {
		struct litepcie_vector *vector = &ld->vectors[ld->nr_vectors];

		vector->ld = ld;
		vector->number = ld->nr_vectors;
		ret = litepcie_irq_request(vector, count == 1);
		if (ret) {
			dev_err_probe(&ld->pdev->dev, ret,
				      "cannot request interrupt %u\n", vector->number);
			litepcie_irq_free(ld);
			return ret;
		}
	}
	return 0;
}

/**
 * litepcie_irq_free() - undo litepcie_irq_init()
 * @ld: the device, its engines stopped
 */
void litepcie_irq_free(struct litepcie_device *ld)
{
	while (ld->nr_vectors--)
		pci_free_irq(ld->pdev, ld->nr_vectors, &ld->vectors[ld->nr_vectors]);
	ld->nr_vectors = 0;
	pci_free_irq_vectors(ld->pdev);
}
