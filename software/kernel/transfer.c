// SPDX-License-Identifier: GPL-2.0-only
/*
 * A call whose caller waits. It has two requests in flight, so that the pages
 * of the next request are pinned while the card moves the current one.
 *
 * A caller that is killed cancels the requests that the card does not have yet
 * and waits for the others: at most two of LITEPCIE_CHUNK_BYTES, and no longer
 * than the watchdog allows. Other signals are checked between requests.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/sched/signal.h>

#include "driver.h"
#include "request.h"

/**
 * litepcie_transfer_submit() - give the first part of a buffer to an engine
 * @engine: the engine
 * @iter: the buffer; advanced past the request, position undefined on error
 * @endpoint: byte address in the memory of the card
 * @left: bytes of the buffer to move, not 0
 * @complete: litepcie_request.complete
 * @context: litepcie_request.context
 *
 * Return: the request, to be ended with litepcie_request_finish() after
 * @complete was called; or an ERR_PTR().
 */
struct litepcie_request *
litepcie_transfer_submit(struct litepcie_engine *engine, struct iov_iter *iter,
			 u32 endpoint, size_t left,
			 void (*complete)(struct litepcie_request *req),
			 void *context)
{
	struct litepcie_request *req;
	int ret;

	req = litepcie_request_create(engine, iter, left);
	if (IS_ERR(req))
		return req;
	req->endpoint = endpoint;
	req->complete = complete;
	req->context = context;
	init_completion(&req->done);
	ret = litepcie_ring_submit(engine, req);
	if (!ret)
		return req;
	req->error = ret;
	litepcie_request_finish(engine, req, &ret);
	return ERR_PTR(ret);
}

/* litepcie_request.complete of a caller that waits. */
static void litepcie_transfer_wake(struct litepcie_request *req)
{
	complete(&req->done);
}

/* Waits; returns the bytes that landed. Sets @error if some did not. */
static size_t litepcie_transfer_end(struct litepcie_engine *engine,
				    struct litepcie_request *req, int *error)
{
	int ret;

	ret = wait_for_completion_killable(&req->done);
	if (ret) {
		if (litepcie_ring_cancel(engine, req))
			req->error = ret;
		else
			wait_for_completion(&req->done);
	}
	return litepcie_request_finish(engine, req, error);
}

/**
 * litepcie_transfer() - move a buffer and wait until all of it is moved
 * @engine: the engine of the direction
 * @iter: the buffer
 * @endpoint: byte address in the memory of the card
 * @left: bytes to move, not 0, all of them inside the card's memory
 * @error: set to 0, or to a negative errno if some bytes were not moved
 *
 * Return: bytes that were moved, without a gap from the start.
 */
size_t litepcie_transfer(struct litepcie_engine *engine, struct iov_iter *iter,
			 u32 endpoint, size_t left, int *error)
{
	struct litepcie_request *last = NULL, *next;
	struct iov_iter start = *iter;
	size_t moved = 0, bytes;
	int late;

	*error = 0;
	do {
		bool gap = *error;

		next = NULL;
		if (left && !gap) {
			if (last && task_sigpending(current))
				next = ERR_PTR(-ERESTARTSYS);
			else
				next = litepcie_transfer_submit(engine, iter,
								endpoint, left,
								litepcie_transfer_wake,
								NULL);
			if (IS_ERR(next)) {
				*error = PTR_ERR(next);
				next = NULL;
			} else {
				endpoint += next->bytes;
				left -= next->bytes;
			}
		}
		if (last) {
			/* Bytes after a gap do not count, nor do their errors. */
			bytes = litepcie_transfer_end(engine, last,
						      gap ? &late : error);
			if (!gap)
				moved += bytes;
		}
		last = next;
	} while (last);

	*iter = start;
	iov_iter_advance(iter, moved);
	return moved;
}

/**
 * litepcie_transfer_result() - return value of a call
 * @file: the file
 * @direction: LITEPCIE_READER or LITEPCIE_WRITER
 * @moved: bytes that were moved
 * @error: negative errno if some bytes were not moved, else 0
 *
 * A call that moved some bytes returns their number. If an error of the card
 * cut it short, the next call of that direction on the file returns the error.
 *
 * Return: @moved, or @error if that is 0.
 */
ssize_t litepcie_transfer_result(struct file *file, unsigned int direction,
				 size_t moved, int error)
{
	struct litepcie_file *lf = file->private_data;

	if (!moved)
		return error;
	if (error == -EIO || error == -ETIMEDOUT)
		WRITE_ONCE(lf->errors[direction], error);
	return moved;
}
