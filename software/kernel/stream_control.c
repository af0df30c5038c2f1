// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hardware of streams, and the memory that it uses.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bitfield.h>
#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "driver.h"
#include "stream.h"

/*
 * Memory of streams. Descriptors and reports live as long as the driver is
 * bound. Buffers, and the page that programs map before them, belong to the open
 * file and are charged to who opened it. They are split into single pages,
 * because programs map them.
 */

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
static int litepcie_stream_memory_alloc(struct litepcie_stream_end *end)
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
static void litepcie_stream_memory_unmap(struct litepcie_stream_end *end)
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
static void litepcie_stream_memory_free(struct litepcie_stream_end *end)
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

/*
 * The hardware of streams: start and stop of a direction, and of all of them.
 *
 *	            begin
 *	+---------+ --------------------> +---------+
 *	| STOPPED |  error, pause, close  | RUNNING |
 *	+---------+ <-------------------- +---------+
 *	     ^  | stop, disconnect             | stop, disconnect
 *	     |  v                              |
 *	+---------+                            |
 *	|  LOST   | <--------------------------'
 *	+---------+ resume: STOPPED
 *
 * begin is part of a call; error is what the status block says; pause, stop,
 * disconnect and resume come with those of the card (power.c). begin, close,
 * pause and stop reset the engine. A reader that has sent all it was given
 * stays RUNNING between two open files, so that its last bytes, which may wait
 * in the card, are not lost.
 */

static void litepcie_stream_moderate(struct litepcie_stream_end *end)
{
	writel(FIELD_PREP(LITEPCIE_ENGINE_MODERATION_COUNT_MASK,
			  end->settings.moderation_count) |
	       FIELD_PREP(LITEPCIE_ENGINE_MODERATION_US_MASK,
			  end->settings.moderation_us),
	       end->regs + LITEPCIE_ENGINE_MODERATION);
	writel(FIELD_PREP(LITEPCIE_ENGINE_INTERRUPT_VECTOR_MASK, end->vector) |
	       LITEPCIE_ENGINE_INTERRUPT_IDLE, end->regs + LITEPCIE_ENGINE_INTERRUPT);
}

static void litepcie_stream_configure(struct litepcie_stream_end *end)
{
	void __iomem *regs = end->regs;

	memset(end->status, 0, end->status_bytes);
	writel(lower_32_bits(end->ring_dma), regs + LITEPCIE_ENGINE_RING_LO);
	writel(upper_32_bits(end->ring_dma), regs + LITEPCIE_ENGINE_RING_HI);
	writel(end->ring_log2, regs + LITEPCIE_ENGINE_RING_LOG2);
	writel(lower_32_bits(end->status_dma), regs + LITEPCIE_ENGINE_STATUS_ADDRESS_LO);
	writel(upper_32_bits(end->status_dma), regs + LITEPCIE_ENGINE_STATUS_ADDRESS_HI);
	litepcie_stream_moderate(end);
	if (end->direction == LITEPCIE_FROM_CARD)
		writel(end->settings.flush_us, regs + LITEPCIE_ENGINE_FLUSH_US);
	writel(LITEPCIE_ENGINE_CONTROL_ENABLE, regs + LITEPCIE_ENGINE_CONTROL);
}

/* Has the engine stopped with nothing left that a call must see first? */
static bool litepcie_stream_may_start(struct litepcie_stream_end *end)
{
	bool may;

	spin_lock_irq(&end->lock);
	may = end->state == LITEPCIE_STREAM_STOPPED && !end->error &&
	      !(end->direction == LITEPCIE_FROM_CARD && end->completed != end->consumed);
	spin_unlock_irq(&end->lock);
	return may;
}

/* Allocates the ring. A reader may still run for the file before this one. */
static int litepcie_stream_prepare_locked(struct litepcie_stream_end *end)
{
	int ret;

	lockdep_assert_held(&end->control);
	if (end->memory)
		return 0;
	ret = litepcie_card_error(end->ld);
	if (ret)
		return ret;
	ret = litepcie_stream_memory_alloc(end);
	if (ret || READ_ONCE(end->state) != LITEPCIE_STREAM_RUNNING)
		return ret;
	litepcie_stream_moderate(end);
	spin_lock_irq(&end->lock);
	litepcie_stream_show(end);
	spin_unlock_irq(&end->lock);
	return 0;
}

