// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of streams: read() and write(), through the ring or with O_DIRECT, and how they
 * wait.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/list.h>
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
static int litepcie_stream_wait(struct litepcie_stream_end *end, bool wait)
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
static int litepcie_stream_result(struct litepcie_stream_end *end, int ret)
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
static ssize_t litepcie_stream_read_header(struct litepcie_stream_end *end,
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

/*
 * Streams that are open with O_DIRECT: the card moves the data to and from the
 * memory of each call. Nothing is copied, except what pages.c must copy.
 *
 * The ring has no buffer of the driver. A call posts its own memory: a slot is a
 * descriptor, or a LINK to a table if the memory has several parts. The card ends a
 * slot where the packet ends and skips the rest of its table, so no data of the next
 * packet gets into a buffer that is returned. Between two calls nothing is posted,
 * and the card's logic waits. Calls of a direction are one after the other.
 *
 * The card cannot give a slot back. A call that must end before its slot is complete
 * resets the engine, and memory goes back to the program after that: in
 * litepcie_stream_unpost(), which also serves reset, suspend, unbinding and bus
 * errors. A card that may still write keeps it (litepcie_request_keep()).
 */

/* Writes the table of a slot; returns the number of its descriptors. */
static u32 litepcie_stream_describe(struct litepcie_descriptor *table,
				    struct litepcie_request *req, u32 flags)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(&req->sgt, sg, i)
		litepcie_descriptor_encode(&table[i], sg_dma_len(sg),
					   i + 1 == req->sgt.nents ? flags : 0, 0,
					   sg_dma_address(sg));
	return i;
}

/* Gives the memory of a request to the card. -EAGAIN: the engine does not run. */
static int litepcie_stream_post_locked(struct litepcie_stream_end *end,
				       struct litepcie_request *req, u32 slot)
{
	u32 flags = slot & LITEPCIE_STREAM_SLOT_LAST ? LITEPCIE_DESCRIPTOR_LAST : 0;
	u32 place = end->produced % LITEPCIE_STREAM_POSTS * end->engine.max_pages;
	struct litepcie_descriptor *table = &end->table[place], direct;
	u32 count;
	int ret;

	lockdep_assert_held(&end->control);
	if (READ_ONCE(end->state) != LITEPCIE_STREAM_RUNNING)
		return -EAGAIN;
	ret = litepcie_request_map(&end->engine, req);
	if (ret)
		return ret;
	count = litepcie_stream_describe(table, req, flags);
	direct = *table;
	if (count > 1)
		litepcie_descriptor_encode(&direct, count, LITEPCIE_DESCRIPTOR_LINK, 0,
					   end->table_dma + place * sizeof(*table));
	direct.control |= cpu_to_le32(LITEPCIE_DESCRIPTOR_INTERRUPT);
	req->first = end->produced;
	ret = litepcie_stream_give_direct(end, &direct, slot);
	if (ret) {
		litepcie_request_unmap(&end->engine, req);
		return ret;
	}
	req->state = LITEPCIE_REQUEST_INFLIGHT;
	list_add_tail(&req->node, &end->posted);
	return 0;
}

/* Time until the kernel is asked again for a mapping. */
#define LITEPCIE_STREAM_REFUSED_MS	10

/**
 * litepcie_stream_post() - give the memory of a request to the card
 * @end: the direction, with its mutex use held
 * @req: the request, in no list
 * @slot: its bytes, and LITEPCIE_STREAM_SLOT_LAST if they end a packet for the card
 * @wait: whether to wait while the kernel has no room for the mapping, as a memory
 *	channel does
 *
 * Return: 0; -EAGAIN if the engine does not run; -ENOMEM; -ERESTARTSYS.
 */
static int litepcie_stream_post(struct litepcie_stream_end *end,
				struct litepcie_request *req, u32 slot, bool wait)
{
	unsigned long end_of_wait = jiffies + litepcie_timeout();
	int ret;

	for (;;) {
		mutex_lock(&end->control);
		ret = litepcie_stream_post_locked(end, req, slot);
		mutex_unlock(&end->control);
		if (!ret || ret == -EAGAIN)
			return ret;
		if (!wait || time_after(jiffies, end_of_wait))
			return -ENOMEM;
		if (msleep_interruptible(LITEPCIE_STREAM_REFUSED_MS))
			return -ERESTARTSYS;
	}
}

static bool litepcie_stream_has_ended(struct litepcie_stream_end *end,
				      const struct litepcie_request *req)
{
	return litepcie_stream_is_done(end, req) ||
	       READ_ONCE(end->state) != LITEPCIE_STREAM_RUNNING;
}

/* Would a reset lose nothing: is the card between two packets, with none in its RAM? */
static bool litepcie_stream_is_between(struct litepcie_stream_end *end)
{
	bool between;

	mutex_lock(&end->control);
	between = end->direction == LITEPCIE_FROM_CARD &&
		  READ_ONCE(end->state) == LITEPCIE_STREAM_RUNNING &&
		  !READ_ONCE(end->open) &&
		  !litepcie_stream_under_way(end);
	mutex_unlock(&end->control);
	return between;
}

