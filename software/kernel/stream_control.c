// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hardware of streams: start and stop of a direction, and of all of them.
 *
 *	            begin
 *	+---------+ --------------------> +---------+
 *	| STOPPED |  error, pause, close  | RUNNING |
 *	+---------+ <-------------------- +---------+
 *	     ^  | stop, disconnect             | stop, disconnect
 *	     |  v                              |
 *	+---------+                            |
 *	|  LOST   | <--------------------------'
 *	+---------+ resume: STOPPED
 *
 * begin is part of a call; error is what the status block says; pause, stop,
 * disconnect and resume come with those of the card (power.c). begin, close,
 * pause and stop reset the engine. A reader that has sent all it was given
 * stays RUNNING between two open files, so that its last bytes, which may wait
 * in the card, are not lost.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bitfield.h>
#include <linux/mm.h>

#include "driver.h"
#include "stream.h"

static void litepcie_stream_moderate(struct litepcie_stream_end *end)
{
	writel(FIELD_PREP(LITEPCIE_ENGINE_MODERATION_COUNT_MASK,
			  end->settings.moderation_count) |
	       FIELD_PREP(LITEPCIE_ENGINE_MODERATION_US_MASK,
			  end->settings.moderation_us),
	       end->regs + LITEPCIE_ENGINE_MODERATION);
	writel(FIELD_PREP(LITEPCIE_ENGINE_INTERRUPT_VECTOR_MASK, end->vector) |
	       LITEPCIE_ENGINE_INTERRUPT_IDLE, end->regs + LITEPCIE_ENGINE_INTERRUPT);
}

static void litepcie_stream_configure(struct litepcie_stream_end *end)
{
	void __iomem *regs = end->regs;

	memset(end->status, 0, end->status_bytes);
	writel(lower_32_bits(end->ring_dma), regs + LITEPCIE_ENGINE_RING_LO);
	writel(upper_32_bits(end->ring_dma), regs + LITEPCIE_ENGINE_RING_HI);
	writel(end->ring_log2, regs + LITEPCIE_ENGINE_RING_LOG2);
	writel(lower_32_bits(end->status_dma), regs + LITEPCIE_ENGINE_STATUS_ADDRESS_LO);
	writel(upper_32_bits(end->status_dma), regs + LITEPCIE_ENGINE_STATUS_ADDRESS_HI);
	litepcie_stream_moderate(end);
	if (end->direction == LITEPCIE_FROM_CARD)
		writel(end->settings.flush_us, regs + LITEPCIE_ENGINE_FLUSH_US);
	writel(LITEPCIE_ENGINE_CONTROL_ENABLE, regs + LITEPCIE_ENGINE_CONTROL);
}

/* Has the engine stopped with nothing left that a call must see first? */
static bool litepcie_stream_may_start(struct litepcie_stream_end *end)
{
	bool may;

	spin_lock_irq(&end->lock);
	may = end->state == LITEPCIE_STREAM_STOPPED && !end->error &&
	      !(end->direction == LITEPCIE_FROM_CARD && end->completed != end->consumed);
	spin_unlock_irq(&end->lock);
	return may;
}

/* Allocates the ring. A reader may still run for the file before this one. */
static int litepcie_stream_prepare_locked(struct litepcie_stream_end *end)
{
	int ret;

	lockdep_assert_held(&end->control);
	if (end->memory)
		return 0;
	ret = litepcie_card_error(end->ld);
	if (ret)
		return ret;
	ret = litepcie_stream_memory_alloc(end);
	if (ret || READ_ONCE(end->state) != LITEPCIE_STREAM_RUNNING)
		return ret;
	litepcie_stream_moderate(end);
	spin_lock_irq(&end->lock);
	litepcie_stream_show(end);
	spin_unlock_irq(&end->lock);
	return 0;
}

/**
 * litepcie_stream_prepare() - allocate the ring of an open file
 * @end: the direction
 *
 * Return: 0, also if it has one, -ENOMEM, or that of litepcie_card_error().
 */
int litepcie_stream_prepare(struct litepcie_stream_end *end)
{
	int ret;

	mutex_lock(&end->control);
	ret = litepcie_stream_prepare_locked(end);
	mutex_unlock(&end->control);
	return ret;
}

