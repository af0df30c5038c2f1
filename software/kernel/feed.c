// SPDX-License-Identifier: GPL-2.0-only
/*
 * How requests enter the descriptor rings of a direction.
 *
 * Several requests can be in a ring. A request enters the ring of one engine as
 * a whole, or waits until one of the rings has room for all of it. Only its last
 * descriptor asks for an interrupt.
 *
 * A request is mapped for the card when it enters a ring. So what waits takes nothing
 * of what all devices share: a bounce buffer (swiotlb), addresses of an IOMMU. If the
 * kernel has no room for a mapping, the request waits, until others of this card
 * have ended or other devices have made room.
 *
 * A request whose caller polls asks for none if it is alone in the ring: the card
 * then reports it because it has no other descriptor. One more request, of anybody,
 * asks for an interrupt, so no one waits for a caller that does not poll.
 *
 * A short request goes to the engine with the least bytes to move. Long ones go
 * to the first engine: one engine fills the link with them, several would gain
 * nothing, and short requests would wait behind them everywhere.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/jiffies.h>

#include "driver.h"
#include "litepcie_trace.h"
#include "request.h"

/* Writes the descriptors of a request at @position; returns the next one. */
static u32 litepcie_ring_encode(struct litepcie_engine *engine,
				struct litepcie_request *req, u32 position)
{
	u32 mask = BIT(engine->ring_log2) - 1;
	bool quiet = req->polled && list_empty(&engine->inflight);
	u32 end = quiet ? 0 : LITEPCIE_DESCRIPTOR_INTERRUPT;
	u32 endpoint = req->endpoint;
	struct scatterlist *sg;
	unsigned int i;

	req->first = position;
	for_each_sgtable_dma_sg(&req->sgt, sg, i) {
		bool last = i + 1 == req->sgt.nents;

		litepcie_descriptor_encode(&engine->ring[position++ & mask],
					   sg_dma_len(sg), last ? end : 0,
					   endpoint, sg_dma_address(sg));
		endpoint += sg_dma_len(sg);
	}
	return position;
}

static bool litepcie_ring_has_room(struct litepcie_engine *engine,
				   struct litepcie_request *req)
{
	return engine->state == LITEPCIE_ENGINE_RUNNING && !engine->stopped &&
	       req->sgt.nents <= litepcie_ring_room(engine->ring_log2, engine->produced,
						    engine->completed);
}

/* The engine that gets a request; NULL if none has room for it. */
static struct litepcie_engine *litepcie_ring_choose(struct litepcie_pool *pool,
						    struct litepcie_request *req)
{
	struct litepcie_engine *engine, *best = NULL;

	list_for_each_entry(engine, &pool->engines, share) {
		if (!litepcie_ring_has_room(engine, req))
			continue;
		if (req->bytes >= LITEPCIE_LONG_BYTES)
			return engine;
		if (!best || engine->committed < best->committed)
			best = engine;
	}
	return best;
}

/* The card has little ahead, or this engine has nothing and the request is short. */
static bool litepcie_ring_may_commit(struct litepcie_engine *engine,
				     struct litepcie_request *req)
{
	size_t committed = engine->pool->committed;

	return !committed || committed + req->bytes <= LITEPCIE_COMMIT_BYTES ||
	       (!engine->committed && req->bytes < LITEPCIE_LONG_BYTES);
}

/* Time until the kernel is asked again for a mapping. */
#define LITEPCIE_REFUSED_MS	10

/* Maps a request that enters a ring; false if it has to wait. */
static bool litepcie_ring_map(struct litepcie_engine *engine, struct litepcie_request *req)
{
	struct litepcie_pool *pool = engine->pool;

	if (!litepcie_request_map(engine, req)) {
		pool->refused = 0;
		return true;
	}
	/* 0 means not refused. */
	if (!pool->refused)
		pool->refused = jiffies | 1;
	queue_delayed_work(engine->ld->queue, &pool->feed,
			   msecs_to_jiffies(LITEPCIE_REFUSED_MS));
	return false;
}

/* Puts a request that is in no list into the ring. */
static void litepcie_ring_put(struct litepcie_engine *engine,
			      struct litepcie_request *req)
{
	if (list_empty(&engine->inflight))
		engine->progress = jiffies;
	engine->produced = litepcie_ring_encode(engine, req, engine->produced);
	req->state = LITEPCIE_REQUEST_INFLIGHT;
	engine->committed += req->bytes;
	engine->pool->committed += req->bytes;
	list_add_tail(&req->node, &engine->inflight);
}

/* Puts requests that a reset took out of the ring into it again. */
static void litepcie_ring_replay(struct litepcie_engine *engine)
{
	struct litepcie_request *req;

	while ((req = list_first_entry_or_null(&engine->pending, struct litepcie_request,
					       node)) &&
	       litepcie_ring_has_room(engine, req)) {
		list_del_init(&req->node);
		litepcie_ring_put(engine, req);
	}
}

/* Tells the card of what was put into the ring. */
static void litepcie_ring_doorbell(struct litepcie_engine *engine)
{
	if (engine->produced == engine->rung)
		return;
	engine->rung = engine->produced;
	trace_litepcie_doorbell(dev_name(&engine->ld->dev), engine->name,
				engine->produced, engine->completed);
	/* writel() orders the stores to the ring before the doorbell. */
	writel(engine->produced, engine->regs + LITEPCIE_ENGINE_DOORBELL);
	queue_delayed_work(engine->ld->queue, &engine->watchdog, litepcie_timeout());
}

/**
 * litepcie_ring_feed() - move requests into the rings
 * @pool: the engines, with their lock held
 */
void litepcie_ring_feed(struct litepcie_pool *pool)
{
	struct litepcie_engine *engine;
	struct litepcie_request *req;

	lockdep_assert_held(&pool->lock);
	list_for_each_entry(engine, &pool->engines, share)
		litepcie_ring_replay(engine);
	while ((req = litepcie_queue_first(pool))) {
		engine = litepcie_ring_choose(pool, req);
		if (!engine || !litepcie_ring_may_commit(engine, req) ||
		    !litepcie_ring_map(engine, req))
			break;
		litepcie_queue_take(req);
		litepcie_ring_put(engine, req);
	}
	list_for_each_entry(engine, &pool->engines, share)
		litepcie_ring_doorbell(engine);
}

/* Takes the next request from its queue if it was refused for too long. */
static struct litepcie_request *litepcie_feed_give_up(struct litepcie_pool *pool)
{
	struct litepcie_request *req = litepcie_queue_first(pool);

	if (!req || !pool->refused ||
	    time_before(jiffies, pool->refused + litepcie_timeout()))
		return NULL;
	pool->refused = 0;
	litepcie_queue_remove(req);
	req->state = LITEPCIE_REQUEST_DONE;
	req->error = -ENOMEM;
	return req;
}

/**
 * litepcie_feed_work() - try again to map the next request
 * @work: litepcie_pool.feed
 */
void litepcie_feed_work(struct work_struct *work)
{
	struct litepcie_pool *pool =
		container_of(to_delayed_work(work), struct litepcie_pool, feed);
	struct litepcie_request *req;

	spin_lock_irq(&pool->lock);
	req = litepcie_feed_give_up(pool);
	litepcie_ring_feed(pool);
	spin_unlock_irq(&pool->lock);
	if (req)
		req->complete(req);
}