/*
 * Waits until the card has ended a slot, or the engine does not run. After a signal,
 * what is under way may still come, for the time of litepcie_timeout(): a reset would
 * lose it. A signal that ends the program does not wait.
 */
static void litepcie_stream_await(struct litepcie_stream_end *end,
				  const struct litepcie_request *req)
{
	litepcie_stream_poll(end);
	if (wait_event_interruptible(end->wait, litepcie_stream_has_ended(end, req)) &&
	    !litepcie_stream_is_between(end))
		wait_event_killable_timeout(end->wait, litepcie_stream_has_ended(end, req),
					    litepcie_timeout());
}

/* Resets an engine that has memory of calls, and takes this back. */
static void litepcie_stream_revoke(struct litepcie_stream_end *end)
{
	bool lost = litepcie_stream_halt(end);

	if (READ_ONCE(end->state) == LITEPCIE_STREAM_RUNNING &&
	    (lost || READ_ONCE(end->open)))
		litepcie_stream_cut(end, LITEPCIE_STREAM_STOPPED, -ENODATA);
	else
		litepcie_stream_rest(end);
	litepcie_stream_unpost(end);
}

/*
 * Has the card ended the slot of a request, and with what? The lock orders the count
 * before the slot and before the data, which the interrupt handler saw in that order.
 */
static bool litepcie_stream_get_slot(struct litepcie_stream_end *end,
				     const struct litepcie_request *req, u32 *slot)
{
	bool done;

	spin_lock_irq(&end->lock);
	done = litepcie_stream_is_done(end, req);
	if (done)
		*slot = litepcie_stream_nth(end, req->first)->slot;
	spin_unlock_irq(&end->lock);
	return done;
}

/**
 * litepcie_stream_finish() - wait for a request, and end it
 * @end: the direction, with its mutex use held
 * @req: the request, which was posted; freed
 * @slot: set to what the card moved: bytes, and LITEPCIE_STREAM_SLOT_LAST and _CUT;
 *	only if there is no error
 *
 * Return: 0; the error of the direction, which stays for litepcie_stream_result();
 * -EFAULT; or -ERESTARTSYS: nothing was moved, and the engine was reset.
 */
static int litepcie_stream_finish(struct litepcie_stream_end *end,
				  struct litepcie_request *req, u32 *slot)
{
	size_t moved = 0;
	int error = 0;
	bool done;

	litepcie_stream_await(end, req);
	mutex_lock(&end->control);
	/* After an error, the reset ends what is outstanding. */
	if (!litepcie_stream_is_done(end, req))
		litepcie_stream_revoke(end);
	done = litepcie_stream_get_slot(end, req, slot);
	if (done) {
		moved = *slot & LITEPCIE_STREAM_SLOT_BYTES;
		if (end->direction == LITEPCIE_FROM_CARD)
			litepcie_stream_take(end, 1, 0);
	}
	/* Else a reset, an unbind or a bus error has taken it back. */
	if (req->state == LITEPCIE_REQUEST_INFLIGHT)
		litepcie_stream_take_back(end, req);
	mutex_unlock(&end->control);
	req->moved = moved;
	if (litepcie_request_finish(req, &error) < moved) {
		litepcie_stream_lose(end, moved);
		return -EFAULT;
	}
	return done ? 0 : litepcie_stream_fault(end) ?: -ERESTARTSYS;
}

/* Makes a request of the next bytes of a call. */
static struct litepcie_request *litepcie_stream_request(struct litepcie_stream_end *end,
							struct iov_iter *iter, size_t left)
{
	struct litepcie_source source = { .iter = iter };
	struct litepcie_request *req = litepcie_request_create(&end->flow, &source, left);

	if (!IS_ERR(req))
		INIT_LIST_HEAD(&req->node);
	return req;
}

/* Ends a request that was not posted. */
static void litepcie_stream_discard(struct litepcie_request *req)
{
	int error = 0;

	litepcie_request_finish(req, &error);
}

/* The card's logic cut a packet, and the bytes of the next one came with this news. */
static int litepcie_stream_drop_cut(struct litepcie_stream_end *end, u32 slot)
{
	mutex_lock(&end->control);
	litepcie_stream_lose(end, slot & LITEPCIE_STREAM_SLOT_BYTES);
	litepcie_stream_halt(end);
	litepcie_stream_rest(end);
	mutex_unlock(&end->control);
	return -ENODATA;
}

/**
 * litepcie_stream_read_direct() - take bytes of one packet into the program's memory
 * @end: the direction of a writer, with its mutex use held
 * @iter: the program's buffer, not empty
 * @wait: not used: the call waits
 *
 * Return: bytes, with their header, or a negative errno.
 */
