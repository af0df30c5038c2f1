// SPDX-License-Identifier: GPL-2.0-only
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
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/aio.h>
#include <linux/fs.h>
#include <linux/slab.h>

#include "compat.h"
#include "driver.h"
#include "request.h"

/*
 * Ends calls, of all cards. Unpinning may wait for a page that a file system
 * of a user has locked, so unbinding a card must not wait for this queue.
 */
static struct workqueue_struct *litepcie_async_queue;

/**
 * struct litepcie_async - an asynchronous call
 * @iocb: the call
 * @flow: queue of its open file
 * @work: ends the call
 * @pending: requests that have not ended, plus 1 until all are submitted
 * @held: its reservation
 * @error: negative errno if part of the buffer could not be submitted
 * @first: its requests, in the order of the buffer
 */
struct litepcie_async {
	struct kiocb *iocb;
	struct litepcie_flow *flow;
	struct work_struct work;
	atomic_t pending;
	size_t held;
	int error;
	struct litepcie_request *first;
};

static struct kmem_cache *litepcie_async_cache;

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
	litepcie_async_cache = KMEM_CACHE(litepcie_async, SLAB_ACCOUNT);
	if (!litepcie_async_cache)
		goto err_memory;
	litepcie_async_queue = alloc_workqueue(LITEPCIE_NAME, WQ_UNBOUND, 0);
	if (litepcie_async_queue)
		return 0;

	kmem_cache_destroy(litepcie_async_cache);
err_memory:
	litepcie_memory_exit();
	return -ENOMEM;
}

/**
 * litepcie_async_exit() - undo litepcie_async_init()
 */
void litepcie_async_exit(void)
{
	destroy_workqueue(litepcie_async_queue);
	kmem_cache_destroy(litepcie_async_cache);
	litepcie_memory_exit();
}

/* Ends a call in any context, unless one of its requests needs a process. */
static void litepcie_async_end(struct litepcie_async *async)
{
	struct litepcie_request *req = async->first, *next;
	struct litepcie_flow *flow = async->flow;
	struct kiocb *iocb = async->iocb;
	int error = 0, late, *first = &error;
	size_t moved = 0, bytes;

	for (; req; req = next) {
		next = req->next;
		bytes = litepcie_request_finish(req, first);
		/* Bytes after a gap do not count, nor do their errors. */
		if (first == &error)
			moved += bytes;
		if (error)
			first = &late;
	}
	if (!error)
		error = async->error;
	litepcie_flow_release(flow, async->held);
	iocb->ki_pos += moved;
	iocb->ki_complete(iocb, litepcie_transfer_result(iocb, flow, moved, error));
	/* Until here, io_cancel() could find it. */
	kmem_cache_free(litepcie_async_cache, async);
}

static void litepcie_async_work(struct work_struct *work)
{
	litepcie_async_end(container_of(work, struct litepcie_async, work));
}

static bool litepcie_async_may_sleep(struct litepcie_async *async)
{
	struct litepcie_request *req;

	for (req = async->first; req; req = req->next)
		if (litepcie_request_may_sleep(req))
			return true;
	return false;
}

/* Drops one count of litepcie_async.pending; the last one ends the call. */
static void litepcie_async_put(struct litepcie_async *async)
{
	if (!atomic_dec_and_test(&async->pending))
		return;
	if (litepcie_async_may_sleep(async))
		queue_work(litepcie_async_queue, &async->work);
	else
		litepcie_async_end(async);
}

/* litepcie_request.complete of an asynchronous call. */
static void litepcie_async_complete(struct litepcie_request *req)
{
	litepcie_async_put(req->context);
}

/* io_cancel(), or the end of the aio context. Called in atomic context. */
static int litepcie_async_cancel(struct kiocb *iocb)
{
	struct litepcie_async *async = iocb->private;
	struct litepcie_request *req;

	/* The requests exist until the last count is dropped. */
	if (!atomic_inc_not_zero(&async->pending))
		return 0;
	for (req = async->first; req; req = req->next)
		litepcie_cancel(req, -ECANCELED);
	/* The caller holds a lock that the end of the call takes. */
	if (atomic_dec_and_test(&async->pending))
		queue_work(litepcie_async_queue, &async->work);
	return 0;
}

/* A queued request exists, and so does its call. */
static bool litepcie_async_is(struct litepcie_request *req, const void *iocb)
{
	struct litepcie_async *async = req->context;

	return async && async->iocb == iocb;
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
bool litepcie_async_can(struct litepcie_flow *flow, struct kiocb *iocb,
			struct litepcie_source *source, size_t left)
{
	return !is_sync_kiocb(iocb) && left <= LITEPCIE_ASYNC_BYTES &&
	       (source->dmabuf ||
		litepcie_buffer_can_leave(flow->engine, source->iter, left));
}

/* Queues the requests of a call. */
static void litepcie_async_submit(struct litepcie_async *async,
				  struct litepcie_source *source, size_t left)
{
	struct litepcie_request *req, **last = &async->first;
	u32 endpoint = async->iocb->ki_pos;

	source->polled = async->iocb->ki_flags & IOCB_HIPRI && left <= LITEPCIE_LONG_BYTES;
	while (left) {
		atomic_inc(&async->pending);
		req = litepcie_submit(async->flow, source, endpoint, left,
				      litepcie_async_complete, async,
				      async->iocb->ki_filp);
		if (IS_ERR(req)) {
			atomic_dec(&async->pending);
			async->error = PTR_ERR(req);
			break;
		}
		*last = req;
		last = &req->next;
		endpoint += req->bytes;
		left -= req->bytes;
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
ssize_t litepcie_async(struct litepcie_flow *flow, struct kiocb *iocb,
		       struct litepcie_source *source, size_t left, bool wait)
{
	struct litepcie_async *async;
	int error;

	error = litepcie_flow_reserve(flow, left, wait);
	if (error)
		return error;
	async = kmem_cache_zalloc(litepcie_async_cache, GFP_KERNEL);
	if (!async) {
		error = -ENOMEM;
		goto err_release;
	}
	async->iocb = iocb;
	async->flow = flow;
	async->held = left;
	INIT_WORK(&async->work, litepcie_async_work);
	atomic_set(&async->pending, 1);
	litepcie_async_submit(async, source, left);
	if (!async->first) {
		error = async->error;
		kmem_cache_free(litepcie_async_cache, async);
		goto err_release;
	}
	iocb->private = async;
	/* Linux before 6.8 must not be asked for a call that is not of aio. */
	if (iocb->ki_flags & IOCB_AIO_RW)
		kiocb_set_cancel_fn(iocb, litepcie_async_cancel);
	litepcie_async_put(async);
	return -EIOCBQUEUED;

err_release:
	litepcie_flow_release(flow, left);
	return error;
}
