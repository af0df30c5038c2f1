// SPDX-License-Identifier: GPL-2.0-only
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
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/sched/signal.h>
#include <linux/uio.h>
#include <linux/wait.h>

#include "driver.h"
#include "stream.h"

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
