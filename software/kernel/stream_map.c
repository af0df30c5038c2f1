// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring of a stream in the memory of a program. The program gets the buffers
 * and struct litepcie_stream_ring. Descriptors, bus addresses and the counts
 * that the driver believes are not in these pages.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sizes.h>

#include "compat.h"
#include "driver.h"
#include "stream.h"

/* Bytes between the mappings of the two directions. */
#define LITEPCIE_STREAM_MAP_STEP	SZ_2G

/**
 * litepcie_stream_map_offset() - where the mapping of a direction begins
 * @direction: LITEPCIE_READER or LITEPCIE_WRITER
 *
 * Return: the offset for mmap().
 */
u64 litepcie_stream_map_offset(unsigned int direction)
{
	return (u64)direction * LITEPCIE_STREAM_MAP_STEP;
}

/**
 * litepcie_stream_map_bytes() - size of the mapping of a direction
 * @settings: of the direction
 *
 * Return: bytes, a multiple of the size of a page.
 */
u64 litepcie_stream_map_bytes(const struct litepcie_stream_settings *settings)
{
	return (PAGE_SIZE << litepcie_stream_shared_order(settings->depth)) +
	       litepcie_stream_ring_bytes(settings);
}

static struct litepcie_stream_end *
litepcie_stream_mapped_end(struct file *file, unsigned long pgoff, unsigned long *page)
{
	unsigned long step = LITEPCIE_STREAM_MAP_STEP >> PAGE_SHIFT;

	if (pgoff >= LITEPCIE_DIRECTIONS * step)
		return NULL;
	*page = pgoff % step;
	return litepcie_stream_file_end(file, pgoff / step);
}

/* A page of the mapping; NULL if it has none there. */
static struct page *litepcie_stream_page(struct litepcie_stream_memory *memory,
					 unsigned long page)
{
	unsigned long first = 1UL << memory->shared_order;

	if (page < first)
		return virt_to_page((void *)memory->shared + page * PAGE_SIZE);
	page -= first;
	if (page >> memory->order >= memory->depth)
		return NULL;
	return virt_to_page(memory->buffers[page >> memory->order].data +
			    (page & ((1UL << memory->order) - 1)) * PAGE_SIZE);
}

/* The mapping holds the file, and the file holds the pages. */
static vm_fault_t litepcie_stream_vm_fault(struct vm_fault *vmf)
{
	struct litepcie_stream_end *end;
	unsigned long number;
	struct page *page;

	end = litepcie_stream_mapped_end(vmf->vma->vm_file, vmf->pgoff, &number);
	if (!end || READ_ONCE(end->ld->gone))
		return VM_FAULT_SIGBUS;
	page = litepcie_stream_page(end->memory, number);
	if (!page)
		return VM_FAULT_SIGBUS;
	get_page(page);
	vmf->page = page;
	return 0;
}

static const struct vm_operations_struct litepcie_stream_vm_ops = {
	.fault = litepcie_stream_vm_fault,
};

/**
 * litepcie_stream_mmap() - map the ring of a direction
 * @file: the open file
 * @vma: the mapping to set up
 *
 * Return: 0 or negative errno, as the uapi header says.
 */
int litepcie_stream_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct litepcie_stream_end *end;
	unsigned long first, pages;
	int ret;

	end = litepcie_stream_mapped_end(file, vma->vm_pgoff, &first);
	if (!end || !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (end->direction == LITEPCIE_WRITER && vma->vm_flags & VM_WRITE)
		return -EACCES;
	ret = litepcie_stream_prepare(end);
	if (ret)
		return ret;
	pages = litepcie_stream_map_bytes(&end->settings) >> PAGE_SHIFT;
	if (first >= pages || vma_pages(vma) > pages - first)
		return -EINVAL;
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	/* mprotect() must not make it writable either. */
	if (end->direction == LITEPCIE_WRITER)
		vm_flags_clear(vma, VM_MAYWRITE);
	vma->vm_ops = &litepcie_stream_vm_ops;
	return 0;
}
