// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers of other devices, as dma-bufs: attached to the card by an open file, and
 * moves between them and the memory of the card.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/nospec.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "compat.h"
#include "driver.h"
#include "request.h"

/*
 * A buffer is mapped for the card once, when it is attached, and stays where it is
 * until it is detached: the card cannot wait for a buffer that moves. Caches are
 * the exporter's business, as for any dma-buf: a program that accesses the buffer
 * with the processor uses DMA_BUF_IOCTL_SYNC.
 *
 * The driver asks for memory of the system (a static attachment without
 * allow_peer2peer). An exporter that has the buffer in a PCI device moves it, or
 * refuses.
 */

MODULE_IMPORT_NS("DMA_BUF");

/* Undoes litepcie_dmabuf_connect(); litepcie_device.dmabufs_lock is held. */
static void litepcie_dmabuf_disconnect(struct litepcie_dmabuf *db)
{
	if (!db->sgt)
		return;
	dma_buf_unmap_attachment_unlocked(db->attach, db->sgt, db->dma);
	dma_buf_detach(db->dmabuf, db->attach);
	db->sgt = NULL;
}

static void litepcie_dmabuf_free(struct kref *ref)
{
	struct litepcie_dmabuf *db = container_of(ref, struct litepcie_dmabuf, ref);

	mutex_lock(&db->ld->dmabufs_lock);
	litepcie_dmabuf_disconnect(db);
	list_del(&db->node);
	mutex_unlock(&db->ld->dmabufs_lock);
	dma_buf_put(db->dmabuf);
	kfree(db);
}

/**
 * litepcie_dmabuf_put() - drop a reference; the last one detaches the buffer
 * @db: the buffer; may sleep
 */
static void litepcie_dmabuf_put(struct litepcie_dmabuf *db)
{
	kref_put(&db->ref, db->free);
}

/**
 * litepcie_dmabuf_get() - find a buffer
 * @lf: the open file
 * @handle: what the program calls it
 *
 * Return: the buffer, to be dropped with litepcie_dmabuf_put(); or NULL.
 */
static struct litepcie_dmabuf *litepcie_dmabuf_get(struct litepcie_file *lf, u32 handle)
{
	struct litepcie_dmabuf *db;

	xa_lock(&lf->dmabufs);
	db = xa_load(&lf->dmabufs, handle);
	if (db)
		kref_get(&db->ref);
	xa_unlock(&lf->dmabufs);
	return db;
}

/**
 * litepcie_dmabufs_disconnect() - detach all buffers from a card that goes
 * @ld: the device, drained: no request and no call uses a buffer
 *
 * The files keep their buffers, which no call can move any more.
 */
void litepcie_dmabufs_disconnect(struct litepcie_device *ld)
{
	struct litepcie_dmabuf *db;

	mutex_lock(&ld->dmabufs_lock);
	list_for_each_entry(db, &ld->dmabufs, node)
		litepcie_dmabuf_disconnect(db);
	mutex_unlock(&ld->dmabufs_lock);
}

/* Do the mapped parts cover the whole buffer? */
static bool litepcie_dmabuf_is_whole(struct litepcie_dmabuf *db, struct sg_table *sgt)
{
	struct scatterlist *sg;
	size_t bytes = 0;
	unsigned int i;

	for_each_sgtable_dma_sg(sgt, sg, i)
		bytes += sg_dma_len(sg);
	return bytes >= db->dmabuf->size;
}

/* Attaches and maps a buffer, inside litepcie_device.gate. */
static int litepcie_dmabuf_connect(struct litepcie_dmabuf *db)
{
	struct sg_table *sgt;
	int ret;

	if (READ_ONCE(db->ld->gone))
		return -ENODEV;
	db->attach = dma_buf_attach(db->dmabuf, &db->ld->pdev->dev);
	if (IS_ERR(db->attach))
		return PTR_ERR(db->attach);
	sgt = dma_buf_map_attachment_unlocked(db->attach, db->dma);
	if (IS_ERR(sgt)) {
		ret = PTR_ERR(sgt);
		/* The machine's resources: -EIO means an error of the card. */
		if (ret == -EIO)
			ret = -ENOMEM;
		goto err_detach;
	}
	if (!litepcie_dmabuf_is_whole(db, sgt)) {
		ret = -EINVAL;
		goto err_unmap;
	}
	mutex_lock(&db->ld->dmabufs_lock);
	db->sgt = sgt;
	list_add(&db->node, &db->ld->dmabufs);
	mutex_unlock(&db->ld->dmabufs_lock);
	return 0;

err_unmap:
	dma_buf_unmap_attachment_unlocked(db->attach, sgt, db->dma);
err_detach:
	dma_buf_detach(db->dmabuf, db->attach);
	return ret;
}

