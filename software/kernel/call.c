// SPDX-License-Identifier: GPL-2.0-only
/*
 * A call that moves data: read(), write(), or a move of a dma-buf.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/fs.h>

#include "driver.h"
#include "request.h"

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
