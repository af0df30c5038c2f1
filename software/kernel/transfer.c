// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that move data, and how their requests enter and leave the queue of their open
 * file.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/aio.h>
#include <linux/blkdev.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat.h"
#include "driver.h"
#include "litepcie_trace.h"
#include "request.h"

/*
 * States of a request:
 *
 *	create ---> QUEUED ---> INFLIGHT ---> DONE ---> finish
 *	               |          |  ^          ^
 *	               |   reset  v  | replay   |
 *	               |         PENDING        |
 *	               `---- cancel --`---------'
 *
 * The lock of the pool protects the state. The caller's memory is touched only
 * before QUEUED and after DONE. A page that does not come therefore delays its
 * caller, and not unbinding.
 */

/*
 * A caller that submits several calls at once has a plug: aio and io_uring. Their
 * requests enter the ring together when the plug is pulled, with one doorbell.
 */
#ifdef CONFIG_BLOCK

struct litepcie_plug {
	struct blk_plug_cb cb;
	struct file *file;
};

/* Called at the end of the batch, or before the caller sleeps. */
static void litepcie_unplug(struct blk_plug_cb *cb, bool from_schedule)
{
	struct litepcie_plug *plug = container_of(cb, struct litepcie_plug, cb);
	struct litepcie_file *lf = plug->file->private_data;
	struct litepcie_pool *pool = cb->data;
	unsigned long flags;
	int idx;

	idx = srcu_read_lock(&lf->ld->gate);
	spin_lock_irqsave(&pool->lock, flags);
	litepcie_ring_feed(pool);
	spin_unlock_irqrestore(&pool->lock, flags);
	srcu_read_unlock(&lf->ld->gate, idx);
	fput(plug->file);
	kfree(plug);
}

/* Called with the lock of the pool, so the plug is not pulled before the return. */
static bool litepcie_plugged(struct litepcie_pool *pool, struct file *file)
{
	struct litepcie_plug *plug;
	struct blk_plug_cb *cb;

	if (!file)
		return false;
	cb = blk_check_plugged(litepcie_unplug, pool, sizeof(*plug));
	if (!cb)
		return false;
	plug = container_of(cb, struct litepcie_plug, cb);
	if (!plug->file)
		plug->file = get_file(file);
	return true;
}

#else

static bool litepcie_plugged(struct litepcie_pool *pool, struct file *file)
{
	return false;
}

#endif

/* Queues a request. */
static int litepcie_submit_request(struct litepcie_request *req, struct file *plugged)
{
	struct litepcie_engine *engine = req->flow->engine;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&engine->pool->lock, flags);
	ret = litepcie_pool_error(engine->pool);
	if (!ret) {
		trace_litepcie_submit(dev_name(&engine->ld->dev),
				      engine->direction == LITEPCIE_TO_CARD,
				      req->endpoint, req->bytes);
		litepcie_queue_add(req);
		if (!litepcie_plugged(engine->pool, plugged))
			litepcie_ring_feed(engine->pool);
	}
	spin_unlock_irqrestore(&engine->pool->lock, flags);
	return ret;
}

/**
 * litepcie_submit() - queue a request
 * @req: what litepcie_request_create() returned; its caller has a reservation. Freed
 *	on error
 * @endpoint: byte address in the memory of the card
 * @complete: litepcie_request.complete
 * @context: litepcie_request.context; NULL if the caller waits
 * @plugged: open file of a call that may wait for other calls of its batch; else
 *	NULL
 *
 * Return: 0: the request is to be ended with litepcie_request_finish() after
 * @complete was called; or a negative errno.
 */
static int litepcie_submit(struct litepcie_request *req, u32 endpoint,
			   void (*complete)(struct litepcie_request *req), void *context,
			   struct file *plugged)
{
	struct litepcie_device *ld = req->flow->engine->ld;
	int idx, ret;

	req->endpoint = endpoint;
	req->complete = complete;
	req->context = context;
	if (context)
		req->owner = current->files;
	init_completion(&req->done);

	/* The driver may have been unbound while the pages came. */
	idx = srcu_read_lock(&ld->gate);
	ret = READ_ONCE(ld->gone) ? -ENODEV : litepcie_submit_request(req, plugged);
	srcu_read_unlock(&ld->gate, idx);
	if (!ret)
		return 0;
	req->error = ret;
	litepcie_request_finish(req, &ret);
	return ret;
}

/* Moves a request that the card does not have to @done; false if it has it. */
static bool litepcie_cancel_locked(struct litepcie_request *req, int error,
				   struct list_head *done)
{
	if (req->state == LITEPCIE_REQUEST_QUEUED)
		litepcie_queue_remove(req);
	else if (req->state != LITEPCIE_REQUEST_PENDING)
		return false;
	req->state = LITEPCIE_REQUEST_DONE;
	req->error = error;
	trace_litepcie_complete(dev_name(&req->flow->engine->ld->dev),
				req->flow->engine->name, req->endpoint, req->bytes, 0,
				error);
	list_move_tail(&req->node, done);
	return true;
}

/**
 * litepcie_cancel() - end a request unless the card has it
 * @req: a submitted request that was not finished
 * @error: negative errno for the request
 *
 * May be called in atomic context. If the card has the request, the request
 * ends as if it was not cancelled.
 */
static void litepcie_cancel(struct litepcie_request *req, int error)
{
	struct litepcie_engine *engine = req->flow->engine;
	unsigned long flags;
	LIST_HEAD(done);
	int idx;

	/* While a request is queued, unbinding has not come to the gate. */
	idx = srcu_read_lock(&engine->ld->gate);
	spin_lock_irqsave(&engine->pool->lock, flags);
	litepcie_cancel_locked(req, error, &done);
	spin_unlock_irqrestore(&engine->pool->lock, flags);
	litepcie_ring_end(engine, &done);
	srcu_read_unlock(&engine->ld->gate, idx);
}

/**
 * litepcie_cancel_if() - end some of the queued requests of an open file
 * @flow: queue of the open file
 * @match: which; called with the lock of the pool
 * @data: for @match
 */
static void litepcie_cancel_if(struct litepcie_flow *flow,
			       bool (*match)(struct litepcie_request *req, const void *data),
			       const void *data)
{
	struct litepcie_engine *engine = flow->engine;
	struct litepcie_request *req, *next;
	LIST_HEAD(done);
	int idx;

	idx = srcu_read_lock(&engine->ld->gate);
	spin_lock_irq(&engine->pool->lock);
	list_for_each_entry_safe(req, next, &flow->queue, node)
		if (match(req, data))
			litepcie_cancel_locked(req, -ECANCELED, &done);
	spin_unlock_irq(&engine->pool->lock);
	litepcie_ring_end(engine, &done);
	srcu_read_unlock(&engine->ld->gate, idx);
}

static bool litepcie_is_of_owner(struct litepcie_request *req, const void *owner)
{
	return req->owner == owner;
}

/**
 * litepcie_cancel_owner() - end the queued asynchronous requests of a process
 * @lf: the open file
 * @owner: litepcie_request.owner, not NULL
 */
void litepcie_cancel_owner(struct litepcie_file *lf, fl_owner_t owner)
{
	unsigned int i;

	for (i = 0; i < LITEPCIE_DIRECTIONS; i++)
		if (lf->flows[i].engine->regs)
			litepcie_cancel_if(&lf->flows[i], litepcie_is_of_owner, owner);
}

/* Calls: those whose caller waits, and asynchronous ones. */

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
