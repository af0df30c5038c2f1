// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is done about an engine that stopped or says nothing. It is only here
 * that a register of an engine is read.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bitfield.h>
#include <linux/jiffies.h>

#include "driver.h"

/*
 * Ends an engine's trouble: the request it happened in fails with @error, those
 * before it are complete, those behind it start again after the reset. Gives a
 * negative errno if the card is lost.
 */
static int litepcie_watchdog_recover(struct litepcie_engine *engine, u32 bytes,
				     int error)
{
	u32 completed = readl(engine->regs + LITEPCIE_ENGINE_COMPLETED);
	int ret;

	litepcie_engine_set_paused(engine);
	ret = litepcie_engine_reset(engine);
	if (ret) {
		litepcie_ring_fail(engine, ret);
		return ret;
	}
	litepcie_ring_rewind(engine, completed, bytes, error);
	litepcie_engine_enable(engine);
	return 0;
}

/* The card has said that the engine stopped: find out why. */
static int litepcie_watchdog_stopped(struct litepcie_engine *engine)
{
	u32 status = readl(engine->regs + LITEPCIE_ENGINE_STATUS);
	u32 bytes = readl(engine->regs + LITEPCIE_ENGINE_STOPPED_BYTES);
	u8 reason = FIELD_GET(LITEPCIE_ENGINE_STATUS_REASON_MASK, status);
	bool empty;
	int ret;

	spin_lock_irq(&engine->lock);
	empty = list_empty(&engine->inflight);
	spin_unlock_irq(&engine->lock);
	if (empty) {
		/* Not the fault of a request: it would stop again at once. */
		dev_err(&engine->ld->dev, "%s stopped with nothing to do: %s\n",
			engine->name, litepcie_reason_name(reason));
		litepcie_engine_set_paused(engine);
		ret = litepcie_engine_reset(engine);
		litepcie_ring_fail(engine, ret ? ret : -EIO);
		return ret;
	}
	dev_warn_ratelimited(&engine->ld->dev, "%s stopped: %s\n",
			     engine->name, litepcie_reason_name(reason));
	return litepcie_watchdog_recover(engine, bytes, litepcie_reason_errno(reason));
}

/* Nothing was reported for the whole timeout: is anything happening? */
static int litepcie_watchdog_silent(struct litepcie_engine *engine)
{
	u32 completed = readl(engine->regs + LITEPCIE_ENGINE_COMPLETED);
	unsigned long timeout = litepcie_timeout();
	bool moves;

	spin_lock_irq(&engine->lock);
	moves = time_before(jiffies, engine->progress + timeout) ||
		(completed != engine->seen && completed != engine->completed &&
		 completed != ~0U);
	engine->seen = completed;
	spin_unlock_irq(&engine->lock);
	if (moves) {
		queue_delayed_work(engine->ld->queue, &engine->watchdog, timeout);
		return 0;
	}
	dev_warn_ratelimited(&engine->ld->dev, "%s moved nothing for %u ms\n",
			     engine->name, jiffies_to_msecs(timeout));
	return litepcie_watchdog_recover(engine, 0, -ETIMEDOUT);
}

/**
 * litepcie_watchdog() - look after an engine
 * @work: litepcie_engine.watchdog
 *
 * Runs when the status block says that the engine stopped, and once in each
 * timeout while there are requests in the ring.
 */
void litepcie_watchdog(struct work_struct *work)
{
	struct litepcie_engine *engine =
		container_of(to_delayed_work(work), struct litepcie_engine, watchdog);
	struct litepcie_engine *other =
		&engine->ld->engines[!engine->direction];
	unsigned long due;
	bool runs, stopped;
	int lost = 0;

	mutex_lock(&engine->control);
	/* An interrupt that was lost must not look like a card that is. */
	litepcie_ring_poll(engine);

	spin_lock_irq(&engine->lock);
	runs = engine->state == LITEPCIE_ENGINE_RUNNING;
	stopped = engine->stopped;
	due = engine->progress + litepcie_timeout();
	if (runs && !stopped && list_empty(&engine->inflight))
		runs = false;
	spin_unlock_irq(&engine->lock);

	if (runs && stopped)
		lost = litepcie_watchdog_stopped(engine);
	else if (runs && time_before(jiffies, due))
		queue_delayed_work(engine->ld->queue, &engine->watchdog,
				   due - jiffies);
	else if (runs)
		lost = litepcie_watchdog_silent(engine);
	mutex_unlock(&engine->control);

	/* The other engine is on the same card. */
	if (lost)
		litepcie_engine_stop(other, lost);
}
