// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings of streams, and what is lost from them.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/dma-mapping.h>
#include <linux/wait.h>

#include "driver.h"
#include "litepcie_trace.h"
#include "stream.h"

/* What a stream loses by an error, a reset or a close is counted here. */

/* Bytes of a reader's buffers that the card has not got. */
static u64 litepcie_stream_ungot(struct litepcie_stream_end *end)
{
	u64 bytes = 0;
	u32 count;

	for (count = end->completed; count != end->produced; count++)
		bytes += litepcie_stream_nth(end, count)->slot &
			 LITEPCIE_STREAM_SLOT_BYTES;
	return bytes;
}

/* Bytes of a writer's complete buffers that were not read. */
static u64 litepcie_stream_unread(struct litepcie_stream_end *end)
{
	u64 bytes = 0;
	u32 count;

	for (count = end->consumed; count != end->completed; count++)
		bytes += litepcie_stream_nth(end, count)->slot &
			 LITEPCIE_STREAM_SLOT_BYTES;
	return bytes ? bytes - end->offset : 0;
}

/* Bytes that were given to the card, or taken from it, and are on neither side. */
static s32 litepcie_stream_held(struct litepcie_stream_end *end, u32 passed)
{
	u32 moved = end->counters.bytes - end->moved;

	passed -= end->passed;
	return end->direction == LITEPCIE_FROM_CARD ? passed - moved : moved - passed;
}

/**
 * litepcie_stream_under_way() - has the card bytes that no call has got
 * @end: the direction of a writer, with its mutex control held, which runs
 *
 * Return: true also if the card does not tell (before 1.7).
 */
bool litepcie_stream_under_way(struct litepcie_stream_end *end)
{
	bool under_way;
	u32 passed;

	if (!end->known)
		return true;
	passed = readl(end->regs + LITEPCIE_ENGINE_PASSED);
	spin_lock_irq(&end->lock);
	under_way = litepcie_stream_held(end, passed);
	spin_unlock_irq(&end->lock);
	return under_way;
}

/**
 * litepcie_stream_lose() - count bytes that no program gets
 * @end: the direction
 * @bytes: their number
 */
void litepcie_stream_lose(struct litepcie_stream_end *end, u32 bytes)
{
	spin_lock_irq(&end->lock);
	end->counters.lost_bytes += bytes;
	spin_unlock_irq(&end->lock);
}

/**
 * litepcie_stream_count_reset() - count what the reset of an engine dropped
 * @end: the direction, with its mutex control held; its engine has ended its
 *	reset, and litepcie_stream_poll() has seen what came before
 *
 * Of a reader's buffer that is not complete, a part may have passed: then less
 * than the buffer was lost. A card before 1.7 does not tell what its RAM held.
 *
 * Return: true if bytes were lost.
 */
bool litepcie_stream_count_reset(struct litepcie_stream_end *end)
{
	bool known = litepcie_counts_passed(&end->ld->id);
	u32 passed = known ? readl(end->regs + LITEPCIE_ENGINE_PASSED) : 0;
	s64 lost = 0;

	/* All ones: is the card gone? After a reset CONTROL is 0. */
	if (passed == ~0U)
		known = !readl(end->regs + LITEPCIE_ENGINE_CONTROL);
	spin_lock_irq(&end->lock);
	if (end->begun && end->known && known)
		lost = litepcie_stream_held(end, passed);
	if (end->begun && end->memory && end->direction == LITEPCIE_TO_CARD) {
		lost += litepcie_stream_ungot(end);
		end->produced = end->completed;
	}
	end->counters.lost_bytes += lost;
	end->known = known;
	end->passed = passed;
	end->moved = end->counters.bytes;
	spin_unlock_irq(&end->lock);
	return lost;
}

/**
 * litepcie_stream_cut_locked() - as litepcie_stream_cut(), without waking calls
 * @end: the direction, with its lock held
 * @state: LITEPCIE_STREAM_STOPPED or LITEPCIE_STREAM_LOST
 * @error: negative errno for one call if the engine was running
 *
 * Counts what the engine had.
 */
static void litepcie_stream_cut_locked(struct litepcie_stream_end *end,
				       enum litepcie_stream_state state, int error)
{
	/* A reader can run between two open files, with nothing to lose. */
	if (end->state == LITEPCIE_STREAM_RUNNING && end->memory) {
		if (end->direction == LITEPCIE_TO_CARD) {
			end->counters.lost_bytes += litepcie_stream_ungot(end);
			end->produced = end->completed;
		}
		end->counters.cuts++;
		end->open = false;
		end->error = error;
	}
	if (state == LITEPCIE_STREAM_LOST)
		end->known = false;
	end->state = state;
}

