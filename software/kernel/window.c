// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of the window onto the card's memory, and of the user's registers.
 *
 * Their pages are mapped at the first access, not in mmap(), and
 * litepcie_card_set() removes them whenever the card goes away. An access to a
 * page that is not mapped waits while the card is reset or suspended, and gets
 * SIGBUS after the card is lost.
 *
 * A processor must not access a page uncached and write-combined at the same time,
 * and x86 keeps one kind for each range. So all mappings of the window are of one
 * kind, until the last of them is gone.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/mm.h>

#include "compat.h"
#include "driver.h"

/* Bit of a page's number that asks for write-combining. */
#define LITEPCIE_COMBINED_PAGE	((unsigned long)(LITEPCIE_MMAP_COMBINED >> PAGE_SHIFT))

/*
 * While the card is AWAY, the access is repeated until the card is there or
 * lost. The wait is short, as the process holds the lock of its address space,
 * and ends at a signal, which is handled before the access is repeated.
 */
static vm_fault_t litepcie_fault(struct litepcie_device *ld, struct vm_fault *vmf,
				 phys_addr_t start, unsigned long page)
{
	vm_fault_t ret;

	wait_event_interruptible_timeout(ld->card_change,
					 READ_ONCE(ld->card) != LITEPCIE_CARD_AWAY,
					 HZ / 10);
	down_read(&ld->card_lock);
	if (ld->card == LITEPCIE_CARD_PRESENT)
		ret = vmf_insert_pfn(vmf->vma, vmf->address,
				     PHYS_PFN(start) + page);
	else if (ld->card == LITEPCIE_CARD_AWAY)
		ret = VM_FAULT_NOPAGE;
	else
		ret = VM_FAULT_SIGBUS;
	up_read(&ld->card_lock);
	return ret;
}

static vm_fault_t litepcie_window_fault(struct vm_fault *vmf)
{
	struct litepcie_file *lf = vmf->vma->vm_file->private_data;

	return litepcie_fault(lf->ld, vmf, lf->ld->id.window_start,
			      vmf->pgoff & ~LITEPCIE_COMBINED_PAGE);
}

static bool litepcie_window_is_combined(struct vm_area_struct *vma)
{
	return vma->vm_pgoff & LITEPCIE_COMBINED_PAGE;
}

/* Counts a new mapping if no mapping of the other kind is there. */
static int litepcie_window_take(struct litepcie_device *ld, bool combined)
{
	int ret = 0;

	mutex_lock(&ld->window_lock);
	if (READ_ONCE(ld->gone)) {
		ret = -ENODEV;
	} else if (ld->window_maps[!combined]) {
		ret = -EBUSY;
	} else if (combined && !ld->window_combined) {
		ret = arch_io_reserve_memtype_wc(ld->id.window_start, ld->id.window_bytes);
		ld->window_combined = !ret;
	}
	if (!ret)
		ld->window_maps[combined]++;
	mutex_unlock(&ld->window_lock);
	return ret;
}

static void litepcie_window_release(struct litepcie_device *ld)
{
	if (ld->window_combined)
		arch_io_free_memtype_wc(ld->id.window_start, ld->id.window_bytes);
	ld->window_combined = false;
}

/**
 * litepcie_window_forget() - let another driver map the window as it likes
 * @ld: the device, gone, without mapped pages
 */
void litepcie_window_forget(struct litepcie_device *ld)
{
	mutex_lock(&ld->window_lock);
	litepcie_window_release(ld);
	mutex_unlock(&ld->window_lock);
}

/* A mapping was copied by fork(), or a part of it unmapped. */
static void litepcie_window_open(struct vm_area_struct *vma)
{
	struct litepcie_file *lf = vma->vm_file->private_data;

	mutex_lock(&lf->ld->window_lock);
	lf->ld->window_maps[litepcie_window_is_combined(vma)]++;
	mutex_unlock(&lf->ld->window_lock);
}

static void litepcie_window_close(struct vm_area_struct *vma)
{
	struct litepcie_file *lf = vma->vm_file->private_data;
	struct litepcie_device *ld = lf->ld;

	mutex_lock(&ld->window_lock);
	if (!--ld->window_maps[litepcie_window_is_combined(vma)])
		litepcie_window_release(ld);
	mutex_unlock(&ld->window_lock);
}

static const struct vm_operations_struct litepcie_window_ops = {
	.open = litepcie_window_open,
	.close = litepcie_window_close,
	.fault = litepcie_window_fault,
};

static vm_fault_t litepcie_user_fault(struct vm_fault *vmf)
{
	struct litepcie_mapped *lm = vmf->vma->vm_file->private_data;

	return litepcie_fault(lm->ld, vmf, lm->ld->id.user_start, vmf->pgoff);
}

/* Mappings of /dev/litepcieN_user. */
const struct vm_operations_struct litepcie_user_vm_ops = {
	.fault = litepcie_user_fault,
};

/**
 * litepcie_map_pages() - set up a mapping whose pages are mapped when accessed
 * @ld: the device
 * @vma: the mapping
 * @ops: fault handler of the mapping
 * @page: first page, in the range that the file has
 * @pages: pages of that range
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_map_pages(struct litepcie_device *ld, struct vm_area_struct *vma,
		       const struct vm_operations_struct *ops,
		       unsigned long page, unsigned long pages)
{
	int error = litepcie_card_error(ld);

	if (error)
		return error;
	if (!pages)
		return -ENODEV;
	if (!(vma->vm_flags & VM_MAYSHARE) || page >= pages ||
	    vma_pages(vma) > pages - page)
		return -EINVAL;
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	vma->vm_ops = ops;
	return 0;
}

/**
 * litepcie_window_mmap() - map the window
 * @ld: the device
 * @vma: the mapping to set up
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_window_mmap(struct litepcie_device *ld, struct vm_area_struct *vma)
{
	bool combined = litepcie_window_is_combined(vma);
	pgprot_t prot = vma->vm_page_prot;
	int ret;

	ret = litepcie_map_pages(ld, vma, &litepcie_window_ops,
				 vma->vm_pgoff & ~LITEPCIE_COMBINED_PAGE,
				 ld->id.window_bytes >> PAGE_SHIFT);
	if (ret)
		return ret;
	if (combined)
		vma->vm_page_prot = pgprot_writecombine(prot);
	return litepcie_window_take(ld, combined);
}
