// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is the card there, and the mappings of the window onto its memory.
 *
 * Pages of the window are mapped at the first access, not in mmap(), and
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

/**
 * litepcie_card_set() - say whether the card is there
 * @ld: the device
 * @card: the new state
 *
 * Unless the card is PRESENT, no program can access the window after the
 * return.
 */
void litepcie_card_set(struct litepcie_device *ld, enum litepcie_card card)
{
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
	mutex_unlock(&ld->files_lock);
}

/*
 * While the card is AWAY, the access is repeated until the card is there or
 * lost. The wait is short, as the process holds the lock of its address space,
 * and ends at a signal, which is handled before the access is repeated.
 */
static vm_fault_t litepcie_window_fault(struct vm_fault *vmf)
{
	struct litepcie_file *lf = vmf->vma->vm_file->private_data;
	struct litepcie_device *ld = lf->ld;
	vm_fault_t ret;

	wait_event_interruptible_timeout(ld->card_change,
					 READ_ONCE(ld->card) != LITEPCIE_CARD_AWAY,
					 HZ / 10);
	down_read(&ld->card_lock);
	if (ld->card == LITEPCIE_CARD_PRESENT)
		ret = vmf_insert_pfn(vmf->vma, vmf->address,
				     PHYS_PFN(ld->id.window_start) + vmf->pgoff);
	else if (ld->card == LITEPCIE_CARD_AWAY)
		ret = VM_FAULT_NOPAGE;
	else
		ret = VM_FAULT_SIGBUS;
	up_read(&ld->card_lock);
	return ret;
}

static const struct vm_operations_struct litepcie_window_ops = {
	.fault = litepcie_window_fault,
};

/**
 * litepcie_window_mmap() - map the window
 * @ld: the device
 * @vma: the mapping to set up
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_window_mmap(struct litepcie_device *ld, struct vm_area_struct *vma)
{
	unsigned long pages = ld->id.window_bytes >> PAGE_SHIFT;

	if (READ_ONCE(ld->card) == LITEPCIE_CARD_LOST || !pages)
		return -ENODEV;
	if (!(vma->vm_flags & VM_MAYSHARE) || vma->vm_pgoff >= pages ||
	    vma_pages(vma) > pages - vma->vm_pgoff)
		return -EINVAL;
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	vma->vm_ops = &litepcie_window_ops;
	return 0;
}
