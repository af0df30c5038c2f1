// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watchdog of an engine: recovery when it stopped or makes no progress.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bitfield.h>
#include <linux/jiffies.h>

#include "driver.h"
#include "litepcie_trace.h"

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
