// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers of other devices, as dma-bufs: attached to the card by an open file.
 *
 * A buffer is mapped for the card once, when it is attached, and stays where it is
 * until it is detached: the card cannot wait for a buffer that moves. Caches are
 * the exporter's business, as for any dma-buf: a program that accesses the buffer
 * with the processor uses DMA_BUF_IOCTL_SYNC.
 *
 * The driver asks for memory of the system (a static attachment without
 * allow_peer2peer). An exporter that has the buffer in a PCI device moves it, or
 * refuses.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/dma-buf.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "compat.h"
#include "dmabuf.h"
#include "driver.h"

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
void litepcie_dmabuf_put(struct litepcie_dmabuf *db)
{
	kref_put(&db->ref, litepcie_dmabuf_free);
}

/**
 * litepcie_dmabuf_get() - find a buffer
 * @lf: the open file
 * @handle: what the program calls it
 *
 * Return: the buffer, to be dropped with litepcie_dmabuf_put(); or NULL.
 */
struct litepcie_dmabuf *litepcie_dmabuf_get(struct litepcie_file *lf, u32 handle)
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

/**
 * litepcie_dmabufs_release() - detach the buffers of a file that is closed
 * @lf: the open file, without moves
 */
void litepcie_dmabufs_release(struct litepcie_file *lf)
{
	struct litepcie_dmabuf *db;
	unsigned long handle;

	xa_for_each(&lf->dmabufs, handle, db)
		litepcie_dmabuf_put(db);
	xa_destroy(&lf->dmabufs);
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
