// SPDX-License-Identifier: GPL-2.0-only
/*
 * How calls of a stream wait for each other, for buffers and for the card, and
 * how an error reaches one of them.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>

#include "driver.h"
#include "stream.h"

/**
 * litepcie_stream_lock() - wait for other calls of the direction
 * @end: the direction
 * @wait: whether to wait
 *
 * Return: 0, -EAGAIN or -ERESTARTSYS.
 */
int litepcie_stream_lock(struct litepcie_stream_end *end, bool wait)
{
	if (mutex_trylock(&end->use))
		return 0;
	if (!wait)
		return -EAGAIN;
	return mutex_lock_interruptible(&end->use) ? -ERESTARTSYS : 0;
}

/**
 * litepcie_stream_unlock() - undo litepcie_stream_lock()
 * @end: the direction
 */
void litepcie_stream_unlock(struct litepcie_stream_end *end)
{
	mutex_unlock(&end->use);
}

/**
 * litepcie_stream_fault() - the error that the next call would return
 * @end: the direction
 *
 * Return: 0 or negative errno.
 */
int litepcie_stream_fault(struct litepcie_stream_end *end)
{
	int error = READ_ONCE(end->error), lost = litepcie_card_error(end->ld);

	if (READ_ONCE(end->state) == LITEPCIE_STREAM_LOST && !error)
		return lost ? lost : -ENODEV;
	return error ? error : lost;
}

/**
 * litepcie_stream_take_fault() - take the error of a direction for a call
 * @end: the direction
 *
 * While the card is lost, the error stays for other calls.
 *
 * Return: 0 or negative errno.
 */
int litepcie_stream_take_fault(struct litepcie_stream_end *end)
{
	int error;

	spin_lock_irq(&end->lock);
	error = litepcie_stream_fault(end);
	if (end->state != LITEPCIE_STREAM_LOST)
		end->error = 0;
	spin_unlock_irq(&end->lock);
	return error;
}

/* Is there something to do for a call that found no buffer? */
static bool litepcie_stream_changed(struct litepcie_stream_end *end)
{
	bool ready = litepcie_stream_ready(end);

	if (litepcie_stream_fault(end))
		return true;
	if (READ_ONCE(end->state) == LITEPCIE_STREAM_RUNNING)
		return ready;
	/* A stopped writer may have data, and a stopped reader needs a card. */
	return (end->direction == LITEPCIE_WRITER && ready) ||
	       READ_ONCE(end->ld->card) != LITEPCIE_CARD_AWAY;
}

/**
 * litepcie_stream_wait() - begin, and wait until a buffer is ready
 * @end: the direction, with its mutex use held
 * @wait: whether to wait
 *
 * Data that came before an error is read before the error is returned; nothing
 * is written after an error.
 *
 * Return: 0; -EAGAIN; -ERESTARTSYS; that of litepcie_stream_begin(); or the error
 * of the direction, which stays for litepcie_stream_result().
 */
int litepcie_stream_wait(struct litepcie_stream_end *end, bool wait)
{
	bool reader = end->direction == LITEPCIE_READER;
	bool counted = false;
	int ret;

	for (;;) {
		ret = litepcie_stream_begin(end);
		if (ret && ret != -EAGAIN)
			return ret;
		litepcie_stream_poll(end);
		if (!ret && litepcie_stream_ready(end) &&
		    !(reader && litepcie_stream_fault(end)))
			return 0;
		if (litepcie_stream_fault(end))
			return litepcie_stream_fault(end);
		if (!counted) {
			spin_lock_irq(&end->lock);
			end->counters.waits++;
			spin_unlock_irq(&end->lock);
			counted = true;
		}
		if (!wait)
			return -EAGAIN;
		ret = wait_event_interruptible(end->wait, litepcie_stream_changed(end));
		if (ret)
			return ret;
	}
}

/**
 * litepcie_stream_result() - return value of a call that has moved nothing
 * @end: the direction
 * @ret: negative errno; if it is the error of the direction, the call takes it
 *
 * Return: @ret.
 */
int litepcie_stream_result(struct litepcie_stream_end *end, int ret)
{
	if (ret == litepcie_stream_fault(end))
		litepcie_stream_take_fault(end);
	return ret;
}

static bool litepcie_stream_is_drained(struct litepcie_stream_end *end)
{
	return READ_ONCE(end->state) != LITEPCIE_STREAM_RUNNING ||
	       READ_ONCE(end->completed) == READ_ONCE(end->produced);
}

/**
 * litepcie_stream_drain() - wait until the card has all that was given
 * @end: the direction of a reader
 * @most: jiffies to wait at most, and less if the card takes nothing for the time
 *	of litepcie_timeout(); or MAX_SCHEDULE_TIMEOUT: without an end
 *
 * Return: 0; the error of the stream, which it does not take; -ETIMEDOUT; or
 * -ERESTARTSYS.
 */
int litepcie_stream_drain(struct litepcie_stream_end *end, long most)
{
	bool forever = most == MAX_SCHEDULE_TIMEOUT;
	u32 before;
	long wait, left;

	do {
		litepcie_stream_poll(end);
		before = READ_ONCE(end->completed);
		wait = min_t(long, litepcie_timeout(), most);
		left = wait_event_interruptible_timeout(end->wait,
							litepcie_stream_is_drained(end),
							wait);
		if (left < 0)
			return left;
		if (!forever)
			most -= wait;
	} while (!left && (forever || (most > 0 && before != READ_ONCE(end->completed))));
	return left ? litepcie_stream_fault(end) : -ETIMEDOUT;
}
