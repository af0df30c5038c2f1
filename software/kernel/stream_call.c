// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of streams: read(), write(), and how they wait.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/uio.h>
#include <linux/wait.h>

#include "driver.h"
#include "stream.h"

/*
 * How calls of a stream wait for each other, for buffers and for the card, and
 * how an error reaches one of them.
 */

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
	return (end->direction == LITEPCIE_FROM_CARD && ready) ||
	       READ_ONCE(end->ld->card) != LITEPCIE_CARD_AWAY;
}

/**
 * litepcie_stream_wait() - begin, and wait until a buffer is ready
 * @end: the direction, with its mutex use held
 * @wait: whether to wait
 *
 * Data that came before an error is read before the error is returned; nothing
 * is written after an error. With O_DIRECT, the call brings the buffer, and no data
 * waits for it.
 *
 * Return: 0; -EAGAIN; -ERESTARTSYS; that of litepcie_stream_begin(); or the error
 * of the direction, which stays for litepcie_stream_result().
 */
int litepcie_stream_wait(struct litepcie_stream_end *end, bool wait)
{
	bool reader = end->direction == LITEPCIE_TO_CARD;
	bool direct = end->direct;
	bool counted = false;
	int ret;

	for (;;) {
		ret = litepcie_stream_begin(end);
		if (ret && ret != -EAGAIN)
			return ret;
		litepcie_stream_poll(end);
		if (!ret && (direct || litepcie_stream_ready(end)) &&
		    !((reader || direct) && litepcie_stream_fault(end)))
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

/*
 * read() and write() of streams. One call of a direction uses the ring at a
 * time; others wait for litepcie_stream_end.use, or return -EAGAIN if they must
 * not wait.
 *
 * A program's memory is touched with that mutex held and without any lock that
 * a reset or unbinding of the card takes: a page that does not come delays only
 * this direction of this file.
 */

/**
 * struct litepcie_stream_piece - what one read() takes
 * @bytes: bytes
 * @full: buffers that are read to their end
 * @offset: bytes that are then read of the buffer after them
 * @last: the packet ends after @bytes
 */
struct litepcie_stream_piece {
	size_t bytes;
	u32 full;
	u32 offset;
	bool last;
};

/* What a read() of at most @most bytes takes of the buffers that are ready. */
static struct litepcie_stream_piece
litepcie_stream_plan(struct litepcie_stream_end *end, size_t most)
{
	struct litepcie_stream_piece piece = { .offset = end->offset };
	u32 ready = litepcie_stream_ready(end);
	u32 slot, left;

	while (piece.full < ready && piece.bytes < most && !piece.last) {
		slot = litepcie_stream_nth(end, end->consumed + piece.full)->slot;
		if (piece.full && slot & LITEPCIE_STREAM_SLOT_CUT)
			break;
		left = (slot & LITEPCIE_STREAM_SLOT_BYTES) - piece.offset;
		if (left > most - piece.bytes) {
			piece.offset += most - piece.bytes;
			piece.bytes = most;
			break;
		}
		piece.bytes += left;
		piece.full++;
		piece.offset = 0;
		piece.last = slot & LITEPCIE_STREAM_SLOT_LAST;
	}
	return piece;
}

/* Copies what is planned; returns what the program's memory took. */
static size_t litepcie_stream_copy(struct litepcie_stream_end *end,
				   struct iov_iter *iter, size_t bytes)
{
	u32 count = end->consumed, offset = end->offset;
	struct litepcie_stream_buffer *buffer;
	size_t copied = 0, part, done;

	while (copied < bytes) {
		buffer = litepcie_stream_nth(end, count++);
		part = min_t(size_t, bytes - copied,
			     (buffer->slot & LITEPCIE_STREAM_SLOT_BYTES) - offset);
		done = copy_to_iter(buffer->data + offset, part, iter);
		copied += done;
		if (done != part)
			break;
		offset = 0;
	}
	atomic64_add(copied, &litepcie_copied_bytes);
	return copied;
}

/* Did the card's logic cut the packet before the next buffer? Says so once. */
static bool litepcie_stream_was_cut(struct litepcie_stream_end *end)
{
	struct litepcie_stream_buffer *buffer = litepcie_stream_nth(end, end->consumed);
	bool cut = buffer->slot & LITEPCIE_STREAM_SLOT_CUT;

	buffer->slot &= ~LITEPCIE_STREAM_SLOT_CUT;
	return cut;
}

/**
 * litepcie_stream_read() - take bytes of one packet
 * @end: the direction of a writer, with its mutex use held
 * @iter: the program's buffer, not empty
 * @wait: whether to wait for the card
 *
 * Return: bytes, with their header, or a negative errno.
 */
ssize_t litepcie_stream_read(struct litepcie_stream_end *end, struct iov_iter *iter,
			     bool wait)
{
	struct litepcie_stream_header header = { };
	struct litepcie_stream_piece piece;
	size_t extra, copied;
	int ret;

	ret = litepcie_stream_wait(end, wait);
	if (ret)
		return litepcie_stream_result(end, ret);
	if (litepcie_stream_was_cut(end))
		return -ENODATA;
	extra = end->settings.mode & LITEPCIE_STREAM_HEADERS ? sizeof(header) : 0;
	if (iov_iter_count(iter) <= extra)
		return -EINVAL;
	piece = litepcie_stream_plan(end, iov_iter_count(iter) - extra);
	header.bytes = piece.bytes;
	header.flags = piece.last ? 0 : LITEPCIE_STREAM_MORE;
	if (extra && copy_to_iter(&header, extra, iter) != extra)
		return -EFAULT;
	copied = litepcie_stream_copy(end, iter, piece.bytes);
	if (copied != piece.bytes) {
		/* A header has said how much it is, so it is all or nothing. */
		if (extra || !copied)
			return -EFAULT;
		piece = litepcie_stream_plan(end, copied);
	}
	litepcie_stream_take(end, piece.full, piece.offset);
	return extra + copied;
}

/**
 * litepcie_stream_read_header() - read the header of a write()
 * @end: the direction
 * @iter: the program's buffer, not empty; advanced past the header
 * @more: set to whether the packet goes on after the call
 *
 * Return: size of the header, 0 without LITEPCIE_STREAM_HEADERS, or a negative errno.
 */
ssize_t litepcie_stream_read_header(struct litepcie_stream_end *end,
				    struct iov_iter *iter, bool *more)
{
	struct litepcie_stream_header header;

	*more = false;
	if (!(end->settings.mode & LITEPCIE_STREAM_HEADERS))
		return 0;
	if (iov_iter_count(iter) <= sizeof(header))
		return -EINVAL;
	if (!copy_from_iter_full(&header, sizeof(header), iter))
		return -EFAULT;
	if (header.bytes != iov_iter_count(iter) || header.flags & ~LITEPCIE_STREAM_MORE)
		return -EINVAL;
	*more = header.flags;
	return sizeof(header);
}

/**
 * litepcie_stream_write() - give the bytes of a packet
 * @end: the direction of a reader, with its mutex use held
 * @iter: the program's buffer, not empty
 * @wait: whether to wait for the card
 *
 * Return: bytes, with their header, or a negative errno.
 */
ssize_t litepcie_stream_write(struct litepcie_stream_end *end, struct iov_iter *iter,
			      bool wait)
{
	struct litepcie_stream_buffer *buffer;
	ssize_t extra = 0;
	size_t given = 0;
	bool more;
	u32 part;
	int ret;

	do {
		ret = litepcie_stream_wait(end, wait);
		if (ret)
			break;
		if (!given && !extra) {
			extra = litepcie_stream_read_header(end, iter, &more);
			if (extra < 0)
				return extra;
		}
		/* Only this call makes produced greater. */
		buffer = litepcie_stream_nth(end, end->produced);
		part = min_t(size_t, iov_iter_count(iter), end->memory->buffer_bytes);
		if (!copy_from_iter_full(buffer->data, part, iter)) {
			ret = -EFAULT;
			break;
		}
		buffer->slot = part;
		if (!iov_iter_count(iter) && !more)
			buffer->slot |= LITEPCIE_STREAM_SLOT_LAST;
		ret = litepcie_stream_give(end, 1);
		if (ret) {
			ret = litepcie_stream_fault(end);
			break;
		}
		given += part;
		atomic64_add(part, &litepcie_copied_bytes);
	} while (iov_iter_count(iter));
	return given ? extra + given : litepcie_stream_result(end, ret);
}
