// SPDX-License-Identifier: GPL-2.0-only
/*
 * A call whose caller waits. It has up to two requests, so that the pages of
 * the next request are pinned while the card moves the current one.
 *
 * A signal ends the call: requests that the card does not have are cancelled.
 * Those that it has, at most LITEPCIE_COMMIT_BYTES, end first, no later than the
 * watchdog allows.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/minmax.h>
#include <linux/sched/signal.h>

#include "driver.h"
#include "request.h"

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
size_t litepcie_transfer(struct litepcie_flow *flow, struct litepcie_source *source,
			 u32 endpoint, size_t left, bool wait, int *error)
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
ssize_t litepcie_transfer_result(struct kiocb *iocb, struct litepcie_flow *flow,
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
int litepcie_transfer_lost(struct kiocb *iocb, struct litepcie_flow *flow)
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