static int litepcie_stream_start(struct litepcie_stream_end *end)
{
	int ret;

	if (!litepcie_stream_may_start(end))
		return 0;
	ret = litepcie_bank_reset(end->ld, end->regs, end->name);
	if (ret)
		return ret;
	litepcie_stream_count_reset(end);
	end->begun = true;
	litepcie_stream_configure(end);
	litepcie_stream_run(end);
	return 0;
}

/* Is there something to read that came before the engine stopped? It needs no card. */
static bool litepcie_stream_left(struct litepcie_stream_end *end)
{
	return end->direction == LITEPCIE_FROM_CARD &&
	       READ_ONCE(end->state) != LITEPCIE_STREAM_RUNNING &&
	       litepcie_stream_ready(end);
}

/**
 * litepcie_stream_begin() - make the engine of a direction run
 * @end: the direction, with its mutex use held
 *
 * Starts no engine while a call must see data or an error first. Data comes first
 * also while the card is cut off: after an error, a program takes the next byte
 * for the first one of a packet.
 *
 * Return: 0; -EAGAIN while the card is reset or suspended; -ENOMEM; -EIO if the
 * engine does not end its reset; that of litepcie_card_error().
 */
int litepcie_stream_begin(struct litepcie_stream_end *end)
{
	int ret;

	lockdep_assert_held(&end->use);
	if (READ_ONCE(end->state) == LITEPCIE_STREAM_RUNNING && end->memory)
		return 0;
	if (litepcie_stream_left(end))
		return 0;
	mutex_lock(&end->control);
	ret = litepcie_stream_prepare_locked(end);
	if (ret)
		goto unlock;
	/* Each loss of the card says so before it takes the mutex. */
	ret = litepcie_card_error(end->ld);
	if (ret)
		goto unlock;
	if (READ_ONCE(end->ld->card) == LITEPCIE_CARD_PRESENT)
		ret = litepcie_stream_start(end);
	else
		ret = litepcie_stream_may_start(end) ? -EAGAIN : 0;
unlock:
	mutex_unlock(&end->control);
	return ret;
}

/**
 * litepcie_stream_halt() - reset the engine: no more access to host memory
 * @end: the direction, with its mutex control held
 *
 * Return: true if bytes were lost, which are counted.
 */
bool litepcie_stream_halt(struct litepcie_stream_end *end)
{
	bool lost = false;
	int ret;

	lockdep_assert_held(&end->control);
	/* During a reset or suspend of the card it must not be accessed. */
	if (READ_ONCE(end->state) == LITEPCIE_STREAM_LOST || !end->begun)
		return false;
	ret = litepcie_bank_reset(end->ld, end->regs, end->name);
	/* The reset has pushed the last writes of the card into memory. */
	litepcie_stream_poll(end);
	if (!ret)
		lost = litepcie_stream_count_reset(end);
	end->begun = false;
	return lost;
}

/**
 * litepcie_stream_take_back() - take the memory of a call from the card
 * @end: the direction, with its mutex control held
 * @req: the request, which was posted; the card has ended its slot, or
 *	litepcie_stream_unpost() may be called
 */
void litepcie_stream_take_back(struct litepcie_stream_end *end,
			       struct litepcie_request *req)
{
	lockdep_assert_held(&end->control);
	list_del_init(&req->node);
	req->state = LITEPCIE_REQUEST_DONE;
	if (litepcie_stream_is_done(end, req) ||
	    !litepcie_request_keep(&end->engine, req))
		litepcie_request_unmap(&end->engine, req);
}

/**
 * litepcie_stream_unpost() - take the memory of all calls from the card
 * @end: the direction, with its mutex control held; its engine was reset, or the
 *	card is cut off and may still write: then the memory is kept
 */
void litepcie_stream_unpost(struct litepcie_stream_end *end)
{
	struct litepcie_request *req, *next;

	list_for_each_entry_safe(req, next, &end->posted, node)
		litepcie_stream_take_back(end, req);
}

/**
 * litepcie_stream_close() - end the use of a direction by an open file
 * @end: the direction, which no call uses
 */
