// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that move data: those whose caller waits, and asynchronous ones.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/aio.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat.h"
#include "driver.h"
#include "request.h"

/*
 * A call whose caller waits. It has up to two requests, so that the pages of
 * the next request are pinned while the card moves the current one.
 *
 * A signal ends the call: requests that the card does not have are cancelled.
 * Those that it has, at most LITEPCIE_COMMIT_BYTES, end first, no later than the
 * watchdog allows.
 */

/* litepcie_request.complete of a caller that waits. */
static void litepcie_transfer_wake(struct litepcie_request *req)
{
	complete(&req->done);
}

/* Reserves room for the next request and queues it. */
static struct litepcie_request *litepcie_transfer_next(struct litepcie_flow *flow,
						       struct litepcie_source *source,
						       u32 endpoint, size_t left,
						       bool wait)
{
	size_t held = min_t(size_t, left, LITEPCIE_CHUNK_BYTES);
	struct litepcie_request *req;
	int ret;

	ret = litepcie_flow_reserve(flow, held, wait);
	if (ret)
		return ERR_PTR(ret);
	req = litepcie_request_create(flow, source, left);
	ret = PTR_ERR_OR_ZERO(req);
	if (!ret)
		ret = litepcie_submit(req, endpoint, litepcie_transfer_wake, NULL, NULL);
	if (ret) {
		litepcie_flow_release(flow, held);
		return ERR_PTR(ret);
	}
	req->held = held;
	return req;
}

/* Waits; returns the bytes that landed. Sets @error if some did not. */
static size_t litepcie_transfer_end(struct litepcie_request *req, bool cancel,
				    int *error)
{
	int ret = -ECANCELED;

	if (!cancel)
		ret = wait_for_completion_interruptible(&req->done);
	if (ret) {
		litepcie_cancel(req, ret);
		wait_for_completion(&req->done);
	}
	return litepcie_request_finish(req, error);
}

/**
 * litepcie_transfer() - move a buffer and wait until all of it is moved
 * @flow: queue of the open file
 * @source: the buffer
 * @endpoint: byte address in the memory of the card
 * @left: bytes to move, not 0, all of them inside the card's memory
 * @wait: whether to wait for room in the queue
 * @error: set to 0, or to a negative errno if some bytes were not moved
 *
 * Return: bytes that were moved, without a gap from the start.
 */
static size_t litepcie_transfer(struct litepcie_flow *flow,
				struct litepcie_source *source, u32 endpoint,
				size_t left, bool wait, int *error)
{
	struct litepcie_request *last = NULL, *next;
	struct iov_iter start = { };
	size_t moved = 0, bytes;
	int late;

	*error = 0;
	if (source->iter)
		start = *source->iter;
	do {
		bool gap = *error;

		next = NULL;
		if (left && !gap) {
			/* A caller with a request must not wait for room: it has room. */
			if (last && signal_pending(current))
				next = ERR_PTR(-ERESTARTSYS);
			else
				next = litepcie_transfer_next(flow, source, endpoint, left,
							      wait && !last);
			if (!IS_ERR(next)) {
				endpoint += next->bytes;
				left -= next->bytes;
			} else {
				if (!last || PTR_ERR(next) != -EAGAIN)
					*error = PTR_ERR(next);
				next = NULL;
			}
		}
		if (last) {
			/* Bytes after a gap do not count, nor do their errors. */
			bytes = litepcie_transfer_end(last, gap, gap ? &late : error);
			if (!gap)
				moved += bytes;
		}
		last = next;
	} while (last || (left && !*error));

	if (source->iter) {
		*source->iter = start;
		iov_iter_advance(source->iter, moved);
	}
	return moved;
}

