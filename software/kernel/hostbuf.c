// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers in host memory that the card's user logic reads and writes by itself.
 *
 * Memory is freed only when the card cannot reach it: after the card no longer
 * has the buffer and no access to it is under way, or after bus mastering was
 * switched off.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/cc_platform.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/iopoll.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/pgtable.h>
#include <linux/string.h>

#include "compat.h"
#include "driver.h"

static unsigned int litepcie_hostbuf_number(struct litepcie_hostbuf *hb,
					    struct litepcie_device *ld)
{
	return hb - ld->hostbufs;
}

/* Gives the buffer to the card, which is there and does not have it. */
static void litepcie_hostbuf_give(struct litepcie_device *ld, struct litepcie_hostbuf *hb)
{
	u32 set = litepcie_hostbuf_number(hb, ld);

	if (hb->flags & LITEPCIE_HOSTBUF_READ)
		set |= LITEPCIE_HOST_SET_READ;
	if (hb->flags & LITEPCIE_HOSTBUF_WRITE)
		set |= LITEPCIE_HOST_SET_WRITE;
	writel(lower_32_bits(hb->dma), ld->regs + LITEPCIE_HOST_BASE_LO);
	writel(upper_32_bits(hb->dma), ld->regs + LITEPCIE_HOST_BASE_HI);
	writel(hb->bytes, ld->regs + LITEPCIE_HOST_SIZE);
	writel(set, ld->regs + LITEPCIE_HOST_SET);
	hb->given = true;
}

/*
 * Takes the buffer from the card and waits for the end of the access that it may
 * have begun. The read of BUSY comes back after the card's earlier writes. All ones
 * say nothing about the access.
 */
static int litepcie_hostbuf_take(struct litepcie_device *ld, struct litepcie_hostbuf *hb)
{
	u32 bit = BIT(litepcie_hostbuf_number(hb, ld));
	u32 busy;
	int ret;

	if (!hb->given)
		return 0;
	writel(bit, ld->regs + LITEPCIE_HOST_CLEAR);
	ret = readl_poll_timeout(ld->regs + LITEPCIE_HOST_BUSY, busy,
				 busy == ~0U || !(busy & bit), 10,
				 litepcie_patience_us(ld));
	if (busy == ~0U) {
		litepcie_card_fail(ld, -ENODEV);
		return -ENODEV;
	}
	if (ret) {
		WRITE_ONCE(ld->stuck, true);
		dev_err(&ld->dev, "the card does not end an access to host buffer %u\n",
			litepcie_hostbuf_number(hb, ld));
		return -EIO;
	}
	hb->given = false;
	return 0;
}

static u64 litepcie_hostbuf_offset(struct litepcie_hostbuf *hb, struct litepcie_device *ld)
{
	u64 page = LITEPCIE_HOSTBUF_PAGE +
		   litepcie_hostbuf_number(hb, ld) * LITEPCIE_HOSTBUF_STEP;

	return page << PAGE_SHIFT;
}

/* Removes the mapped pages and frees the memory, which the card does not have. */
static void litepcie_hostbuf_free(struct litepcie_device *ld, struct litepcie_hostbuf *hb)
{
	if (hb->owner)
		unmap_mapping_range(hb->owner->file->f_mapping,
				    litepcie_hostbuf_offset(hb, ld), hb->bytes, 1);
	dma_free_pages(&ld->pdev->dev, hb->bytes, hb->pages, hb->dma, DMA_BIDIRECTIONAL);
	memset(hb, 0, sizeof(*hb));
}

/*
 * Takes and frees the buffer of an open file. If that fails, the memory stays until
 * the card is quiet. A card that calls must not access is not accessed here either.
 */
static int litepcie_hostbuf_end(struct litepcie_device *ld, struct litepcie_hostbuf *hb)
{
	int ret = hb->given ? litepcie_card_error(ld) : 0;

	if (!ret)
		ret = litepcie_hostbuf_take(ld, hb);
	if (!ret) {
		litepcie_hostbuf_free(ld, hb);
		return 0;
	}
	unmap_mapping_range(hb->owner->file->f_mapping, litepcie_hostbuf_offset(hb, ld),
			    hb->bytes, 1);
	hb->owner = NULL;
	return ret;
}

static struct litepcie_hostbuf *litepcie_hostbuf_unused(struct litepcie_device *ld)
{
	unsigned int i;

	for (i = 0; i < ld->id.host_buffers; i++)
		if (!ld->hostbufs[i].pages)
			return &ld->hostbufs[i];
	return NULL;
}

static int litepcie_hostbuf_alloc(struct litepcie_device *ld, struct litepcie_hostbuf *hb,
				  size_t bytes)
{
	struct device *dma = &ld->pdev->dev;

	/* Card and program access the memory at the same time. */
	if (!ld->coherent)
		return -EOPNOTSUPP;
	hb->pages = dma_alloc_pages(dma, bytes, &hb->dma, DMA_BIDIRECTIONAL,
				    GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!hb->pages)
		return -ENOMEM;
	/* It is valid, but CONFIG_DMA_API_DEBUG asks whether anybody has looked. */
	if (dma_mapping_error(dma, hb->dma)) {
		dma_free_pages(dma, bytes, hb->pages, hb->dma, DMA_BIDIRECTIONAL);
		hb->pages = NULL;
		return -ENOMEM;
	}
	hb->bytes = bytes;
	return 0;
}