/**
 * litepcie_stream_prepare() - allocate the ring of an open file
 * @end: the direction
 *
 * Return: 0, also if it has one, -ENOMEM, or that of litepcie_card_error().
 */
int litepcie_stream_prepare(struct litepcie_stream_end *end)
{
	int ret;

	mutex_lock(&end->control);
	ret = litepcie_stream_prepare_locked(end);
	mutex_unlock(&end->control);
	return ret;
}

static int litepcie_stream_start(struct litepcie_stream_end *end)
{
	int ret;

	if (!litepcie_stream_may_start(end))
		return 0;
	ret = litepcie_bank_reset(end->ld, end->regs, end->name);
	if (ret)
		return ret;
	litepcie_stream_count_reset(end);
	end->begun = true;
	litepcie_stream_configure(end);
	litepcie_stream_run(end);
	return 0;
}

/* Is there something to read that came before the engine stopped? It needs no card. */
static bool litepcie_stream_left(struct litepcie_stream_end *end)
{
	return end->direction == LITEPCIE_FROM_CARD &&
	       READ_ONCE(end->state) != LITEPCIE_STREAM_RUNNING &&
	       litepcie_stream_ready(end);
}

/**
 * litepcie_stream_begin() - make the engine of a direction run
 * @end: the direction, with its mutex use held
 *
 * Starts no engine while a call must see data or an error first. Data comes first
 * also while the card is cut off: after an error, a program takes the next byte
 * for the first one of a packet.
 *
 * Return: 0; -EAGAIN while the card is reset or suspended; -ENOMEM; -EIO if the
 * engine does not end its reset; that of litepcie_card_error().
 */
int litepcie_stream_begin(struct litepcie_stream_end *end)
{
	int ret;

	lockdep_assert_held(&end->use);
	if (READ_ONCE(end->state) == LITEPCIE_STREAM_RUNNING && end->memory)
		return 0;
	if (litepcie_stream_left(end))
		return 0;
	mutex_lock(&end->control);
	ret = litepcie_stream_prepare_locked(end);
	if (ret)
		goto unlock;
	/* Each loss of the card says so before it takes the mutex. */
	ret = litepcie_card_error(end->ld);
	if (ret)
		goto unlock;
	if (READ_ONCE(end->ld->card) == LITEPCIE_CARD_PRESENT)
		ret = litepcie_stream_start(end);
	else
		ret = litepcie_stream_may_start(end) ? -EAGAIN : 0;
unlock:
	mutex_unlock(&end->control);
	return ret;
}

/**
 * litepcie_stream_halt() - reset the engine: no more access to host memory
 * @end: the direction, with its mutex control held
 *
 * Return: true if bytes were lost, which are counted.
 */
bool litepcie_stream_halt(struct litepcie_stream_end *end)
{
	bool lost = false;
	int ret;

	lockdep_assert_held(&end->control);
	/* During a reset or suspend of the card it must not be accessed. */
	if (READ_ONCE(end->state) == LITEPCIE_STREAM_LOST || !end->begun)
		return false;
	ret = litepcie_bank_reset(end->ld, end->regs, end->name);
	/* The reset has pushed the last writes of the card into memory. */
	litepcie_stream_poll(end);
	if (!ret)
		lost = litepcie_stream_count_reset(end);
	end->begun = false;
	return lost;
}

/**
 * litepcie_stream_take_back() - take the memory of a call from the card
 * @end: the direction, with its mutex control held
 * @req: the request, which was posted; the card has ended its slot, or
 *	litepcie_stream_unpost() may be called
 */
void litepcie_stream_take_back(struct litepcie_stream_end *end,
			       struct litepcie_request *req)
{
	lockdep_assert_held(&end->control);
	list_del_init(&req->node);
	req->state = LITEPCIE_REQUEST_DONE;
	if (litepcie_stream_is_done(end, req) ||
	    !litepcie_request_keep(&end->engine, req))
		litepcie_request_unmap(&end->engine, req);
}

/**
 * litepcie_stream_unpost() - take the memory of all calls from the card
 * @end: the direction, with its mutex control held; its engine was reset, or the
 *	card is cut off and may still write: then the memory is kept
 */
void litepcie_stream_unpost(struct litepcie_stream_end *end)
{
	struct litepcie_request *req, *next;

	list_for_each_entry_safe(req, next, &end->posted, node)
		litepcie_stream_take_back(end, req);
}