/**
 * litepcie_transfer_result() - return value of a call
 * @iocb: the call; its position is behind the bytes that were moved
 * @flow: queue of the open file
 * @moved: bytes that were moved
 * @error: negative errno if some bytes were not moved, else 0
 *
 * A call that moved some bytes returns their number. If an error of the card
 * cut it short, the next call of that direction on the file returns the error
 * if it continues at this position. Any other call has nothing to do with the
 * error, and the error is then forgotten: litepcie_transfer_lost().
 *
 * Return: @moved, or @error if that is 0.
 */
static ssize_t litepcie_transfer_result(struct kiocb *iocb, struct litepcie_flow *flow,
					size_t moved, int error)
{
	struct litepcie_file *lf = iocb->ki_filp->private_data;
	struct litepcie_lost *lost = &lf->lost[flow->engine->direction];
	unsigned long flags;

	if (!moved)
		return error;
	if (error == -EIO || error == -ETIMEDOUT) {
		spin_lock_irqsave(&lf->lock, flags);
		lost->position = iocb->ki_pos;
		lost->error = error;
		spin_unlock_irqrestore(&lf->lock, flags);
	}
	return moved;
}

/**
 * litepcie_transfer_lost() - error that cut the last call short
 * @iocb: a new call
 * @flow: queue of the open file
 *
 * Return: the negative errno if this call continues where bytes were lost,
 * else 0.
 */
static int litepcie_transfer_lost(struct kiocb *iocb, struct litepcie_flow *flow)
{
	struct litepcie_file *lf = iocb->ki_filp->private_data;
	struct litepcie_lost *lost = &lf->lost[flow->engine->direction];
	int error;

	/* An error is written only where bytes are lost, which is rare. */
	if (!READ_ONCE(lost->error))
		return 0;
	spin_lock_irq(&lf->lock);
	error = lost->position == iocb->ki_pos ? lost->error : 0;
	lost->error = 0;
	spin_unlock_irq(&lf->lock);
	return error;
}

/*
 * Asynchronous calls: aio and io_uring. All requests of such a call are queued
 * at once. The last one that ends also ends the call, in the interrupt if it can.
 * If pages must be marked dirty, which may sleep, a worker ends it: so it is when
 * a program reads into memory of which nothing is dirty yet.
 *
 * Only a buffer of at most LITEPCIE_ASYNC_BYTES is moved this way, as a longer one
 * would keep much memory pinned. A buffer to which data must be copied needs the
 * caller's address space. Those are moved while the caller waits.
 *
 * Requests that the card does not have are cancelled by io_cancel(), by
 * LITEPCIE_IOC_CANCEL and by the exit of the process.
 */

/*
 * Ends calls, of all cards. Unpinning may wait for a page that a file system
 * of a user has locked, so unbinding a card must not wait for this queue.
 */
static struct workqueue_struct *litepcie_async_queue;

/**
 * litepcie_async_init() - prepare for calls of any card
 *
 * Return: 0 or -ENOMEM.
 */
int litepcie_async_init(void)
{
	int ret;

	ret = litepcie_memory_init();
	if (ret)
		return ret;
	litepcie_async_queue = alloc_workqueue(LITEPCIE_NAME, WQ_UNBOUND, 0);
	if (litepcie_async_queue)
		return 0;
	litepcie_memory_exit();
	return -ENOMEM;
}

/**
 * litepcie_async_exit() - undo litepcie_async_init()
 */
void litepcie_async_exit(void)
{
	destroy_workqueue(litepcie_async_queue);
	litepcie_memory_exit();
}

/* Ends a call in any context, unless one of its requests needs a process. */
static void litepcie_async_end(struct litepcie_request *first)
{
	struct litepcie_flow *flow = first->flow;
	struct kiocb *iocb = first->async.iocb;
	struct litepcie_request *req, *next;
	int error = 0, late, *here = &error;
	size_t moved = 0, bytes;

	for (req = first; req; req = next) {
		next = req->next;
		bytes = litepcie_request_finish(req, here);
		/* Bytes after a gap do not count, nor do their errors. */
		if (here == &error)
			moved += bytes;
		if (error)
			here = &late;
	}
	if (!error)
		error = first->async.error;
	litepcie_flow_release(flow, first->async.held);
	iocb->ki_pos += moved;
	iocb->ki_complete(iocb, litepcie_transfer_result(iocb, flow, moved, error));
	/* Until here, io_cancel() could find it. */
	litepcie_request_put(first);
}

