// SPDX-License-Identifier: GPL-2.0-only
/*
 * The descriptor ring of an engine and the requests in it. The count of complete
 * descriptors is read from the status block, never from the card.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/dma-mapping.h>
#include <linux/jiffies.h>

#include "driver.h"
#include "litepcie_trace.h"
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

/**
 * litepcie_ring_end() - tell the callers of requests that they are done
 * @engine: the engine, without its lock
 * @done: requests; the callers may free them at once
 *
 * Unmaps the requests: their callers may outlive the card.
 */
void litepcie_ring_end(struct litepcie_engine *engine, struct list_head *done)
{
	struct litepcie_request *req, *next;

	list_for_each_entry_safe(req, next, done, node) {
		litepcie_request_unmap(engine, req);
		req->complete(req);
	}
}

/* The card no longer has a request; it is to be moved to a list for litepcie_ring_end(). */
static void litepcie_ring_done(struct litepcie_engine *engine,
			       struct litepcie_request *req, size_t moved, int error)
{
	if (req->state == LITEPCIE_REQUEST_INFLIGHT) {
		engine->committed -= req->bytes;
		engine->pool->committed -= req->bytes;
	}
	req->state = LITEPCIE_REQUEST_DONE;
	req->moved = moved;
	req->error = error;
	trace_litepcie_complete(dev_name(&engine->ld->dev), engine->name,
				req->endpoint, req->bytes, moved, error);
}

/*
 * Ends the requests whose last descriptor comes before count @completed, @most of
 * them, and moves them to @done, which is empty. Returns true if some are left.
 */
static bool litepcie_ring_retire(struct litepcie_engine *engine, u32 completed,
				 unsigned int most, struct list_head *done)
{
	struct list_head *left = &engine->inflight;
	struct litepcie_request *req;
	bool more = false;

	lockdep_assert_held(&engine->pool->lock);
	if (completed == engine->completed)
		return false;
	engine->progress = jiffies;
	list_for_each_entry(req, &engine->inflight, node) {
		if (completed - req->first < req->sgt.nents) {
			left = &req->node;
			break;
		}
		if (!most--) {
			left = &req->node;
			completed = req->first;
			more = true;
			break;
		}
		litepcie_ring_done(engine, req, req->bytes, 0);
	}
	list_cut_before(done, &engine->inflight, left);
	engine->completed = completed;
	return more;
}

/**
 * litepcie_ring_poll() - read the status block and end complete requests
 * @engine: the engine
 * @most: number of them that it ends at most
 *
 * Called by the interrupt handler and its thread, the watchdog, and callers that
 * poll.
 *
 * Return: true if complete requests are left.
 */
bool litepcie_ring_poll(struct litepcie_engine *engine, unsigned int most)
{
	unsigned long flags;
	bool more = false;
	LIST_HEAD(done);
	u32 completed;
	u8 reason;

	spin_lock_irqsave(&engine->pool->lock, flags);
	if (engine->state != LITEPCIE_ENGINE_RUNNING)
		goto unlock;
	completed = le32_to_cpu(READ_ONCE(engine->status[LITEPCIE_STATUS_COMPLETED]));
	/* The card wrote the data before the count; read in reverse order. */
	dma_rmb();
	reason = le32_to_cpu(READ_ONCE(engine->status[LITEPCIE_STATUS_REASON]));
	/* Ignore an impossible count: the watchdog reads the card's register. */
	if (litepcie_ring_count_valid(engine->completed, completed, engine->produced))
		more = litepcie_ring_retire(engine, completed, most, &done);
	if (reason && !engine->stopped) {
		engine->stopped = true;
		mod_delayed_work(engine->ld->queue, &engine->watchdog, 0);
	}
	litepcie_ring_feed(engine->pool);
unlock:
	spin_unlock_irqrestore(&engine->pool->lock, flags);
	litepcie_ring_end(engine, &done);
	return more;
}