/**
 * litepcie_stream_close() - end the use of a direction by an open file
 * @end: the direction, which no call uses
 */
void litepcie_stream_close(struct litepcie_stream_end *end)
{
	mutex_lock(&end->control);
	if (end->memory && !litepcie_stream_drained(end))
		litepcie_stream_drop(end, litepcie_stream_halt(end));
	litepcie_stream_memory_free(end);
	mutex_unlock(&end->control);
}

/**
 * litepcie_streams_poll() - read the status blocks of streams
 * @ld: the device
 * @vector: of those that have this interrupt
 *
 * Called by the interrupt handler.
 */
void litepcie_streams_poll(struct litepcie_device *ld, unsigned int vector)
{
	struct litepcie_stream_end *end;

	list_for_each_entry(end, &ld->stream_ends, node)
		if (end->vector == vector)
			litepcie_stream_poll(end);
}

/**
 * litepcie_streams_resume() - let calls begin: the card is there
 * @ld: the device, after litepcie_card_set()
 */
void litepcie_streams_resume(struct litepcie_device *ld)
{
	struct litepcie_stream_end *end;

	list_for_each_entry(end, &ld->stream_ends, node) {
		spin_lock_irq(&end->lock);
		if (end->state == LITEPCIE_STREAM_LOST)
			end->state = LITEPCIE_STREAM_STOPPED;
		spin_unlock_irq(&end->lock);
		wake_up_all(&end->wait);
	}
}

/* Removes the pages of the ring from all programs, if the driver is unbound. */
static void litepcie_stream_zap(struct litepcie_stream_end *end)
{
	mutex_lock(&end->stream->users);
	if (end->file && READ_ONCE(end->ld->gone))
		unmap_mapping_range(end->file->f_mapping, 0, 0, 1);
	mutex_unlock(&end->stream->users);
}

/**
 * litepcie_streams_pause() - end what is under way, before a reset or suspend
 * @ld: the device; no stream accesses host memory after the return
 */
void litepcie_streams_pause(struct litepcie_device *ld)
{
	struct litepcie_stream_end *end;

	list_for_each_entry(end, &ld->stream_ends, node) {
		mutex_lock(&end->control);
		if (READ_ONCE(end->state) != LITEPCIE_STREAM_LOST) {
			litepcie_stream_halt(end);
			litepcie_stream_cut(end, LITEPCIE_STREAM_STOPPED, -ENODATA);
			litepcie_stream_unpost(end);
		}
		mutex_unlock(&end->control);
	}
}

/**
 * litepcie_streams_stop() - end what is under way, and refuse calls
 * @ld: the device; no stream accesses host memory after the return
 * @error: negative errno for those that wait
 */
void litepcie_streams_stop(struct litepcie_device *ld, int error)
{
	struct litepcie_stream_end *end;

	list_for_each_entry(end, &ld->stream_ends, node) {
		mutex_lock(&end->control);
		litepcie_stream_halt(end);
		litepcie_stream_cut(end, LITEPCIE_STREAM_LOST, error);
		litepcie_stream_unpost(end);
		mutex_unlock(&end->control);
		litepcie_stream_zap(end);
	}
}

/**
 * litepcie_streams_disconnect() - end what is under way on a card that is cut off
 * @ld: the device; its registers are not accessed
 * @error: negative errno for those that wait
 */
void litepcie_streams_disconnect(struct litepcie_device *ld, int error)
{
	struct litepcie_stream_end *end;

	list_for_each_entry(end, &ld->stream_ends, node) {
		mutex_lock(&end->control);
		litepcie_stream_cut(end, LITEPCIE_STREAM_LOST, error);
		litepcie_stream_unpost(end);
		mutex_unlock(&end->control);
		litepcie_stream_zap(end);
	}
}

/**
 * litepcie_streams_unmap() - take all buffers from the card
 * @ld: the device; its streams were stopped and the driver is being unbound
 */
void litepcie_streams_unmap(struct litepcie_device *ld)
{
	struct litepcie_stream_end *end;

	list_for_each_entry(end, &ld->stream_ends, node) {
		mutex_lock(&end->control);
		litepcie_stream_memory_unmap(end);
		mutex_unlock(&end->control);
	}
}