static void litepcie_async_work(struct work_struct *work)
{
	litepcie_async_end(container_of(work, struct litepcie_request, async.work));
}

static bool litepcie_async_may_sleep(struct litepcie_request *first)
{
	struct litepcie_request *req;

	for (req = first; req; req = req->next)
		if (litepcie_request_may_sleep(req))
			return true;
	return false;
}

/* Drops one count of litepcie_async.pending; the last one ends the call. */
static void litepcie_async_put(struct litepcie_request *first)
{
	if (!atomic_dec_and_test(&first->async.pending))
		return;
	if (litepcie_async_may_sleep(first))
		queue_work(litepcie_async_queue, &first->async.work);
	else
		litepcie_async_end(first);
}

/* litepcie_request.complete of an asynchronous call. */
static void litepcie_async_complete(struct litepcie_request *req)
{
	litepcie_async_put(req->context);
}

/* io_cancel(), or the end of the aio context. Called in atomic context. */
static int litepcie_async_cancel(struct kiocb *iocb)
{
	struct litepcie_request *first = iocb->private, *req;

	/* The requests exist until the last count is dropped. */
	if (!atomic_inc_not_zero(&first->async.pending))
		return 0;
	for (req = first; req; req = req->next)
		litepcie_cancel(req, -ECANCELED);
	/* The caller holds a lock that the end of the call takes. */
	if (atomic_dec_and_test(&first->async.pending))
		queue_work(litepcie_async_queue, &first->async.work);
	return 0;
}

/* A queued request exists, and so does its call. */
static bool litepcie_async_is(struct litepcie_request *req, const void *iocb)
{
	struct litepcie_request *first = req->context;

	return first && first->async.iocb == iocb;
}

/**
 * litepcie_async_stop() - cancel what the card does not have of a call
 * @flow: queue of the open file
 * @iocb: the call, which may have ended
 */
void litepcie_async_stop(struct litepcie_flow *flow, const struct kiocb *iocb)
{
	litepcie_cancel_if(flow, litepcie_async_is, iocb);
}

/**
 * litepcie_async_can() - may a call be asynchronous
 * @flow: queue of the open file
 * @iocb: the call
 * @source: the buffer
 * @left: bytes to move
 *
 * Return: true if litepcie_async() can move the buffer.
 */
static bool litepcie_async_can(struct litepcie_flow *flow, struct kiocb *iocb,
			       struct litepcie_source *source, size_t left)
{
	return !is_sync_kiocb(iocb) && left <= LITEPCIE_ASYNC_BYTES &&
	       (source->dmabuf ||
		litepcie_buffer_can_leave(flow->engine, source->iter, left));
}

/* Makes the first request of a call, which has the call inside. */
static struct litepcie_request *litepcie_async_first(struct litepcie_flow *flow,
						     struct kiocb *iocb,
						     struct litepcie_source *source,
						     size_t left)
{
	struct litepcie_request *first = litepcie_request_create(flow, source, left);

	if (IS_ERR(first))
		return first;
	refcount_inc(&first->refs);
	first->async.iocb = iocb;
	first->async.held = left;
	INIT_WORK(&first->async.work, litepcie_async_work);
	atomic_set(&first->async.pending, 1);
	return first;
}

/* Queues a request of a call. */
static int litepcie_async_submit(struct litepcie_request *first,
				 struct litepcie_request *req, u32 endpoint)
{
	struct litepcie_async *async = &first->async;
	int ret;

	req->polled = async->iocb->ki_flags & IOCB_HIPRI &&
		      async->held <= LITEPCIE_LONG_BYTES;
	atomic_inc(&async->pending);
	ret = litepcie_submit(req, endpoint, litepcie_async_complete, first,
			      async->iocb->ki_filp);
	if (ret)
		atomic_dec(&async->pending);
	return ret;
}