/**
 * litepcie_stream_cut() - say that the engine does nothing any more
 * @end: the direction, with its mutex control held
 * @state: LITEPCIE_STREAM_STOPPED or LITEPCIE_STREAM_LOST
 * @error: negative errno for one call if the engine was running
 */
void litepcie_stream_cut(struct litepcie_stream_end *end,
			 enum litepcie_stream_state state, int error)
{
	spin_lock_irq(&end->lock);
	litepcie_stream_cut_locked(end, state, error);
	spin_unlock_irq(&end->lock);
	wake_up_all(&end->wait);
}

/**
 * litepcie_stream_rest() - let the next call start the engine, without an error
 * @end: the direction, with its mutex control held; its engine was reset
 */
void litepcie_stream_rest(struct litepcie_stream_end *end)
{
	spin_lock_irq(&end->lock);
	end->open = false;
	if (end->state == LITEPCIE_STREAM_RUNNING)
		end->state = LITEPCIE_STREAM_STOPPED;
	spin_unlock_irq(&end->lock);
}

/**
 * litepcie_stream_drained() - may a direction be closed without a reset
 * @end: the direction
 *
 * Return: true for a reader whose engine has got all packets to their end.
 */
bool litepcie_stream_drained(struct litepcie_stream_end *end)
{
	bool drained;

	spin_lock_irq(&end->lock);
	drained = end->direction == LITEPCIE_TO_CARD && !end->error && !end->open &&
		  end->state == LITEPCIE_STREAM_RUNNING &&
		  end->completed == end->produced;
	spin_unlock_irq(&end->lock);
	return drained;
}

/**
 * litepcie_stream_drop() - drop what a file that is closed leaves
 * @end: the direction, with its mutex control held, its engine reset or lost
 * @cut: bytes that were lost are counted already
 */
void litepcie_stream_drop(struct litepcie_stream_end *end, bool cut)
{
	bool writer = end->direction == LITEPCIE_FROM_CARD;
	u64 bytes;

	spin_lock_irq(&end->lock);
	bytes = writer ? litepcie_stream_unread(end) : litepcie_stream_ungot(end);
	end->counters.lost_bytes += bytes;
	if (bytes || cut || end->open)
		end->counters.cuts++;
	end->consumed = end->completed;
	end->produced = end->completed;
	end->offset = 0;
	end->open = false;
	end->error = 0;
	if (end->state == LITEPCIE_STREAM_RUNNING)
		end->state = LITEPCIE_STREAM_STOPPED;
	spin_unlock_irq(&end->lock);
}

/*
 * Descriptors and reports of one direction of a stream.
 *
 *	writer: consumed <= completed <= produced == consumed + depth
 *	writer, O_DIRECT: consumed <= completed <= produced <= consumed + 1
 *	reader: completed <= produced <= completed + depth
 *
 * Buffers from consumed to completed hold data for read(); those from completed
 * to produced belong to the card. Each descriptor asks for an interrupt, which
 * the card moderates. The counts are read from the status block and the lengths
 * from the reports behind it, never from the card.
 *
 * A buffer belongs to the CPU or to the card, as the DMA API says: it is synced
 * for the CPU when it is complete, and for the card before its descriptor.
 */

/* Dword of the status memory that has the report of slot 0. */
#define LITEPCIE_STREAM_REPORTS		(LITEPCIE_REPORT_OFFSET / 4)

/* A slot of the uapi is the report of the card. */
static_assert(LITEPCIE_STREAM_SLOT_BYTES == LITEPCIE_REPORT_BYTES_MASK);
static_assert(LITEPCIE_STREAM_SLOT_LAST == LITEPCIE_REPORT_LAST);
static_assert(LITEPCIE_STREAM_SLOT_CUT == LITEPCIE_REPORT_CUT);
static_assert(LITEPCIE_STREAM_MAX_DEPTH == 1 << LITEPCIE_RING_LOG2);

/* Buffers that a call may take or fill. */
static u32 litepcie_stream_ready_locked(struct litepcie_stream_end *end)
{
	if (!end->memory)
		return 0;
	if (end->direction == LITEPCIE_FROM_CARD)
		return end->completed - end->consumed;
	return end->memory->depth - (end->produced - end->completed);
}

/**
 * litepcie_stream_ready() - buffers that a call may take or fill
 * @end: the direction
 *
 * Only the call that holds litepcie_stream_end.use makes them fewer.
 *
 * Return: their number.
 */
u32 litepcie_stream_ready(struct litepcie_stream_end *end)
{
	unsigned long flags;
	u32 ready;

	spin_lock_irqsave(&end->lock, flags);
	ready = litepcie_stream_ready_locked(end);
	spin_unlock_irqrestore(&end->lock, flags);
	return ready;
}