/**
 * litepcie_ring_look() - end complete requests if there are any
 * @engine: the engine
 *
 * Return: whether the card has reported a descriptor since the last call.
 */
bool litepcie_ring_look(struct litepcie_engine *engine)
{
	if (le32_to_cpu(READ_ONCE(engine->status[LITEPCIE_STATUS_COMPLETED])) ==
	    READ_ONCE(engine->completed))
		return false;
	litepcie_ring_poll(engine, UINT_MAX);
	return true;
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

	spin_lock_irq(&engine->pool->lock);
	if (litepcie_ring_count_valid(engine->completed, completed, engine->produced)) {
		litepcie_ring_retire(engine, completed, UINT_MAX, &done);
	} else {
		completed = engine->completed;
		bytes = 0;
	}
	req = list_first_entry_or_null(&engine->inflight,
				       struct litepcie_request, node);
	if (req && error) {
		litepcie_ring_done(engine, req,
				   litepcie_ring_landed(req, completed, bytes), error);
		list_move_tail(&req->node, &done);
	}
	list_for_each_entry(req, &engine->inflight, node)
		req->state = LITEPCIE_REQUEST_PENDING;
	list_splice_init(&engine->inflight, &engine->pending);
	engine->pool->committed -= engine->committed;
	engine->committed = 0;
	engine->produced = 0;
	engine->rung = 0;
	engine->completed = 0;
	engine->seen = 0;
	engine->stopped = false;
	memset(engine->status, 0, LITEPCIE_STATUS_BYTES);
	spin_unlock_irq(&engine->pool->lock);
	litepcie_ring_end(engine, &done);
}

/**
 * litepcie_ring_refuse() - give an engine no more requests
 * @engine: the engine
 * @error: negative errno for new requests, if no other engine takes them
 *
 * The requests that it has stay until litepcie_ring_fail().
 */
void litepcie_ring_refuse(struct litepcie_engine *engine, int error)
{
	spin_lock_irq(&engine->pool->lock);
	engine->state = LITEPCIE_ENGINE_FAILED;
	engine->error = error;
	spin_unlock_irq(&engine->pool->lock);
}

/* As litepcie_ring_end(), for requests whose memory the card may still access. */
static void litepcie_ring_give_up(struct litepcie_engine *engine, struct list_head *done)
{
	struct litepcie_request *req, *next;

	list_for_each_entry_safe(req, next, done, node) {
		list_del_init(&req->node);
		if (!litepcie_request_keep(engine, req))
			litepcie_request_unmap(engine, req);
		req->complete(req);
	}
}

/**
 * litepcie_ring_fail() - end the requests of an engine and give it no others
 * @engine: the engine
 * @error: negative errno for the requests
 *
 * If this was the last engine of the direction, ends all requests and refuses
 * new ones. While the card is not known to be quiet, the memory of those that it
 * had stays.
 */
void litepcie_ring_fail(struct litepcie_engine *engine, int error)
{
	struct litepcie_pool *pool = engine->pool;
	struct litepcie_request *req;
	LIST_HEAD(given);
	LIST_HEAD(done);

	spin_lock_irq(&pool->lock);
	engine->state = LITEPCIE_ENGINE_FAILED;
	engine->error = error;
	list_splice_init(&engine->inflight, &engine->pending);
	list_for_each_entry(req, &engine->pending, node)
		litepcie_ring_done(engine, req, 0, error);
	list_splice_init(&engine->pending, &given);
	while (litepcie_pool_error(pool) && (req = litepcie_queue_first(pool))) {
		litepcie_queue_remove(req);
		litepcie_ring_done(engine, req, 0, error);
		list_add_tail(&req->node, &done);
	}
	/* What went to this engine leaves room; a lost card gets nothing more. */
	if (READ_ONCE(engine->ld->card) == LITEPCIE_CARD_PRESENT)
		litepcie_ring_feed(pool);
	spin_unlock_irq(&pool->lock);
	litepcie_ring_give_up(engine, &given);
	litepcie_ring_end(engine, &done);
}