/* Makes and queues the requests of a call after the first. */
static void litepcie_async_rest(struct litepcie_request *first,
				struct litepcie_source *source, u32 endpoint, size_t left)
{
	struct litepcie_request *req, **last = &first->next;
	size_t bytes;
	int error;

	while (left) {
		req = litepcie_request_create(first->flow, source, left);
		error = PTR_ERR_OR_ZERO(req);
		if (!error) {
			bytes = req->bytes;
			error = litepcie_async_submit(first, req, endpoint);
		}
		if (error) {
			first->async.error = error;
			break;
		}
		*last = req;
		last = &req->next;
		endpoint += bytes;
		left -= bytes;
	}
}

/**
 * litepcie_async() - start to move a buffer and do not wait for the card
 * @flow: queue of the open file
 * @iocb: the call; its position is the byte address in the card's memory
 * @source: the buffer
 * @left: bytes to move, not 0, all of them inside the card's memory
 * @wait: whether to wait for room in the queue
 *
 * Return: -EIOCBQUEUED if a worker will complete the call; another negative
 * errno if nothing was moved.
 */
static ssize_t litepcie_async(struct litepcie_flow *flow, struct kiocb *iocb,
			      struct litepcie_source *source, size_t left, bool wait)
{
	struct litepcie_request *first;
	size_t bytes;
	int error;

	error = litepcie_flow_reserve(flow, left, wait);
	if (error)
		return error;
	first = litepcie_async_first(flow, iocb, source, left);
	error = PTR_ERR_OR_ZERO(first);
	if (error)
		goto err_release;
	bytes = first->bytes;
	error = litepcie_async_submit(first, first, iocb->ki_pos);
	if (error)
		goto err_put;
	litepcie_async_rest(first, source, iocb->ki_pos + bytes, left - bytes);
	iocb->private = first;
	/* Linux before 6.8 must not be asked for a call that is not of aio. */
	if (iocb->ki_flags & IOCB_AIO_RW)
		kiocb_set_cancel_fn(iocb, litepcie_async_cancel);
	litepcie_async_put(first);
	return -EIOCBQUEUED;

err_put:
	litepcie_request_put(first);
err_release:
	litepcie_flow_release(flow, left);
	return error;
}

/* A call that moves data: read(), write(), or a move of a dma-buf. */

/**
 * litepcie_move() - move the memory of a call
 * @iocb: the call; its position is inside the card's memory
 * @source: its memory
 * @flow: queue of the open file
 * @bytes: bytes to move, not 0, all of them inside the card's memory
 *
 * O_NONBLOCK means what it means for direct I/O on a disk: the call does not
 * wait for room in the queue, behind other calls. It does wait for its own
 * transfer, unless it is asynchronous.
 *
 * RWF_NOWAIT forbids that too: a call that is not asynchronous returns -EAGAIN.
 * io_uring then repeats it from a worker thread, which may wait.
 *
 * Return: bytes that were moved, -EIOCBQUEUED, or another negative errno.
 */
ssize_t litepcie_move(struct kiocb *iocb, struct litepcie_source *source,
		      struct litepcie_flow *flow, size_t bytes)
{
	bool nowait = iocb->ki_flags & IOCB_NOWAIT;
	bool wait = !nowait && !(iocb->ki_filp->f_flags & O_NONBLOCK);
	size_t moved;
	int error;

	error = litepcie_transfer_lost(iocb, flow);
	if (error)
		return error;
	if (litepcie_async_can(flow, iocb, source, bytes))
		return litepcie_async(flow, iocb, source, bytes, wait);
	if (nowait)
		return -EAGAIN;
	moved = litepcie_transfer(flow, source, iocb->ki_pos, bytes, wait, &error);
	iocb->ki_pos += moved;
	return litepcie_transfer_result(iocb, flow, moved, error);
}
