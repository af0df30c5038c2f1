// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a stream loses by an error, a reset or a close is counted here.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/wait.h>

#include "driver.h"
#include "stream.h"

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
	return end->direction == LITEPCIE_WRITER ? passed - moved : moved - passed;
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
	if (end->begun && end->memory && end->direction == LITEPCIE_READER) {
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
void litepcie_stream_cut_locked(struct litepcie_stream_end *end,
				enum litepcie_stream_state state, int error)
{
	/* A reader can run between two open files, with nothing to lose. */
	if (end->state == LITEPCIE_STREAM_RUNNING && end->memory) {
		if (end->direction == LITEPCIE_READER) {
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
	wake_up_interruptible_all(&end->wait);
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
	drained = end->direction == LITEPCIE_READER && !end->error && !end->open &&
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
	bool writer = end->direction == LITEPCIE_WRITER;
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
