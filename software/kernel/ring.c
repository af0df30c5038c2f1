// SPDX-License-Identifier: GPL-2.0-only
/*
 * The descriptor ring of an engine and the requests in it.
 *
 * Requests are served in order of arrival; several can be in the ring. A
 * request enters the ring as a whole, or waits until there is room for all of
 * it. Only its last descriptor asks for an interrupt. The count of complete
 * descriptors is read from the status block, never from the card.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/dma-mapping.h>
#include <linux/jiffies.h>

#include "driver.h"
#include "request.h"

/**
 * litepcie_ring_alloc() - allocate ring and status block
 * @engine: the engine, with ring_log2 set
 *
 * dma_alloc_coherent() aligns to the size and at least to a page, which is what
 * the card needs.
 *
 * Return: 0 or -ENOMEM.
 */
int litepcie_ring_alloc(struct litepcie_engine *engine)
{
	struct device *dma = &engine->ld->pdev->dev;

	engine->ring = dma_alloc_coherent(dma, LITEPCIE_DESCRIPTOR_BYTES <<
					  engine->ring_log2,
					  &engine->ring_dma, GFP_KERNEL);
	if (!engine->ring)
		return -ENOMEM;
	engine->status = dma_alloc_coherent(dma, LITEPCIE_STATUS_BYTES,
					    &engine->status_dma, GFP_KERNEL);
	if (engine->status)
		return 0;
	litepcie_ring_free(engine);
	return -ENOMEM;
}

/**
 * litepcie_ring_free() - undo litepcie_ring_alloc()
 * @engine: stopped, or never started
 */
void litepcie_ring_free(struct litepcie_engine *engine)
{
	struct device *dma = &engine->ld->pdev->dev;

	if (engine->status)
		dma_free_coherent(dma, LITEPCIE_STATUS_BYTES, engine->status,
				  engine->status_dma);
	engine->status = NULL;
	if (engine->ring)
		dma_free_coherent(dma, LITEPCIE_DESCRIPTOR_BYTES <<
				  engine->ring_log2,
				  engine->ring, engine->ring_dma);
	engine->ring = NULL;
}

/* Writes the descriptors of a request at @position; returns the next one. */
static u32 litepcie_ring_encode(struct litepcie_engine *engine,
				struct litepcie_request *req, u32 position)
{
	u32 mask = BIT(engine->ring_log2) - 1;
	u32 endpoint = req->endpoint;
	struct scatterlist *sg;
	unsigned int i;

	req->first = position;
	for_each_sgtable_dma_sg(&req->sgt, sg, i) {
		bool last = i + 1 == req->sgt.nents;

		litepcie_descriptor_encode(&engine->ring[position++ & mask],
					   sg_dma_len(sg),
					   last ? LITEPCIE_DESCRIPTOR_INTERRUPT : 0,
					   endpoint, sg_dma_address(sg));
		endpoint += sg_dma_len(sg);
	}
	return position;
}

/**
 * litepcie_ring_feed() - move pending requests into the ring
 * @engine: the engine, with its lock held
 */
void litepcie_ring_feed(struct litepcie_engine *engine)
{
	u32 produced = engine->produced;
	struct litepcie_request *req;

	lockdep_assert_held(&engine->lock);
	if (engine->state != LITEPCIE_ENGINE_RUNNING || engine->stopped)
		return;
	if (list_empty(&engine->inflight))
		engine->progress = jiffies;
	while ((req = list_first_entry_or_null(&engine->pending,
					       struct litepcie_request, node))) {
		if (req->sgt.nents > litepcie_ring_room(engine->ring_log2,
							produced,
							engine->completed))
			break;
		produced = litepcie_ring_encode(engine, req, produced);
		req->state = LITEPCIE_REQUEST_INFLIGHT;
		list_move_tail(&req->node, &engine->inflight);
	}
	if (produced == engine->produced)
		return;
	engine->produced = produced;
	/* writel() orders the stores to the ring before the doorbell. */
	writel(produced, engine->regs + LITEPCIE_ENGINE_DOORBELL);
	queue_delayed_work(engine->ld->queue, &engine->watchdog,
			   litepcie_timeout());
}

/**
 * litepcie_ring_submit() - give a request to the engine
 * @engine: the engine
 * @req: the request, mapped for the card
 *
 * Return: 0 if @req will be completed, unless it is cancelled; negative errno
 * if the engine has failed.
 */
int litepcie_ring_submit(struct litepcie_engine *engine,
			 struct litepcie_request *req)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&engine->lock, flags);
	if (engine->state == LITEPCIE_ENGINE_FAILED) {
		ret = engine->error;
	} else {
		req->state = LITEPCIE_REQUEST_PENDING;
		list_add_tail(&req->node, &engine->pending);
		litepcie_ring_feed(engine);
	}
	spin_unlock_irqrestore(&engine->lock, flags);
	return ret;
}

/**
 * litepcie_ring_cancel() - take back a request that is not in the ring yet
 * @engine: the engine
 * @req: a submitted request
 *
 * Return: true if it was taken back and will not be completed; false if it is
 * in the ring or done.
 */
