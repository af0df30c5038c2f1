// SPDX-License-Identifier: GPL-2.0-only
/*
 * The descriptor ring of an engine and the requests in it.
 *
 * Several requests can be in the ring, of LITEPCIE_COMMIT_BYTES together. A
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

/* The request that enters the ring next, taken from its list; NULL if none may. */
static struct litepcie_request *litepcie_ring_next(struct litepcie_engine *engine,
						   u32 produced)
{
	struct litepcie_request *req;

	req = list_first_entry_or_null(&engine->pending, struct litepcie_request, node);
	if (!req)
		req = litepcie_queue_first(engine);
	if (!req || (engine->committed &&
		     engine->committed + req->bytes > LITEPCIE_COMMIT_BYTES))
		return NULL;
	if (req->sgt.nents > litepcie_ring_room(engine->ring_log2, produced,
						engine->completed))
		return NULL;
	if (req->state == LITEPCIE_REQUEST_QUEUED)
		litepcie_queue_take(req);
	else
		list_del_init(&req->node);
	return req;
}

/**
 * litepcie_ring_feed() - move requests into the ring
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
	while ((req = litepcie_ring_next(engine, produced))) {
		produced = litepcie_ring_encode(engine, req, produced);
		req->state = LITEPCIE_REQUEST_INFLIGHT;
		engine->committed += req->bytes;
		list_add_tail(&req->node, &engine->inflight);
	}
	if (produced == engine->produced)
		return;
	engine->produced = produced;
	/* writel() orders the stores to the ring before the doorbell. */
	writel(produced, engine->regs + LITEPCIE_ENGINE_DOORBELL);
	queue_delayed_work(engine->ld->queue, &engine->watchdog, litepcie_timeout());
}

/**
 * litepcie_ring_end() - tell the callers of requests that they are done
 * @engine: the engine, without its lock
 * @done: requests; the callers may free them at once
 *
 * Unmaps the requests: their callers may outlive the card.
 */
void litepcie_ring_end(struct litepcie_engine *engine, struct list_head *done)
{
	struct device *dma = &engine->ld->pdev->dev;
	struct litepcie_request *req, *next;

	list_for_each_entry_safe(req, next, done, node) {
		list_del_init(&req->node);
		dma_unmap_sgtable(dma, &req->sgt, engine->dma, 0);
		req->complete(req);
	}
}

/* Moves a request to @done, the list for litepcie_ring_end(). */
static void litepcie_ring_done(struct litepcie_engine *engine,
			       struct litepcie_request *req, size_t moved,
			       int error, struct list_head *done)
{
	if (req->state == LITEPCIE_REQUEST_INFLIGHT)
		engine->committed -= req->bytes;
	req->state = LITEPCIE_REQUEST_DONE;
	req->moved = moved;
	req->error = error;
	list_move_tail(&req->node, done);
}

/* Ends the requests whose last descriptor comes before count @completed. */
static void litepcie_ring_retire(struct litepcie_engine *engine, u32 completed,
				 struct list_head *done)
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
		litepcie_ring_done(engine, req, req->bytes, 0, done);
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
	LIST_HEAD(done);
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
		litepcie_ring_retire(engine, completed, &done);
	if (reason && !engine->stopped) {
		engine->stopped = true;
		mod_delayed_work(engine->ld->queue, &engine->watchdog, 0);
	}
	litepcie_ring_feed(engine);
unlock:
	spin_unlock_irqrestore(&engine->lock, flags);
	litepcie_ring_end(engine, &done);
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
	LIST_HEAD(done);

	spin_lock_irq(&engine->lock);
	if (litepcie_ring_count_valid(engine->completed, completed, engine->produced)) {
		litepcie_ring_retire(engine, completed, &done);
	} else {
		completed = engine->completed;
		bytes = 0;
	}
	req = list_first_entry_or_null(&engine->inflight,
				       struct litepcie_request, node);
	if (req && error)
		litepcie_ring_done(engine, req,
				   litepcie_ring_landed(req, completed, bytes),
				   error, &done);
	list_for_each_entry(req, &engine->inflight, node)
		req->state = LITEPCIE_REQUEST_PENDING;
	list_splice_init(&engine->inflight, &engine->pending);
	engine->committed = 0;
	engine->produced = 0;
	engine->completed = 0;
	engine->seen = 0;
	engine->stopped = false;
	memset(engine->status, 0, LITEPCIE_STATUS_BYTES);
	spin_unlock_irq(&engine->lock);
	litepcie_ring_end(engine, &done);
}

/**
 * litepcie_ring_fail() - end all requests and refuse new ones
 * @engine: the engine; it can no longer access the pages of a request
 * @error: negative errno for the requests
 */
void litepcie_ring_fail(struct litepcie_engine *engine, int error)
{
	struct litepcie_request *req, *next;
	LIST_HEAD(done);

	spin_lock_irq(&engine->lock);
	engine->state = LITEPCIE_ENGINE_FAILED;
	engine->error = error;
	list_splice_init(&engine->inflight, &engine->pending);
	list_for_each_entry_safe(req, next, &engine->pending, node)
		litepcie_ring_done(engine, req, 0, error, &done);
	while ((req = litepcie_queue_first(engine))) {
		litepcie_queue_remove(req);
		litepcie_ring_done(engine, req, 0, error, &done);
	}
	spin_unlock_irq(&engine->lock);
	litepcie_ring_end(engine, &done);
}
