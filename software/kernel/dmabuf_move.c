// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moves between an attached dma-buf and the memory of the card. Each is a call
 * like read() or write(), with the same queues, limits and errors; only its memory
 * is another's. One that its program does not wait for has a ticket until somebody
 * waits for the ticket, or the file is closed.
 *
 * The card's access to the buffer begins after the fences of other devices. It
 * adds no fence: a program tells the others when a move has ended.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "dmabuf.h"
#include "driver.h"
#include "request.h"

/**
 * struct litepcie_move - a move whose program does not wait
 * @iocb: the call
 * @flow: queue of the open file
 * @db: the buffer
 * @done: the call has ended
 * @result: bytes that were moved, or negative errno
 * @claimed: somebody waits for it; the lock of litepcie_file.moves protects it
 */
struct litepcie_move {
	struct kiocb iocb;
	struct litepcie_flow *flow;
	struct litepcie_dmabuf *db;
	struct completion done;
	long result;
	bool claimed;
};

static void litepcie_move_free(struct litepcie_move *move)
{
	litepcie_dmabuf_put(move->db);
	kfree(move);
}

/* kiocb.ki_complete; in any context. */
static void litepcie_move_complete(struct kiocb *iocb, long result)
{
	struct litepcie_move *move = container_of(iocb, struct litepcie_move, iocb);

	move->result = result;
	complete(&move->done);
}

/* Waits until other devices have ended what the card must not meet. */
static int litepcie_dmabuf_fences(struct litepcie_dmabuf *db, bool writes, bool wait)
{
	enum dma_resv_usage usage = dma_resv_usage_rw(writes);
	long ret;

	if (dma_resv_test_signaled(db->dmabuf->resv, usage))
		return 0;
	if (!wait)
		return -EAGAIN;
	ret = dma_resv_wait_timeout(db->dmabuf->resv, usage, true, MAX_SCHEDULE_TIMEOUT);
	return min(ret, 0L);
}

/* A range of a buffer, or of the card's memory, or both, may be longer than they. */
static bool litepcie_range_fits(u64 offset, u64 bytes, u64 size)
{
	return offset <= size && bytes <= size - offset;
}

/* Starts a move without waiting for it; sets the ticket. */
static int litepcie_move_start(struct litepcie_file *lf, struct litepcie_dmabuf *db,
			       struct litepcie_dmabuf_move *arg)
{
	struct litepcie_source source = { .dmabuf = db, .offset = arg->offset };
	struct litepcie_move *move;
	ssize_t ret;

	move = kzalloc(sizeof(*move), GFP_KERNEL_ACCOUNT);
	if (!move)
		return -ENOMEM;
	move->flow = &lf->flows[arg->direction];
	move->db = db;
	move->claimed = true;	/* until the ticket is known */
	kref_get(&db->ref);
	init_completion(&move->done);
	move->iocb.ki_filp = lf->file;
	move->iocb.ki_pos = arg->card_offset;
	move->iocb.ki_complete = litepcie_move_complete;
	ret = xa_alloc(&lf->moves, &arg->ticket, move, XA_LIMIT(1, LITEPCIE_MOVES),
		       GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_free;
	ret = litepcie_move(&move->iocb, &source, move->flow, arg->bytes);
	if (ret != -EIOCBQUEUED)
		goto err_erase;
	xa_lock(&lf->moves);
	move->claimed = false;
	xa_unlock(&lf->moves);
	return 0;

err_erase:
	xa_erase(&lf->moves, arg->ticket);
	arg->ticket = 0;
err_free:
	litepcie_move_free(move);
	return ret;
}

/* Moves and waits; sets the bytes that were moved. */
static int litepcie_move_all(struct litepcie_file *lf, struct litepcie_dmabuf *db,
			     struct litepcie_dmabuf_move *arg)
{
	struct litepcie_source source = { .dmabuf = db, .offset = arg->offset };
	struct kiocb iocb;
	ssize_t moved;

