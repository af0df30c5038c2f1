// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of streams. Descriptors and reports live as long as the driver is
 * bound. Buffers, and the page that programs map before them, belong to the open
 * file and are charged to who opened it. They are split into single pages,
 * because programs map them.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "driver.h"
#include "stream.h"

/* Descriptors for the memory of calls. */
static size_t litepcie_stream_table_bytes(const struct litepcie_stream_end *end)
{
	return (size_t)LITEPCIE_STREAM_POSTS * end->engine.max_pages *
	       LITEPCIE_DESCRIPTOR_BYTES;
}

/**
 * litepcie_stream_ring_alloc() - allocate ring, tables, status block and reports
 * @end: the direction, with the limits of its engine
 *
 * Return: 0 or -ENOMEM.
 */
int litepcie_stream_ring_alloc(struct litepcie_stream_end *end)
{
	struct device *dma = &end->ld->pdev->dev;

	end->status_bytes = LITEPCIE_REPORT_OFFSET +
			    (LITEPCIE_REPORT_BYTES << end->ring_log2);
	end->ring = dma_alloc_coherent(dma, LITEPCIE_DESCRIPTOR_BYTES << end->ring_log2,
				       &end->ring_dma, GFP_KERNEL);
	if (!end->ring)
		return -ENOMEM;
	end->status = dma_alloc_coherent(dma, end->status_bytes, &end->status_dma,
					 GFP_KERNEL);
	end->table = dma_alloc_coherent(dma, litepcie_stream_table_bytes(end),
					&end->table_dma, GFP_KERNEL);
	if (end->status && end->table)
		return 0;
	litepcie_stream_ring_free(end);
	return -ENOMEM;
}

/**
 * litepcie_stream_ring_free() - undo litepcie_stream_ring_alloc()
 * @end: the direction, which does not run
 */
void litepcie_stream_ring_free(struct litepcie_stream_end *end)
{
	struct device *dma = &end->ld->pdev->dev;

	if (end->table)
		dma_free_coherent(dma, litepcie_stream_table_bytes(end), end->table,
				  end->table_dma);
	end->table = NULL;
	if (end->status)
		dma_free_coherent(dma, end->status_bytes, end->status, end->status_dma);
	end->status = NULL;
	if (end->ring)
		dma_free_coherent(dma, LITEPCIE_DESCRIPTOR_BYTES << end->ring_log2,
				  end->ring, end->ring_dma);
	end->ring = NULL;
}

/**
 * litepcie_stream_buffer_order() - log2 of the pages of a buffer
 * @buffer_bytes: bytes of the buffer
 *
 * Return: the order.
 */
unsigned int litepcie_stream_buffer_order(u32 buffer_bytes)
{
	return get_order(buffer_bytes);
}

/**
 * litepcie_stream_shared_order() - log2 of the pages before the buffers
 * @depth: number of buffers
 *
 * Return: the order.
 */
unsigned int litepcie_stream_shared_order(u32 depth)
{
	return get_order(offsetof(struct litepcie_stream_ring, slots) +
			 depth * sizeof(__u32));
}

/**
 * litepcie_stream_ring_bytes() - memory of the buffers
 * @settings: of the direction
 *
 * Return: bytes, in whole pages.
 */
u64 litepcie_stream_ring_bytes(const struct litepcie_stream_settings *settings)
{
	return (u64)settings->depth * PAGE_SIZE
	       << litepcie_stream_buffer_order(settings->buffer_bytes);
}

/* A large ring fails when memory is short, before the kernel ends programs. */
static void *litepcie_stream_pages(unsigned int order)
{
	struct page *page;

	page = alloc_pages(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN |
			   __GFP_RETRY_MAYFAIL, order);
	if (!page)
		return NULL;
	split_page(page, order);
	return page_address(page);
}

static void litepcie_stream_free_pages(void *data, unsigned int order)
{
	unsigned int i;

	if (!data)
		return;
	for (i = 0; i < 1U << order; i++)
		__free_page(virt_to_page(data + i * PAGE_SIZE));
}

static void litepcie_stream_unmap_buffers(struct litepcie_device *ld,
					  struct litepcie_stream_memory *memory,
					  u32 count)
{
	memory->mapped = false;
	while (count--)
		dma_unmap_single(&ld->pdev->dev, memory->buffers[count].dma,
				 memory->buffer_bytes, memory->dma);
}

static int litepcie_stream_map_buffers(struct litepcie_stream_end *end,
				       struct litepcie_stream_memory *memory)
{
	struct device *dma = &end->ld->pdev->dev;
	struct litepcie_stream_buffer *buffer;
	u32 i;

	for (i = 0; i < memory->depth; i++) {
		buffer = &memory->buffers[i];
		buffer->dma = dma_map_single(dma, buffer->data,
					     memory->buffer_bytes, memory->dma);
		if (dma_mapping_error(dma, buffer->dma)) {
			litepcie_stream_unmap_buffers(end->ld, memory, i);
			return -ENOMEM;
		}
	}
	memory->mapped = true;
	return 0;
}