/**
 * litepcie_hostbuf_create() - allocate a buffer and give it to the card
 * @lf: the open file
 * @argument: struct litepcie_hostbuf_create
 *
 * Called while the card is there and stays.
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_hostbuf_create(struct litepcie_file *lf, void *argument)
{
	struct litepcie_hostbuf_create *create = argument;
	struct litepcie_device *ld = lf->ld;
	struct litepcie_hostbuf *hb;
	int ret;

	if (!create->flags || !create->bytes ||
	    memchr_inv(create->reserved, 0, sizeof(create->reserved)))
		return -EINVAL;
	if (!ld->id.host_buffers)
		return -EOPNOTSUPP;
	if (create->bytes > ld->id.host_limit ||
	    PAGE_ALIGN(create->bytes) > ld->id.host_limit)
		return -EINVAL;

	mutex_lock(&ld->hostbufs_lock);
	hb = litepcie_hostbuf_unused(ld);
	ret = hb ? litepcie_hostbuf_alloc(ld, hb, PAGE_ALIGN(create->bytes)) : -ENOSPC;
	if (!ret) {
		hb->flags = create->flags;
		hb->owner = lf;
		litepcie_hostbuf_give(ld, hb);
		create->bytes = hb->bytes;
		create->map_offset = litepcie_hostbuf_offset(hb, ld);
		create->handle = litepcie_hostbuf_number(hb, ld) + 1;
		create->card_address = (create->handle - 1) * ld->id.host_limit;
	}
	mutex_unlock(&ld->hostbufs_lock);
	return ret;
}

static int litepcie_hostbuf_remove(struct litepcie_file *lf, u32 handle)
{
	struct litepcie_device *ld = lf->ld;
	struct litepcie_hostbuf *hb;
	int ret = -ENOENT;

	if (!handle || handle > LITEPCIE_MAX_HOST_BUFFERS)
		return ret;
	hb = &ld->hostbufs[array_index_nospec(handle - 1, LITEPCIE_MAX_HOST_BUFFERS)];
	mutex_lock(&ld->hostbufs_lock);
	if (hb->owner == lf)
		ret = litepcie_hostbuf_end(ld, hb);
	mutex_unlock(&ld->hostbufs_lock);
	return ret;
}

/**
 * litepcie_hostbuf_destroy() - take a buffer from the card and free it
 * @lf: the open file
 * @argument: struct litepcie_hostbuf_destroy
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_hostbuf_destroy(struct litepcie_file *lf, void *argument)
{
	struct litepcie_hostbuf_destroy *destroy = argument;

	if (destroy->reserved0)
		return -EINVAL;
	return litepcie_hostbuf_remove(lf, destroy->handle);
}

/**
 * litepcie_hostbuf_undo() - undo litepcie_hostbuf_create()
 * @lf: the open file
 * @argument: struct litepcie_hostbuf_create
 *
 * Return: 0 or negative errno.
 */
int litepcie_hostbuf_undo(struct litepcie_file *lf, void *argument)
{
	struct litepcie_hostbuf_create *create = argument;

	return litepcie_hostbuf_remove(lf, create->handle);
}

/**
 * litepcie_hostbufs_release() - free all buffers of an open file
 * @lf: the open file, which nothing uses; it has no mapping
 */
void litepcie_hostbufs_release(struct litepcie_file *lf)
{
	u32 handle;

	for (handle = 1; handle <= LITEPCIE_MAX_HOST_BUFFERS; handle++)
		litepcie_hostbuf_remove(lf, handle);
}

/**
 * litepcie_hostbufs_give() - give the card all buffers again
 * @ld: the device; the card is there, and may have been reset
 *
 * Frees those whose files are closed, if the card now ends its access to them.
 */
void litepcie_hostbufs_give(struct litepcie_device *ld)
{
	struct litepcie_hostbuf *hb;
	unsigned int i;

	mutex_lock(&ld->hostbufs_lock);
	for (i = 0; i < LITEPCIE_MAX_HOST_BUFFERS; i++) {
		hb = &ld->hostbufs[i];
		if (hb->owner)
			litepcie_hostbuf_give(ld, hb);
		else if (hb->pages && !litepcie_hostbuf_take(ld, hb))
			litepcie_hostbuf_free(ld, hb);
	}
	mutex_unlock(&ld->hostbufs_lock);
}

/**
 * litepcie_hostbufs_take() - take all buffers from the card
 * @ld: the device; files keep the memory
 */
