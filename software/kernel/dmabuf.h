/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of other devices that open files have attached to the card.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_DMABUF_H
#define _LITEPCIE_DMABUF_H

#include <linux/dma-direction.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/types.h>

struct dma_buf;
struct dma_buf_attachment;
struct litepcie_device;
struct litepcie_engine;
struct litepcie_file;
struct litepcie_request;
struct litepcie_source;
struct sg_table;

#define LITEPCIE_DMABUFS	64	/* attached to an open file, at most */
#define LITEPCIE_MOVES		256	/* of an open file that nobody waited for */

/**
 * struct litepcie_dmabuf - a dma-buf that is attached to the card
 * @ref: one of the open file's table, one of each move
 * @ld: the device
 * @node: in litepcie_device.dmabufs
 * @dmabuf: the buffer
 * @dma: directions that it is mapped for
 * @attach: the card's attachment
 * @sgt: where the card finds the memory; NULL after the driver was unbound. Only
 *	valid inside litepcie_device.gate
 */
struct litepcie_dmabuf {
	struct kref ref;
	struct litepcie_device *ld;
	struct list_head node;
	struct dma_buf *dmabuf;
	enum dma_data_direction dma;
	struct dma_buf_attachment *attach;
	struct sg_table *sgt;
};

/* dmabuf.c: attached buffers */
struct litepcie_dmabuf *litepcie_dmabuf_get(struct litepcie_file *lf, u32 handle);
void litepcie_dmabuf_put(struct litepcie_dmabuf *db);
void litepcie_dmabufs_disconnect(struct litepcie_device *ld);
void litepcie_dmabufs_release(struct litepcie_file *lf);
int litepcie_dmabuf_attach(struct litepcie_file *lf, void *argument);
int litepcie_dmabuf_undo(struct litepcie_file *lf, void *argument);
int litepcie_dmabuf_detach(struct litepcie_file *lf, void *argument);

/* dmabuf_move.c: moves between a buffer and the memory of the card */
int litepcie_dmabuf_move(struct litepcie_file *lf, void *argument);
int litepcie_dmabuf_wait(struct litepcie_file *lf, void *argument);
int litepcie_dmabuf_forget(struct litepcie_file *lf, void *argument);
void litepcie_dmabuf_moves_release(struct litepcie_file *lf);

#endif /* _LITEPCIE_DMABUF_H */