	init_sync_kiocb(&iocb, lf->file);
	iocb.ki_flags = 0;
	iocb.ki_pos = arg->card_offset;
	moved = litepcie_move(&iocb, &source, &lf->flows[arg->direction], arg->bytes);
	if (moved < 0)
		return moved;
	arg->moved = moved;
	return 0;
}

/* What a move asks for, without its buffer. */
static int litepcie_move_check(struct litepcie_file *lf, struct litepcie_dmabuf_move *arg)
{
	fmode_t mode = arg->direction == LITEPCIE_FROM_CARD ? FMODE_READ : FMODE_WRITE;

	if (arg->reserved0 || memchr_inv(arg->reserved, 0, sizeof(arg->reserved)) ||
	    arg->direction >= LITEPCIE_DIRECTIONS ||
	    !litepcie_range_fits(arg->card_offset, arg->bytes, lf->ld->id.memory_bytes))
		return -EINVAL;
	if (arg->flags & LITEPCIE_DMABUF_ASYNC &&
	    (!arg->bytes || arg->bytes > LITEPCIE_ASYNC_BYTES))
		return -EINVAL;
	/* It is the index of a queue from here on. */
	arg->direction = array_index_nospec(arg->direction, LITEPCIE_DIRECTIONS);
	if (!(lf->file->f_mode & mode))
		return -EBADF;
	if (READ_ONCE(lf->ld->gone))
		return -ENODEV;
	return lf->flows[arg->direction].engine->regs ? 0 : -EOPNOTSUPP;
}

/**
 * litepcie_dmabuf_move() - LITEPCIE_IOC_DMABUF_MOVE
 * @lf: the open file
 * @argument: struct litepcie_dmabuf_move
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_dmabuf_move(struct litepcie_file *lf, void *argument)
{
	struct litepcie_dmabuf_move *arg = argument;
	struct litepcie_dmabuf *db;
	int ret;

	arg->moved = 0;
	arg->ticket = 0;
	ret = litepcie_move_check(lf, arg);
	if (ret)
		return ret;
	db = litepcie_dmabuf_get(lf, arg->handle);
	if (!db)
		return -ENOENT;
	ret = -EINVAL;
	if (!litepcie_range_fits(arg->offset, arg->bytes, db->dmabuf->size))
		goto put;
	ret = 0;
	if (!arg->bytes)
		goto put;
	ret = litepcie_dmabuf_fences(db, arg->direction == LITEPCIE_FROM_CARD,
				     !(lf->file->f_flags & O_NONBLOCK));
	if (ret)
		goto put;
	if (arg->flags & LITEPCIE_DMABUF_ASYNC)
		ret = litepcie_move_start(lf, db, arg);
	else
		ret = litepcie_move_all(lf, db, arg);
put:
	litepcie_dmabuf_put(db);
	return ret;
}

/* Makes the caller the one that waits for a move. */
static struct litepcie_move *litepcie_move_claim(struct litepcie_file *lf, u32 ticket)
{
	struct litepcie_move *move;

	xa_lock(&lf->moves);
	move = xa_load(&lf->moves, ticket);
	if (move && move->claimed)
		move = NULL;
	if (move)
		move->claimed = true;
	xa_unlock(&lf->moves);
	return move;
}

/**
 * litepcie_dmabuf_wait() - LITEPCIE_IOC_DMABUF_WAIT
 * @lf: the open file
 * @argument: struct litepcie_dmabuf_wait
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_dmabuf_wait(struct litepcie_file *lf, void *argument)
{
	struct litepcie_dmabuf_wait *arg = argument;
	struct litepcie_move *move;
	int ret = 0;

	if (arg->reserved0 || arg->reserved)
		return -EINVAL;
	move = litepcie_move_claim(lf, arg->ticket);
	if (!move)
		return -ENOENT;
	if (arg->flags & LITEPCIE_DMABUF_CANCEL)
		litepcie_async_stop(move->flow, &move->iocb);
	if (!(arg->flags & LITEPCIE_DMABUF_NOWAIT))
		ret = wait_for_completion_interruptible(&move->done);
	else if (!try_wait_for_completion(&move->done))
		ret = -EAGAIN;
	if (ret) {
		xa_lock(&lf->moves);
		move->claimed = false;
		xa_unlock(&lf->moves);
		return ret;
	}
	xa_erase(&lf->moves, arg->ticket);
	ret = min(move->result, 0L);
	arg->moved = max(move->result, 0L);
	litepcie_move_free(move);
	return ret;
}

/**
 * litepcie_dmabuf_forget() - end a move whose ticket its program did not get
 * @lf: the open file
 * @argument: struct litepcie_dmabuf_move
 *
 * Return: 0.
 */
int litepcie_dmabuf_forget(struct litepcie_file *lf, void *argument)
{
	struct litepcie_dmabuf_move *arg = argument;
	struct litepcie_move *move = litepcie_move_claim(lf, arg->ticket);

	if (!move)
		return 0;
	litepcie_async_stop(move->flow, &move->iocb);
	wait_for_completion(&move->done);
	xa_erase(&lf->moves, arg->ticket);
	litepcie_move_free(move);
	return 0;
}

/**
 * litepcie_dmabuf_moves_release() - end the moves of a file that is closed
 * @lf: the open file
 *
 * Its processes have closed it, which cancelled what the card did not have.
 */
void litepcie_dmabuf_moves_release(struct litepcie_file *lf)
{
	struct litepcie_move *move;
	unsigned long ticket;

	xa_for_each(&lf->moves, ticket, move) {
		litepcie_async_stop(move->flow, &move->iocb);
		wait_for_completion(&move->done);
		litepcie_move_free(move);
	}
	xa_destroy(&lf->moves);
}
