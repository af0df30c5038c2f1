/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffers in host memory for the card's user logic.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_HOSTBUF_H
#define _LITEPCIE_HOSTBUF_H

#include <linux/bits.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/types.h>

#include <linux/litepcie_hostbuf.h>

/*
 * Offsets for mmap(), after those of the window: a bit that says so, and the
 * number of the buffer. No buffer is larger than the distance of two.
 */
#define LITEPCIE_HOSTBUF_PAGE	((unsigned long)(BIT_ULL(41) >> PAGE_SHIFT))
#define LITEPCIE_HOSTBUF_STEP	((unsigned long)(SZ_256M >> PAGE_SHIFT))

struct litepcie_device;
struct litepcie_file;

/**
 * struct litepcie_hostbuf - a buffer that the card can have
 * @pages: its memory; NULL: there is no buffer
 * @dma: where the card finds it
 * @bytes: its size
 * @flags: LITEPCIE_HOSTBUF_*
 * @owner: the open file; NULL after it was closed, if the card may still access
 *	the memory
 * @given: the card has it
 */
struct litepcie_hostbuf {
	struct page *pages;
	dma_addr_t dma;
	u32 bytes;
	u32 flags;
	struct litepcie_file *owner;
	bool given;
};

/* hostbuf.c: memory, and the card's registers */
int litepcie_hostbuf_create(struct litepcie_file *lf, void *argument);
int litepcie_hostbuf_destroy(struct litepcie_file *lf, void *argument);
int litepcie_hostbuf_undo(struct litepcie_file *lf, void *argument);
void litepcie_hostbufs_release(struct litepcie_file *lf);
void litepcie_hostbufs_give(struct litepcie_device *ld);
void litepcie_hostbufs_take(struct litepcie_device *ld);
void litepcie_hostbufs_disconnect(struct litepcie_device *ld);
void litepcie_hostbufs_free(struct litepcie_device *ld);

/* hostbuf_map.c: mappings of programs */
bool litepcie_hostbuf_maps(const struct vm_area_struct *vma);
int litepcie_hostbuf_mmap(struct litepcie_file *lf, struct vm_area_struct *vma);

#endif /* _LITEPCIE_HOSTBUF_H */