void litepcie_hostbufs_take(struct litepcie_device *ld)
{
	unsigned int i;

	mutex_lock(&ld->hostbufs_lock);
	for (i = 0; i < LITEPCIE_MAX_HOST_BUFFERS; i++)
		litepcie_hostbuf_take(ld, &ld->hostbufs[i]);
	mutex_unlock(&ld->hostbufs_lock);
}

/**
 * litepcie_hostbufs_disconnect() - the card cannot access any buffer
 * @ld: the device, which is quiet; its registers may be out of reach
 *
 * Frees those whose files are closed.
 */
void litepcie_hostbufs_disconnect(struct litepcie_device *ld)
{
	struct litepcie_hostbuf *hb;
	unsigned int i;

	mutex_lock(&ld->hostbufs_lock);
	for (i = 0; i < LITEPCIE_MAX_HOST_BUFFERS; i++) {
		hb = &ld->hostbufs[i];
		hb->given = false;
		if (hb->pages && !hb->owner)
			litepcie_hostbuf_free(ld, hb);
	}
	mutex_unlock(&ld->hostbufs_lock);
}

/**
 * litepcie_hostbufs_free() - free all buffers before the driver is unbound
 * @ld: the device; no call creates a buffer
 */
void litepcie_hostbufs_free(struct litepcie_device *ld)
{
	struct litepcie_hostbuf *hb;
	unsigned int i;

	mutex_lock(&ld->hostbufs_lock);
	for (i = 0; i < LITEPCIE_MAX_HOST_BUFFERS; i++) {
		hb = &ld->hostbufs[i];
		if (!hb->pages)
			continue;
		if (litepcie_hostbuf_take(ld, hb))
			pci_clear_master(ld->pdev);
		litepcie_hostbuf_free(ld, hb);
	}
	mutex_unlock(&ld->hostbufs_lock);
}

/*
 * Mappings of the buffers that the card's user logic accesses. Their pages are
 * mapped at the first access, so that a buffer which is destroyed meanwhile has no
 * page in a mapping that is just being set up.
 */

/* The buffer of a mapped page, and the page's number in it. */
static struct litepcie_hostbuf *litepcie_hostbuf_at(struct litepcie_device *ld,
						    unsigned long pgoff,
						    unsigned long *page)
{
	unsigned long place = pgoff - LITEPCIE_HOSTBUF_PAGE;

	*page = place % LITEPCIE_HOSTBUF_STEP;
	place /= LITEPCIE_HOSTBUF_STEP;
	if (place >= LITEPCIE_MAX_HOST_BUFFERS)
		return NULL;
	return &ld->hostbufs[array_index_nospec(place, LITEPCIE_MAX_HOST_BUFFERS)];
}

static vm_fault_t litepcie_hostbuf_fault(struct vm_fault *vmf)
{
	struct litepcie_file *lf = vmf->vma->vm_file->private_data;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	struct litepcie_hostbuf *hb;
	unsigned long page;

	hb = litepcie_hostbuf_at(lf->ld, vmf->pgoff, &page);
	if (!hb)
		return ret;
	mutex_lock(&lf->ld->hostbufs_lock);
	if (hb->owner == lf && page < hb->bytes >> PAGE_SHIFT)
		ret = vmf_insert_pfn(vmf->vma, vmf->address,
				     page_to_pfn(hb->pages) + page);
	mutex_unlock(&lf->ld->hostbufs_lock);
	return ret;
}

static const struct vm_operations_struct litepcie_hostbuf_vm_ops = {
	.fault = litepcie_hostbuf_fault,
};

/**
 * litepcie_hostbuf_maps() - is a mapping one of a buffer
 * @vma: the mapping
 *
 * Return: false if it is one of the window, or of nothing.
 */
bool litepcie_hostbuf_maps(const struct vm_area_struct *vma)
{
	return vma->vm_pgoff >= LITEPCIE_HOSTBUF_PAGE;
}

/**
 * litepcie_hostbuf_mmap() - map a buffer
 * @lf: the open file
 * @vma: the mapping to set up
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_hostbuf_mmap(struct litepcie_file *lf, struct vm_area_struct *vma)
{
	struct litepcie_device *ld = lf->ld;
	struct litepcie_hostbuf *hb;
	unsigned long page, pages;
	int ret = litepcie_card_error(ld);

	if (ret)
		return ret;
	hb = litepcie_hostbuf_at(ld, vma->vm_pgoff, &page);
	if (!hb || !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	mutex_lock(&ld->hostbufs_lock);
	pages = hb->bytes >> PAGE_SHIFT;
	if (hb->owner != lf || page >= pages || vma_pages(vma) > pages - page)
		ret = -EINVAL;
	mutex_unlock(&ld->hostbufs_lock);
	if (ret)
		return ret;
	/* Memory that a confidential guest shares with devices is not encrypted. */
	if (cc_platform_has(CC_ATTR_GUEST_MEM_ENCRYPT))
		vma->vm_page_prot = pgprot_decrypted(vma->vm_page_prot);
	vm_flags_set(vma, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &litepcie_hostbuf_vm_ops;
	return 0;
}