static void litepcie_stream_destroy(struct litepcie_stream_memory *memory)
{
	u32 i;

	for (i = 0; i < memory->depth; i++)
		litepcie_stream_free_pages(memory->buffers[i].data, memory->order);
	litepcie_stream_free_pages(memory->shared, memory->shared_order);
	kvfree(memory);
}

static int litepcie_stream_alloc_buffers(struct litepcie_stream_memory *memory)
{
	u32 i;

	memory->shared = litepcie_stream_pages(memory->shared_order);
	if (!memory->shared)
		return -ENOMEM;
	for (i = 0; i < memory->depth; i++) {
		memory->buffers[i].data = litepcie_stream_pages(memory->order);
		if (!memory->buffers[i].data)
			return -ENOMEM;
		/* 1 GiB takes a good part of a second. */
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	memory->shared->depth = memory->depth;
	memory->shared->buffer_bytes = memory->buffer_bytes;
	memory->shared->stride = PAGE_SIZE << memory->order;
	return 0;
}

/**
 * litepcie_stream_memory_alloc() - allocate the ring of an open file
 * @end: the direction, with its mutex control held and its settings final
 *
 * Return: 0, also if it has one already; -ENOMEM; -EPERM if root allows less; -EINTR
 * if a signal ends the program meanwhile.
 */
int litepcie_stream_memory_alloc(struct litepcie_stream_end *end)
{
	struct litepcie_stream_memory *memory;
	int ret;

	lockdep_assert_held(&end->control);
	if (end->memory)
		return 0;
	if (litepcie_stream_ring_bytes(&end->settings) > litepcie_stream_bytes())
		return -EPERM;
	memory = kvzalloc(struct_size(memory, buffers, end->settings.depth),
			  GFP_KERNEL_ACCOUNT);
	if (!memory)
		return -ENOMEM;
	memory->dma = end->dma;
	memory->depth = end->settings.depth;
	memory->buffer_bytes = end->settings.buffer_bytes;
	memory->order = litepcie_stream_buffer_order(memory->buffer_bytes);
	memory->shared_order = litepcie_stream_shared_order(memory->depth);
	ret = litepcie_stream_alloc_buffers(memory);
	if (!ret)
		ret = litepcie_stream_map_buffers(end, memory);
	if (ret) {
		litepcie_stream_destroy(memory);
		return ret;
	}
	/* poll() and the fault handler read it without the mutex. */
	smp_store_release(&end->memory, memory);
	return 0;
}

/**
 * litepcie_stream_memory_unmap() - take the buffers from the card
 * @end: the direction, which does not run, with its mutex control held
 */
void litepcie_stream_memory_unmap(struct litepcie_stream_end *end)
{
	struct litepcie_stream_memory *memory = end->memory;

	lockdep_assert_held(&end->control);
	if (memory && memory->mapped)
		litepcie_stream_unmap_buffers(end->ld, memory, memory->depth);
}

/* Keeps a ring that the card may still write; false if it is known to be quiet. */
static bool litepcie_stream_memory_keep(struct litepcie_device *ld,
					struct litepcie_stream_memory *memory)
{
	bool keep;

	spin_lock_irq(&ld->kept_lock);
	keep = ld->loud && memory->mapped;
	if (keep) {
		ld->kept_bytes += (u64)memory->depth * memory->buffer_bytes;
		list_add_tail(&memory->node, &ld->kept_rings);
	}
	spin_unlock_irq(&ld->kept_lock);
	return keep;
}

/**
 * litepcie_stream_memory_free() - free the ring of an open file
 * @end: the direction, which does not run, with its mutex control held. No
 *	program has the ring mapped: a mapping holds the file
 *
 * While the card may still write, the ring stays for litepcie_streams_kept_free().
 */
void litepcie_stream_memory_free(struct litepcie_stream_end *end)
{
	struct litepcie_stream_memory *memory = end->memory;

	lockdep_assert_held(&end->control);
	spin_lock_irq(&end->lock);
	end->memory = NULL;
	spin_unlock_irq(&end->lock);
	if (!memory || litepcie_stream_memory_keep(end->ld, memory))
		return;
	if (memory->mapped)
		litepcie_stream_unmap_buffers(end->ld, memory, memory->depth);
	litepcie_stream_destroy(memory);
}

/**
 * litepcie_streams_kept_free() - free the rings that the card could still write
 * @ld: the device, which is quiet or being unbound
 */
void litepcie_streams_kept_free(struct litepcie_device *ld)
{
	struct litepcie_stream_memory *memory, *next;
	LIST_HEAD(kept);

	spin_lock_irq(&ld->kept_lock);
	list_splice_init(&ld->kept_rings, &kept);
	list_for_each_entry(memory, &kept, node)
		ld->kept_bytes -= (u64)memory->depth * memory->buffer_bytes;
	spin_unlock_irq(&ld->kept_lock);
	list_for_each_entry_safe(memory, next, &kept, node) {
		litepcie_stream_unmap_buffers(ld, memory, memory->depth);
		litepcie_stream_destroy(memory);
	}
}