ssize_t litepcie_stream_read_direct(struct litepcie_stream_end *end, struct iov_iter *iter,
				    bool wait)
{
	struct litepcie_stream_header header = { };
	struct iov_iter start = *iter;
	struct litepcie_request *req;
	size_t extra;
	u32 slot;
	int ret;

	extra = end->settings.mode & LITEPCIE_STREAM_HEADERS ? sizeof(header) : 0;
	if (iov_iter_count(iter) <= extra)
		return -EINVAL;
	/* Before the card moves anything: is there memory for the header? */
	if (extra && copy_to_iter(&header, extra, iter) != extra)
		return -EFAULT;
	do {
		ret = litepcie_stream_wait(end, true);
		if (ret)
			return litepcie_stream_result(end, ret);
		req = litepcie_stream_request(end, iter, iov_iter_count(iter));
		if (IS_ERR(req))
			return PTR_ERR(req);
		ret = litepcie_stream_post(end, req, req->bytes, true);
		if (ret) {
			*iter = req->iter;
			litepcie_stream_discard(req);
		}
	} while (ret == -EAGAIN);
	if (!ret)
		ret = litepcie_stream_finish(end, req, &slot);
	if (ret)
		return litepcie_stream_result(end, ret);
	if (slot & LITEPCIE_STREAM_SLOT_CUT)
		return litepcie_stream_drop_cut(end, slot);
	header.bytes = slot & LITEPCIE_STREAM_SLOT_BYTES;
	header.flags = slot & LITEPCIE_STREAM_SLOT_LAST ? 0 : LITEPCIE_STREAM_MORE;
	if (extra && copy_to_iter(&header, extra, &start) != extra) {
		litepcie_stream_lose(end, header.bytes);
		return -EFAULT;
	}
	return extra + header.bytes;
}

/**
 * struct litepcie_stream_posts - what a write() has posted
 * @reqs: its requests, oldest first
 * @count: their number
 * @left: bytes of the call that are not in a request yet
 * @given: bytes that the card has
 * @more: the packet goes on after the call
 */
struct litepcie_stream_posts {
	struct litepcie_request *reqs[LITEPCIE_STREAM_POSTS];
	unsigned int count;
	size_t left;
	size_t given;
	bool more;
};

/* Waits for the oldest request of a write(). */
static int litepcie_stream_finish_next(struct litepcie_stream_end *end,
				       struct litepcie_stream_posts *posts)
{
	struct litepcie_request *req = posts->reqs[0];
	u32 slot;
	int ret;

	posts->reqs[0] = posts->reqs[--posts->count];
	ret = litepcie_stream_finish(end, req, &slot);
	if (!ret)
		posts->given += slot & LITEPCIE_STREAM_SLOT_BYTES;
	return ret;
}

/* Posts the next bytes of a write(). */
static int litepcie_stream_post_next(struct litepcie_stream_end *end,
				     struct iov_iter *iter,
				     struct litepcie_stream_posts *posts)
{
	struct litepcie_request *req;
	u32 bytes, slot;
	int ret;

	req = litepcie_stream_request(end, iter, posts->left);
	if (IS_ERR(req))
		return PTR_ERR(req);
	bytes = req->bytes;
	slot = bytes;
	if (bytes == posts->left && !posts->more)
		slot |= LITEPCIE_STREAM_SLOT_LAST;
	ret = litepcie_stream_post(end, req, slot, !posts->count);
	/* The mapping of the request before may take the room for this one. */
	if (ret == -ENOMEM && posts->count) {
		ret = litepcie_stream_finish_next(end, posts);
		if (!ret)
			ret = litepcie_stream_post(end, req, slot, true);
	}
	if (ret) {
		litepcie_stream_discard(req);
		/* The engine has stopped meanwhile, and this says why. */
		return ret == -EAGAIN ? litepcie_stream_fault(end) ?: ret : ret;
	}
	posts->left -= bytes;
	posts->reqs[posts->count++] = req;
	return 0;
}

/**
 * litepcie_stream_write_direct() - give a packet from the program's memory
 * @end: the direction of a reader, with its mutex use held
 * @iter: the program's buffer, not empty
 * @wait: not used: the call waits
 *
 * Returns after the card has the bytes: the program may change them then.
 *
 * Return: bytes, with their header, or a negative errno.
 */
ssize_t litepcie_stream_write_direct(struct litepcie_stream_end *end, struct iov_iter *iter,
				     bool wait)
{
	struct litepcie_stream_posts posts = { };
	ssize_t extra;
	int ret, failed;

	extra = litepcie_stream_read_header(end, iter, &posts.more);
	if (extra < 0)
		return extra;
	posts.left = iov_iter_count(iter);
	ret = litepcie_stream_wait(end, true);
	while (!ret && posts.left) {
		ret = litepcie_stream_post_next(end, iter, &posts);
		if (!ret && posts.count == LITEPCIE_STREAM_POSTS)
			ret = litepcie_stream_finish_next(end, &posts);
		if (!ret && posts.left && signal_pending(current))
			ret = -ERESTARTSYS;
	}
	while (posts.count) {
		failed = litepcie_stream_finish_next(end, &posts);
		ret = ret ?: failed;
	}
	return posts.given ? extra + posts.given : litepcie_stream_result(end, ret);
}