void litepcie_stream_close(struct litepcie_stream_end *end)
{
	mutex_lock(&end->control);
	if (end->memory && !litepcie_stream_drained(end))
		litepcie_stream_drop(end, litepcie_stream_halt(end));
	litepcie_stream_memory_free(end);
	mutex_unlock(&end->control);
}

/**
 * litepcie_streams_poll() - read the status blocks of streams
 * @ld: the device
 * @vector: of those that have this interrupt
 *
 * Called by the interrupt handler.
 */
void litepcie_streams_poll(struct litepcie_device *ld, unsigned int vector)
{
	struct litepcie_stream_end *end;

	list_for_each_entry(end, &ld->stream_ends, node)
		if (end->vector == vector)
			litepcie_stream_poll(end);
}

/**
 * litepcie_streams_resume() - let calls begin: the card is there
 * @ld: the device, after litepcie_card_set()
 */
void litepcie_streams_resume(struct litepcie_device *ld)
{
	struct litepcie_stream_end *end;

	list_for_each_entry(end, &ld->stream_ends, node) {
		spin_lock_irq(&end->lock);
		if (end->state == LITEPCIE_STREAM_LOST)
			end->state = LITEPCIE_STREAM_STOPPED;
		spin_unlock_irq(&end->lock);
		wake_up_all(&end->wait);
	}
}

/* Removes the pages of the ring from all programs, if the driver is unbound. */
static void litepcie_stream_zap(struct litepcie_stream_end *end)
{
	mutex_lock(&end->stream->users);
	if (end->file && READ_ONCE(end->ld->gone))
		unmap_mapping_range(end->file->f_mapping, 0, 0, 1);
	mutex_unlock(&end->stream->users);
}

/**
 * litepcie_streams_pause() - end what is under way, before a reset or suspend
 * @ld: the device; no stream accesses host memory after the return
 */
void litepcie_streams_pause(struct litepcie_device *ld)
{
	struct litepcie_stream_end *end;

	list_for_each_entry(end, &ld->stream_ends, node) {
		mutex_lock(&end->control);
		if (READ_ONCE(end->state) != LITEPCIE_STREAM_LOST) {
			litepcie_stream_halt(end);
			litepcie_stream_cut(end, LITEPCIE_STREAM_STOPPED, -ENODATA);
			litepcie_stream_unpost(end);
		}
		mutex_unlock(&end->control);
	}
}

/**
 * litepcie_streams_stop() - end what is under way, and refuse calls
 * @ld: the device; no stream accesses host memory after the return
 * @error: negative errno for those that wait
 */
void litepcie_streams_stop(struct litepcie_device *ld, int error)
{
	struct litepcie_stream_end *end;

	list_for_each_entry(end, &ld->stream_ends, node) {
		mutex_lock(&end->control);
		litepcie_stream_halt(end);
		litepcie_stream_cut(end, LITEPCIE_STREAM_LOST, error);
		litepcie_stream_unpost(end);
		mutex_unlock(&end->control);
		litepcie_stream_zap(end);
	}
}

/**
 * litepcie_streams_disconnect() - end what is under way on a card that is cut off
 * @ld: the device; its registers are not accessed
 * @error: negative errno for those that wait
 */
void litepcie_streams_disconnect(struct litepcie_device *ld, int error)
{
	struct litepcie_stream_end *end;

	list_for_each_entry(end, &ld->stream_ends, node) {
		mutex_lock(&end->control);
		litepcie_stream_cut(end, LITEPCIE_STREAM_LOST, error);
		litepcie_stream_unpost(end);
		mutex_unlock(&end->control);
		litepcie_stream_zap(end);
	}
}

/**
 * litepcie_streams_unmap() - take all buffers from the card
 * @ld: the device; its streams were stopped and the driver is being unbound
 */
void litepcie_streams_unmap(struct litepcie_device *ld)
{
	struct litepcie_stream_end *end;

	list_for_each_entry(end, &ld->stream_ends, node) {
		mutex_lock(&end->control);
		litepcie_stream_memory_unmap(end);
		mutex_unlock(&end->control);
	}
}