/* What the file may do, the card may do with the buffer. */
static enum dma_data_direction litepcie_dmabuf_direction(fmode_t mode)
{
	if (!(mode & FMODE_READ))
		return DMA_TO_DEVICE;
	return mode & FMODE_WRITE ? DMA_BIDIRECTIONAL : DMA_FROM_DEVICE;
}

/**
 * litepcie_dmabuf_attach() - LITEPCIE_IOC_DMABUF_ATTACH
 * @lf: the open file
 * @argument: struct litepcie_dmabuf_attach
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_dmabuf_attach(struct litepcie_file *lf, void *argument)
{
	struct litepcie_dmabuf_attach *arg = argument;
	struct litepcie_dmabuf *db;
	int idx, ret;

	if (memchr_inv(arg->reserved, 0, sizeof(arg->reserved)))
		return -EINVAL;
	db = kzalloc(sizeof(*db), GFP_KERNEL_ACCOUNT);
	if (!db)
		return -ENOMEM;
	kref_init(&db->ref);
	db->free = litepcie_dmabuf_free;
	db->ld = lf->ld;
	db->dma = litepcie_dmabuf_direction(lf->file->f_mode);
	db->dmabuf = dma_buf_get(arg->fd);
	if (IS_ERR(db->dmabuf)) {
		ret = PTR_ERR(db->dmabuf);
		goto err_free;
	}
	idx = srcu_read_lock(&lf->ld->gate);
	ret = litepcie_dmabuf_connect(db);
	srcu_read_unlock(&lf->ld->gate, idx);
	if (ret)
		goto err_put;
	arg->bytes = db->dmabuf->size;
	ret = xa_alloc(&lf->dmabufs, &arg->handle, db, XA_LIMIT(1, LITEPCIE_DMABUFS),
		       GFP_KERNEL_ACCOUNT);
	if (!ret)
		return 0;
	litepcie_dmabuf_put(db);
	return ret == -EBUSY ? -EMFILE : ret;

err_put:
	dma_buf_put(db->dmabuf);
err_free:
	kfree(db);
	return ret;
}

static int litepcie_dmabuf_drop(struct litepcie_file *lf, u32 handle)
{
	struct litepcie_dmabuf *db = xa_erase(&lf->dmabufs, handle);

	if (!db)
		return -ENOENT;
	litepcie_dmabuf_put(db);
	return 0;
}

/**
 * litepcie_dmabuf_undo() - detach a buffer whose handle its program did not get
 * @lf: the open file
 * @argument: struct litepcie_dmabuf_attach
 *
 * Return: 0, or -ENOENT if another thread has detached it.
 */
int litepcie_dmabuf_undo(struct litepcie_file *lf, void *argument)
{
	struct litepcie_dmabuf_attach *arg = argument;

	return litepcie_dmabuf_drop(lf, arg->handle);
}

/**
 * litepcie_dmabuf_detach() - LITEPCIE_IOC_DMABUF_DETACH
 * @lf: the open file
 * @argument: struct litepcie_dmabuf_detach
 *
 * Moves that have begun keep the buffer attached until their end.
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_dmabuf_detach(struct litepcie_file *lf, void *argument)
{
	struct litepcie_dmabuf_detach *arg = argument;

	return arg->reserved0 ? -EINVAL : litepcie_dmabuf_drop(lf, arg->handle);
}

/*
 * Moves between an attached dma-buf and the memory of the card. Each is a call
 * like read() or write(), with the same queues, limits and errors; only its memory
 * is another's. One that its program does not wait for has a ticket until somebody
 * waits for the ticket, or the file is closed.
 *
 * The card's access to the buffer begins after the fences of other devices. It
 * adds no fence: a program tells the others when a move has ended.
 */

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

/* Ends the moves of a file that is closed. */
static void litepcie_dmabuf_moves_release(struct litepcie_file *lf)
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

/**
 * litepcie_dmabufs_release() - end the moves of a file that is closed, detach its buffers
 * @lf: the open file
 *
 * Its processes have closed it, which cancelled what the card did not have.
 */
void litepcie_dmabufs_release(struct litepcie_file *lf)
{
	struct litepcie_dmabuf *db;
	unsigned long handle;

	litepcie_dmabuf_moves_release(lf);
	xa_for_each(&lf->dmabufs, handle, db)
		litepcie_dmabuf_put(db);
	xa_destroy(&lf->dmabufs);
}
