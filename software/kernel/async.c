// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asynchronous calls: aio and io_uring. All requests of such a call are given
 * to the engine at once. The last one that ends queues a worker, which unpins
 * the pages and completes the call.
 *
 * Only a contiguous buffer of at most LITEPCIE_ASYNC_BYTES is moved this way.
 * A buffer that must be copied needs the caller's address space, and a long one
 * would keep much memory pinned: those are moved while the caller waits.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/fs.h>
#include <linux/slab.h>

#include "driver.h"
#include "request.h"

/**
 * struct litepcie_async - an asynchronous call
 * @iocb: the call
 * @engine: the engine of its direction
 * @work: ends the call
 * @pending: requests that have not ended, plus 1 until all are submitted
 * @error: negative errno if part of the buffer could not be submitted
 * @count: number of requests
 * @requests: in the order of the buffer
 */
struct litepcie_async {
	struct kiocb *iocb;
	struct litepcie_engine *engine;
	struct work_struct work;
	atomic_t pending;
	int error;
	unsigned int count;
	struct litepcie_request *requests[];
};

static void litepcie_async_end(struct work_struct *work)
{
	struct litepcie_async *async =
		container_of(work, struct litepcie_async, work);
	unsigned int direction = async->engine->direction;
	struct litepcie_device *ld = async->engine->ld;
	struct kiocb *iocb = async->iocb;
	int error = 0, late, *first = &error;
	size_t moved = 0, bytes;
	unsigned int i;

	for (i = 0; i < async->count; i++) {
		bytes = litepcie_request_finish(async->engine, async->requests[i],
						first);
		/* Bytes after a gap do not count, nor do their errors. */
		if (first == &error)
			moved += bytes;
		if (error)
			first = &late;
	}
	if (!error)
		error = async->error;
	kfree(async);
	/* ki_complete() has not run yet, so the open file still holds ld. */
	if (atomic_dec_and_test(&ld->async_calls))
		wake_up(&ld->idle);
	iocb->ki_pos += moved;
	iocb->ki_complete(iocb, litepcie_transfer_result(iocb->ki_filp, direction,
							 moved, error));
}

/* Drops one count of litepcie_async.pending; the last one ends the call. */
static void litepcie_async_put(struct litepcie_async *async)
{
	if (atomic_dec_and_test(&async->pending))
		queue_work(async->engine->ld->queue, &async->work);
}

/* litepcie_request.complete of an asynchronous call. */
static void litepcie_async_complete(struct litepcie_request *req)
{
	litepcie_async_put(req->context);
}

/**
 * litepcie_async() - start to move a buffer and do not wait
 * @engine: the engine of the direction
 * @iocb: the call; its position is the byte address in the card's memory
 * @iter: the buffer
 * @left: bytes to move, not 0, all of them inside the card's memory
 *
 * Return: -EIOCBQUEUED if a worker will complete the call; -EAGAIN if this
 * buffer cannot be moved asynchronously; another negative errno if nothing was
 * moved.
 */
ssize_t litepcie_async(struct litepcie_engine *engine, struct kiocb *iocb,
		       struct iov_iter *iter, size_t left)
{
	u32 endpoint = iocb->ki_pos;
	struct litepcie_request *req;
	struct litepcie_async *async;
	unsigned int most;
	int error;

	if (is_sync_kiocb(iocb) || left > LITEPCIE_ASYNC_BYTES ||
	    !litepcie_request_can_pin(engine, iter, left))
		return -EAGAIN;

	/* Only the first request can begin inside a page: one more at most. */
	most = DIV_ROUND_UP(left, engine->max_pages * PAGE_SIZE) + 1;
	async = kzalloc(struct_size(async, requests, most), GFP_KERNEL);
	if (!async)
		return -ENOMEM;
	async->iocb = iocb;
	async->engine = engine;
	INIT_WORK(&async->work, litepcie_async_end);
	atomic_set(&async->pending, 1);

	while (left && async->count < most) {
		atomic_inc(&async->pending);
		req = litepcie_transfer_submit(engine, iter, endpoint, left,
					       litepcie_async_complete, async);
		if (IS_ERR(req)) {
			atomic_dec(&async->pending);
			async->error = PTR_ERR(req);
			break;
		}
		async->requests[async->count++] = req;
		endpoint += req->bytes;
		left -= req->bytes;
	}
	if (!async->count) {
		error = async->error;
		kfree(async);
		return error;
	}
	atomic_inc(&engine->ld->async_calls);
	litepcie_async_put(async);
	return -EIOCBQUEUED;
}
