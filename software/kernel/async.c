// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that are left behind: aio and io_uring. All requests of such a call are
 * given to the engine at once, the last one that ends sends for a worker, which
 * unpins the pages and tells the caller.
 *
 * Only for a buffer in one piece, and not too long, all of which is pinned: what
 * has to be copied needs the caller's address space, what is long would keep
 * much of its memory pinned. The others are moved while the caller waits.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/fs.h>
#include <linux/slab.h>

#include "driver.h"
#include "request.h"

/**
 * struct litepcie_async - a call that is left behind
 * @iocb: the call
 * @engine: the engine of its direction
 * @work: ends it
 * @pending: requests that have not ended, and one until all are begun
 * @error: negative errno, if not all of the buffer could be given
 * @count: how many requests there are
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
		/* What is behind a gap does not count, nor its error. */
		if (first == &error)
			moved += bytes;
		if (error)
			first = &late;
	}
	if (!error)
		error = async->error;
	kfree(async);
	/* The file is open until ki_complete(): there is still an ld to wake. */
	if (atomic_dec_and_test(&ld->async_calls))
		wake_up(&ld->idle);
	iocb->ki_pos += moved;
	iocb->ki_complete(iocb, litepcie_transfer_result(iocb->ki_filp, direction,
							 moved, error));
}

/* Drops one count of @pending; the last one ends the call. */
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
 * litepcie_async() - move a buffer, and do not wait until it is moved
 * @engine: the engine of the direction
 * @iocb: the call, with the byte address in the memory of the card
 * @iter: the buffer
 * @left: bytes to move, not 0, all of them in the memory of the card
 *
 * Return: -EIOCBQUEUED if the call will be completed; -EAGAIN if it must be
 * waited for; other negative errno if nothing was moved.
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

	/* The first request may begin within a page, the others do not. */
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