/**
 * litepcie_stream_show() - tell programs that have the ring mapped its counts
 * @end: the direction, with its lock held
 */
void litepcie_stream_show(struct litepcie_stream_end *end)
{
	struct litepcie_stream_ring *shared = end->memory->shared;
	bool writer = end->direction == LITEPCIE_FROM_CARD;

	WRITE_ONCE(shared->tail, writer ? end->consumed : end->produced);
	/* Slots and data are valid before the count that says so. */
	smp_store_release(&shared->head, end->completed);
}

static void litepcie_stream_count(struct litepcie_stream_end *end, u32 slot)
{
	end->counters.bytes += slot & LITEPCIE_STREAM_SLOT_BYTES;
	if (slot & LITEPCIE_STREAM_SLOT_CUT)
		end->counters.cuts++;
	end->open = !(slot & LITEPCIE_STREAM_SLOT_LAST);
	if (!end->open)
		end->counters.packets++;
}

/* Takes a complete buffer from the card; false if its report is impossible. */
static bool litepcie_stream_filled(struct litepcie_stream_end *end, u32 count)
{
	struct litepcie_stream_buffer *buffer = litepcie_stream_nth(end, count);
	u32 mask = BIT(end->ring_log2) - 1;
	u32 report, bytes;

	report = le32_to_cpu(READ_ONCE(end->status[LITEPCIE_STREAM_REPORTS +
						   (count & mask)]));
	bytes = report & LITEPCIE_REPORT_BYTES_MASK;
	if (!bytes || bytes > (end->direct ? buffer->slot : end->memory->buffer_bytes))
		return false;
	/* The call that posted its memory unmaps it. */
	if (!end->direct)
		dma_sync_single_for_cpu(&end->ld->pdev->dev, buffer->dma, bytes,
					DMA_FROM_DEVICE);
	buffer->slot = bytes | (report & (LITEPCIE_REPORT_LAST | LITEPCIE_REPORT_CUT));
	WRITE_ONCE(end->memory->shared->slots[count & (end->memory->depth - 1)],
		   buffer->slot);
	litepcie_stream_count(end, buffer->slot);
	return true;
}

/* Ends the descriptors before @completed; false if a report is impossible. */
static bool litepcie_stream_retire(struct litepcie_stream_end *end, u32 completed)
{
	bool writer = end->direction == LITEPCIE_FROM_CARD;

	for (; end->completed != completed; end->completed++) {
		if (!writer)
			litepcie_stream_count(end,
					      litepcie_stream_nth(end, end->completed)->slot);
		else if (!litepcie_stream_filled(end, end->completed))
			return false;
	}
	if (completed == end->produced) {
		if (writer && !end->direct)
			end->counters.overruns++;
		else if (!writer && end->open)
			end->counters.underruns++;
	}
	return true;
}

/* Reads the status block; returns true if calls that wait have something to do. */
static bool litepcie_stream_poll_locked(struct litepcie_stream_end *end)
{
	u32 completed, before = end->completed;
	int error = 0;
	u8 reason;

	completed = le32_to_cpu(READ_ONCE(end->status[LITEPCIE_STATUS_COMPLETED]));
	/* The card wrote data and reports before the count; read in reverse order. */
	dma_rmb();
	reason = le32_to_cpu(READ_ONCE(end->status[LITEPCIE_STATUS_REASON]));
	if (completed != before) {
		if (!litepcie_ring_count_valid(before, completed, end->produced) ||
		    !litepcie_stream_retire(end, completed))
			error = -EIO;
		litepcie_stream_show(end);
	}
	if (reason && !error) {
		error = litepcie_reason_errno(reason);
		trace_litepcie_stop(dev_name(&end->ld->dev), end->name, reason, 0);
		dev_warn_ratelimited(&end->ld->dev, "%s stopped: %s\n", end->name,
				     litepcie_reason_name(reason));
	}
	if (error)
		litepcie_stream_cut_locked(end, LITEPCIE_STREAM_STOPPED, error);
	return error || end->completed != before;
}

/**
 * litepcie_stream_poll() - read the status block and wake calls
 * @end: the direction
 *
 * Called by the interrupt handler and by calls before they wait.
 */
void litepcie_stream_poll(struct litepcie_stream_end *end)
{
	unsigned long flags;
	bool wake = false;

	spin_lock_irqsave(&end->lock, flags);
	if (end->state == LITEPCIE_STREAM_RUNNING && end->produced != end->completed)
		wake = litepcie_stream_poll_locked(end);
	spin_unlock_irqrestore(&end->lock, flags);
	if (wake)
		wake_up_all(&end->wait);
}

