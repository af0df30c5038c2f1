// SPDX-License-Identifier: GPL-2.0-only
/*
 * The descriptor rings of engines: how requests enter them, and leave them.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/dma-mapping.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "driver.h"
#include "litepcie_trace.h"
#include "request.h"

/*
 * Descriptors and positions in a ring: pure functions, tested without a card.
 *
 * Counts of descriptors are 32 bits wide and wrap, in the card and here, so
 * only their differences are compared.
 */

static_assert(sizeof(struct litepcie_descriptor) == LITEPCIE_DESCRIPTOR_BYTES);

/**
 * litepcie_descriptor_encode() - fill a descriptor
 * @descriptor: the slot in the ring
 * @length: bytes, 1 to LITEPCIE_DESCRIPTOR_LENGTH_MASK
 * @flags: LITEPCIE_DESCRIPTOR_INTERRUPT or 0
 * @endpoint: byte address in the memory of the card
 * @host: bus address of the host memory
 */
void litepcie_descriptor_encode(struct litepcie_descriptor *descriptor,
				u32 length, u32 flags, u32 endpoint, u64 host)
{
	length &= LITEPCIE_DESCRIPTOR_LENGTH_MASK;
	descriptor->control = cpu_to_le32(length | flags);
	descriptor->endpoint = cpu_to_le32(endpoint);
	descriptor->host_lo = cpu_to_le32(lower_32_bits(host));
	descriptor->host_hi = cpu_to_le32(upper_32_bits(host));
}

/**
 * litepcie_ring_room() - descriptors that can be added to a ring
 * @log2: log2 of the number of descriptors in the ring
 * @produced: descriptors made available since the reset
 * @completed: descriptors reported complete since the reset
 *
 * Return: free descriptors, 0 to the size of the ring.
 */
u32 litepcie_ring_room(unsigned int log2, u32 produced, u32 completed)
{
	return BIT(log2) - (produced - completed);
}

/**
 * litepcie_ring_count_valid() - is a count that the card reports possible
 * @completed: the last valid count
 * @reported: the count to check
 * @produced: descriptors made available since the reset
 *
 * Return: true if @reported is in the range from @completed to @produced.
 */
bool litepcie_ring_count_valid(u32 completed, u32 reported, u32 produced)
{
	return reported - completed <= produced - completed;
}

/**
 * litepcie_chunk_bytes() - how much of a buffer one request takes
 * @offset: offset of the first byte in its page
 * @left: bytes left in the buffer
 * @pages: largest number of pages in a request
 * @page_size: bytes of a page
 *
 * Every chunk except the last ends at a page boundary, so every chunk except
 * the first begins at one.
 *
 * Return: bytes, 0 only if @left is 0.
 */
size_t litepcie_chunk_bytes(unsigned long offset, size_t left,
			    unsigned int pages, unsigned long page_size)
{
	return min_t(size_t, left, pages * page_size - offset);
}

static const struct {
	int error;
	const char *name;
} litepcie_reasons[] = {
	[LITEPCIE_REASON_NONE] = { -EIO, "no reason given" },
	[LITEPCIE_REASON_UNSUPPORTED_REQUEST] = { -EIO, "unsupported request" },
	[LITEPCIE_REASON_COMPLETER_ABORT] = { -EIO, "completer abort" },
	[LITEPCIE_REASON_POISONED] = { -EIO, "poisoned completion" },
	[LITEPCIE_REASON_TIMEOUT] = { -ETIMEDOUT, "completion timeout" },
	[LITEPCIE_REASON_BAD_LENGTH] = { -EIO, "wrong completion length" },
	[LITEPCIE_REASON_ZERO_LENGTH] = { -EIO, "descriptor of length 0" },
	[LITEPCIE_REASON_MEMORY_RANGE] = { -EIO, "address past the end of the card's memory" },
	[LITEPCIE_REASON_BAD_LINK] = { -EIO, "bad LINK descriptor" },
	[LITEPCIE_REASON_DOORBELL] = { -EIO, "doorbell beyond the ring or backwards" },
	[LITEPCIE_REASON_BAD_RING] = { -EIO, "ring or status block misaligned" },
	[LITEPCIE_REASON_BUS_MASTER] = { -EIO, "bus mastering is off" },
	[LITEPCIE_REASON_RESERVED] = { -EIO, "reserved bit of a descriptor is set" },
	[LITEPCIE_REASON_MEMORY_ERROR] = { -EIO, "error of the card's memory" },
};

/**
 * litepcie_reason_errno() - errno for the reason why an engine stopped
 * @reason: LITEPCIE_REASON_*, or an unknown one of later gateware
 *
 * Return: negative errno, as the uapi header says.
 */
int litepcie_reason_errno(u8 reason)
{
	if (reason >= ARRAY_SIZE(litepcie_reasons))
		return -EIO;
	return litepcie_reasons[reason].error;
}

/**
 * litepcie_reason_name() - text for the reason why an engine stopped
 * @reason: LITEPCIE_REASON_*, or an unknown one of later gateware
 *
 * Return: a constant string.
 */
const char *litepcie_reason_name(u8 reason)
{
	if (reason >= ARRAY_SIZE(litepcie_reasons))
		return "unknown reason";
	return litepcie_reasons[reason].name;
}

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
 */

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

/*
 * The descriptor ring of an engine and the requests in it. The count of complete
 * descriptors is read from the status block, never from the card.
 */

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
