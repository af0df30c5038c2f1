// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of the buffers that the card's user logic accesses. Their pages are
 * mapped at the first access, so that a buffer which is destroyed meanwhile has no
 * page in a mapping that is just being set up.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/cc_platform.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/pgtable.h>

#include "compat.h"
#include "driver.h"
#include "hostbuf.h"

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