/* Tells the card, and programs that have the ring mapped, of new descriptors. */
static void litepcie_stream_doorbell(struct litepcie_stream_end *end)
{
	litepcie_stream_show(end);
	/* writel() orders the stores to the ring before the doorbell. */
	trace_litepcie_doorbell(dev_name(&end->ld->dev), end->name, end->produced,
				end->completed);
	writel(end->produced, end->regs + LITEPCIE_ENGINE_DOORBELL);
}

/* Writes descriptors for the next buffers, and the doorbell once. */
static void litepcie_stream_produce(struct litepcie_stream_end *end, u32 count)
{
	bool writer = end->direction == LITEPCIE_FROM_CARD;
	u32 mask = BIT(end->ring_log2) - 1;
	struct litepcie_stream_buffer *buffer;
	u32 bytes, flags;

	lockdep_assert_held(&end->lock);
	while (count--) {
		buffer = litepcie_stream_nth(end, end->produced);
		flags = LITEPCIE_DESCRIPTOR_INTERRUPT;
		bytes = end->memory->buffer_bytes;
		if (!writer) {
			bytes = buffer->slot & LITEPCIE_STREAM_SLOT_BYTES;
			if (buffer->slot & LITEPCIE_STREAM_SLOT_LAST)
				flags |= LITEPCIE_DESCRIPTOR_LAST;
		}
		dma_sync_single_for_device(&end->ld->pdev->dev, buffer->dma, bytes,
					   end->dma);
		litepcie_descriptor_encode(&end->ring[end->produced & mask], bytes,
					   flags, 0, buffer->dma);
		end->produced++;
	}
	litepcie_stream_doorbell(end);
}

/**
 * litepcie_stream_give() - give filled buffers to the card
 * @end: a reader's direction, with its mutex use held; the slots of the next
 *	@count buffers are set, and as many are ready
 * @count: their number
 *
 * Return: 0, or -EAGAIN if the engine stopped meanwhile: nothing was given.
 */
int litepcie_stream_give(struct litepcie_stream_end *end, u32 count)
{
	int ret = 0;

	spin_lock_irq(&end->lock);
	if (end->state != LITEPCIE_STREAM_RUNNING)
		ret = -EAGAIN;
	else if (count)
		litepcie_stream_produce(end, count);
	spin_unlock_irq(&end->lock);
	return ret;
}

/**
 * litepcie_stream_give_direct() - give memory of a call to the card
 * @end: the direction, with its mutexes use and control held
 * @descriptor: for the memory
 * @slot: its bytes, and LITEPCIE_STREAM_SLOT_LAST for a reader
 *
 * Return: 0, or -EAGAIN if the engine stopped meanwhile: nothing was given.
 */
int litepcie_stream_give_direct(struct litepcie_stream_end *end,
				const struct litepcie_descriptor *descriptor, u32 slot)
{
	int ret = -EAGAIN;

	spin_lock_irq(&end->lock);
	if (end->state == LITEPCIE_STREAM_RUNNING) {
		litepcie_stream_nth(end, end->produced)->slot = slot;
		end->ring[end->produced & (BIT(end->ring_log2) - 1)] = *descriptor;
		end->produced++;
		litepcie_stream_doorbell(end);
		ret = 0;
	}
	spin_unlock_irq(&end->lock);
	return ret;
}

/**
 * litepcie_stream_take() - give buffers that were read back to the card
 * @end: a writer's direction, with its mutex use held. With O_DIRECT, the card gets
 *	memory with the next call
 * @count: buffers that were read to their end, at most those that are ready
 * @offset: bytes that were read of the buffer after them
 */
void litepcie_stream_take(struct litepcie_stream_end *end, u32 count, u32 offset)
{
	spin_lock_irq(&end->lock);
	end->consumed += count;
	end->offset = offset;
	if (count && end->state == LITEPCIE_STREAM_RUNNING && !end->direct)
		litepcie_stream_produce(end, count);
	else if (count)
		litepcie_stream_show(end);
	spin_unlock_irq(&end->lock);
}

/**
 * litepcie_stream_run() - begin with an empty ring
 * @end: the direction; its engine is reset, configured and enabled, and its
 *	mutex control is held
 */
void litepcie_stream_run(struct litepcie_stream_end *end)
{
	spin_lock_irq(&end->lock);
	end->produced = 0;
	end->completed = 0;
	end->consumed = 0;
	end->offset = 0;
	end->open = false;
	end->state = LITEPCIE_STREAM_RUNNING;
	if (end->direction == LITEPCIE_FROM_CARD && !end->direct)
		litepcie_stream_produce(end, end->memory->depth);
	else
		litepcie_stream_show(end);
	spin_unlock_irq(&end->lock);
}