bool litepcie_ring_cancel(struct litepcie_engine *engine,
			  struct litepcie_request *req)
{
	unsigned long flags;
	bool pending;

	spin_lock_irqsave(&engine->lock, flags);
	pending = req->state == LITEPCIE_REQUEST_PENDING;
	if (pending) {
		list_del(&req->node);
		req->state = LITEPCIE_REQUEST_DONE;
	}
	spin_unlock_irqrestore(&engine->lock, flags);
	return pending;
}

/* Ends a request. The caller may free it at once: do not use it afterwards. */
static void litepcie_ring_done(struct litepcie_request *req, size_t moved,
			       int error)
{
	list_del(&req->node);
	req->state = LITEPCIE_REQUEST_DONE;
	req->moved = moved;
	req->error = error;
	req->complete(req);
}

/* Ends the requests whose last descriptor comes before count @completed. */
static void litepcie_ring_retire(struct litepcie_engine *engine, u32 completed)
{
	struct litepcie_request *req;

	lockdep_assert_held(&engine->lock);
	if (completed == engine->completed)
		return;
	engine->progress = jiffies;
	while ((req = list_first_entry_or_null(&engine->inflight,
					       struct litepcie_request, node))) {
		if (completed - req->first < req->sgt.nents)
			break;
		litepcie_ring_done(req, req->bytes, 0);
	}
	engine->completed = completed;
}

/**
 * litepcie_ring_poll() - read the status block and end complete requests
 * @engine: the engine
 *
 * Called by the interrupt handler and the watchdog.
 */
void litepcie_ring_poll(struct litepcie_engine *engine)
{
	unsigned long flags;
	u32 completed;
	u8 reason;

	spin_lock_irqsave(&engine->lock, flags);
	if (engine->state != LITEPCIE_ENGINE_RUNNING)
		goto unlock;
	completed = le32_to_cpu(READ_ONCE(engine->status[LITEPCIE_STATUS_COMPLETED]));
	/* The card wrote the data before the count; read in reverse order. */
	dma_rmb();
	reason = le32_to_cpu(READ_ONCE(engine->status[LITEPCIE_STATUS_REASON]));
	/* Ignore an impossible count: the watchdog reads the card's register. */
	if (litepcie_ring_count_valid(engine->completed, completed, engine->produced))
		litepcie_ring_retire(engine, completed);
	if (reason && !engine->stopped) {
		engine->stopped = true;
		mod_delayed_work(engine->ld->queue, &engine->watchdog, 0);
	}
	litepcie_ring_feed(engine);
unlock:
	spin_unlock_irqrestore(&engine->lock, flags);
}

/* Bytes of a request that landed before the engine stopped in it. */
static size_t litepcie_ring_landed(struct litepcie_request *req, u32 completed,
				   u32 bytes)
{
	u32 descriptors = completed - req->first;
	struct scatterlist *sg;
	size_t landed = 0;
	unsigned int i;

	for_each_sgtable_dma_sg(&req->sgt, sg, i) {
		if (i == descriptors)
			return landed + min(bytes, sg_dma_len(sg));
		landed += sg_dma_len(sg);
	}
	return landed;
}

/**
 * litepcie_ring_rewind() - empty the ring of an engine that was reset
 * @engine: the engine, paused
 * @completed: descriptors that were complete before the reset
 * @bytes: bytes that landed of the first incomplete descriptor
 * @error: negative errno for the request of that descriptor; 0 if it is to be
 *	moved again
 *
 * The requests after it become pending and are moved again from their start.
 */
void litepcie_ring_rewind(struct litepcie_engine *engine, u32 completed,
			  u32 bytes, int error)
{
	struct litepcie_request *req;

	spin_lock_irq(&engine->lock);
	if (litepcie_ring_count_valid(engine->completed, completed, engine->produced)) {
		litepcie_ring_retire(engine, completed);
	} else {
		completed = engine->completed;
		bytes = 0;
	}
	req = list_first_entry_or_null(&engine->inflight,
				       struct litepcie_request, node);
	if (req && error)
		litepcie_ring_done(req, litepcie_ring_landed(req, completed, bytes),
				   error);
	list_for_each_entry(req, &engine->inflight, node)
		req->state = LITEPCIE_REQUEST_PENDING;
	list_splice_init(&engine->inflight, &engine->pending);
	engine->produced = 0;
	engine->completed = 0;
	engine->seen = 0;
	engine->stopped = false;
	memset(engine->status, 0, LITEPCIE_STATUS_BYTES);
	spin_unlock_irq(&engine->lock);
}

/**
 * litepcie_ring_fail() - end all requests and refuse new ones
 * @engine: the engine; it can no longer access the pages of a request
 * @error: negative errno for the requests
 */
void litepcie_ring_fail(struct litepcie_engine *engine, int error)
{
	struct litepcie_request *req, *next;

	spin_lock_irq(&engine->lock);
	engine->state = LITEPCIE_ENGINE_FAILED;
	engine->error = error;
	list_splice_init(&engine->inflight, &engine->pending);
	list_for_each_entry_safe(req, next, &engine->pending, node)
		litepcie_ring_done(req, 0, error);
	spin_unlock_irq(&engine->lock);
}
