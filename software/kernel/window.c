// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is the card there, and the mappings of the window onto its memory and of the
 * user's registers.
 *
 * Their pages are mapped at the first access, not in mmap(), and
 * litepcie_card_set() removes them whenever the card goes away. An access to a
 * page that is not mapped waits while the card is reset or suspended, and gets
 * SIGBUS after the card is lost.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/mm.h>

#include "compat.h"
#include "driver.h"
#include "user.h"

/**
 * litepcie_card_set() - say whether the card is there
 * @ld: the device
 * @card: the new state
 *
 * Unless the card is PRESENT, no program can access a mapping after the
 * return.
 */
void litepcie_card_set(struct litepcie_device *ld, enum litepcie_card card)
{
	struct litepcie_mapped *lm;
	struct litepcie_file *lf;

	down_write(&ld->card_lock);
	ld->card = card;
	up_write(&ld->card_lock);
	wake_up_all(&ld->card_change);
	if (card == LITEPCIE_CARD_PRESENT)
		return;
	mutex_lock(&ld->files_lock);
	list_for_each_entry(lf, &ld->files, node)
		unmap_mapping_range(lf->file->f_mapping, 0, 0, 1);
	list_for_each_entry(lm, &ld->user_files, node)
		unmap_mapping_range(lm->file->f_mapping, 0, 0, 1);
	mutex_unlock(&ld->files_lock);
}

/*
 * While the card is AWAY, the access is repeated until the card is there or
 * lost. The wait is short, as the process holds the lock of its address space,
 * and ends at a signal, which is handled before the access is repeated.
 */
static vm_fault_t litepcie_fault(struct litepcie_device *ld,
				 struct vm_fault *vmf, phys_addr_t start)
{
	vm_fault_t ret;

	wait_event_interruptible_timeout(ld->card_change,
					 READ_ONCE(ld->card) != LITEPCIE_CARD_AWAY,
					 HZ / 10);
	down_read(&ld->card_lock);
	if (ld->card == LITEPCIE_CARD_PRESENT)
		ret = vmf_insert_pfn(vmf->vma, vmf->address,
				     PHYS_PFN(start) + vmf->pgoff);
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

	return litepcie_fault(lf->ld, vmf, lf->ld->id.window_start);
}

static const struct vm_operations_struct litepcie_window_ops = {
	.fault = litepcie_window_fault,
};

static vm_fault_t litepcie_user_fault(struct vm_fault *vmf)
{
	struct litepcie_mapped *lm = vmf->vma->vm_file->private_data;

	return litepcie_fault(lm->ld, vmf, lm->ld->id.user_start);
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
 * @pages: pages that the file has
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_map_pages(struct litepcie_device *ld, struct vm_area_struct *vma,
		       const struct vm_operations_struct *ops,
		       unsigned long pages)
{
	if (READ_ONCE(ld->card) == LITEPCIE_CARD_LOST || !pages)
		return -ENODEV;
	if (!(vma->vm_flags & VM_MAYSHARE) || vma->vm_pgoff >= pages ||
	    vma_pages(vma) > pages - vma->vm_pgoff)
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
	return litepcie_map_pages(ld, vma, &litepcie_window_ops,
				  ld->id.window_bytes >> PAGE_SHIFT);
}
