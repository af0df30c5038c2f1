// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of open files that wait for an engine, and their order.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/math64.h>
#include <linux/minmax.h>

#include "driver.h"
#include "request.h"

/*
 * The order in which the open files of a card get an engine: pure functions,
 * tested without a card.
 *
 * This is weighted fair queueing with equal weights. The engine serves the file
 * whose oldest request would be done first if the engine served all files at
 * the same time, byte by byte. A short request of a file that was idle is
 * therefore served before the next long request of any other file, also if
 * there are many other files. A file that is opened anew gains at most one
 * request, so nobody can keep others away.
 */

/* A request has a descriptor, headers and an interrupt besides its bytes. */
#define LITEPCIE_FAIR_LEAST	256

/**
 * litepcie_fair_cost() - what a request counts for
 * @bytes: bytes it moves
 *
 * Return: its cost in bytes.
 */
u32 litepcie_fair_cost(size_t bytes)
{
	return max_t(size_t, bytes, LITEPCIE_FAIR_LEAST);
}

static bool litepcie_fair_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct litepcie_share, node)->due <
	       rb_entry(b, struct litepcie_share, node)->due;
}

/**
 * litepcie_fair_add() - a file without work has a request
 * @fair: the files with work
 * @share: the file's share, not in @fair
 * @cost: cost of the request
 */
void litepcie_fair_add(struct litepcie_fair *fair, struct litepcie_share *share,
		       u32 cost)
{
	share->due = max(share->due, fair->now) + cost;
	rb_add_cached(&share->node, &fair->waiting, litepcie_fair_less);
	fair->count++;
}

/**
 * litepcie_fair_first() - the file that is served next
 * @fair: the files with work
 *
 * Return: its share, or NULL if no file has work.
 */
struct litepcie_share *litepcie_fair_first(struct litepcie_fair *fair)
{
	struct rb_node *node = rb_first_cached(&fair->waiting);

	return node ? rb_entry(node, struct litepcie_share, node) : NULL;
}

/* Sorts a share anew after its oldest request has changed. */
static void litepcie_fair_move(struct litepcie_fair *fair,
			       struct litepcie_share *share, u64 due, bool work)
{
	/* A file that is alone is in its place. */
	if (work && fair->count == 1) {
		share->due = due;
		return;
	}
	rb_erase_cached(&share->node, &fair->waiting);
	share->due = due;
	if (work)
		rb_add_cached(&share->node, &fair->waiting, litepcie_fair_less);
	else
		fair->count--;
}

/**
 * litepcie_fair_serve() - the oldest request of a file was given to the card
 * @fair: the files with work
 * @share: the file's share, in @fair
 * @cost: cost of that request
 * @next: cost of the file's next request, 0 if it has none
 */
void litepcie_fair_serve(struct litepcie_fair *fair, struct litepcie_share *share,
			 u32 cost, u32 next)
{
	fair->now += div_u64(cost, fair->count);
	litepcie_fair_move(fair, share, share->due + next, next);
}

/**
 * litepcie_fair_drop() - the oldest request of a file was cancelled
 * @fair: the files with work
 * @share: the file's share, in @fair
 * @cost: cost of that request
 * @next: cost of the file's next request, 0 if it has none
 */
void litepcie_fair_drop(struct litepcie_fair *fair, struct litepcie_share *share,
			u32 cost, u32 next)
{
	litepcie_fair_move(fair, share, share->due - cost + next, next);
}

/*
 * Requests of open files that the card does not have yet: how much may wait,
 * and which request is next.
 *
 * Each open file has a queue per direction. litepcie_ring_feed() takes requests
 * from the queues in their order, gives each to an engine, and commits
 * at most LITEPCIE_COMMIT_BYTES to all engines of a direction together; an
 * engine without work may get a short request besides. The rest stays here,
 * where a signal, exit or io_cancel() cancels it.
 *
 * All engines of a direction take from the same queues, so fairness and limits
 * are those of the card, however many channels it has. A file that was bound to
 * a channel would share it with those files that chance put there.
 *
 * What calls hold is bounded per open file, and per direction of the card. The
 * kernel's memory is charged to the caller's memory cgroup, and so are the pinned
 * pages, as memory of the program. Pins are not counted against RLIMIT_MEMLOCK, as
 * those of direct I/O are not. They last while a call waits for its turn, so the
 * limits here bound them instead: engine_bytes, and a short call of each open file
 * without another one. Without that, the calls of some files could stop those of
 * others.
 */

/**
 * litepcie_pool_init() - prepare a direction of a card
 * @pool: the pool, all zero
 */
void litepcie_pool_init(struct litepcie_pool *pool)
{
	INIT_LIST_HEAD(&pool->engines);
	spin_lock_init(&pool->lock);
	INIT_LIST_HEAD(&pool->waiters);
}

/**
 * litepcie_pool_error() - why no request can be moved
 * @pool: the engines, with their lock held
 *
 * Return: 0 if an engine takes requests or will take them, else the negative
 * errno of the engine that failed last in the order of channels.
 */
int litepcie_pool_error(struct litepcie_pool *pool)
{
	struct litepcie_engine *engine;
	int error = 0;

	list_for_each_entry(engine, &pool->engines, share) {
		if (engine->state != LITEPCIE_ENGINE_FAILED)
			return 0;
		error = engine->error;
	}
	return error;
}

/**
 * litepcie_flow_init() - prepare the queue of an open file for a direction
 * @flow: the queue, all zero
 * @engine: the engine of that direction and of channel 0
 */
void litepcie_flow_init(struct litepcie_flow *flow, struct litepcie_engine *engine)
{
	flow->engine = engine;
	INIT_LIST_HEAD(&flow->queue);
}

/* Each call counts as at least a page, so the limit in bytes also limits calls. */
static size_t litepcie_flow_size(size_t bytes)
{
	return max_t(size_t, bytes, SZ_4K);
}

/*
 * Other files cannot stop a short call of a file without another one. A call that is
 * longer than a limit waits until it is alone.
 */
static bool litepcie_flow_has_room(struct litepcie_flow *flow, size_t bytes)
{
	struct litepcie_pool *pool = flow->engine->pool;

	if (!flow->held && bytes <= LITEPCIE_LONG_BYTES)
		return true;
	if (flow->held && flow->held + bytes > litepcie_file_bytes())
		return false;
	return !pool->held || pool->held + bytes <= litepcie_engine_bytes();
}

/* Reserves room if there is any; the lock of the pool is held. */
static bool litepcie_flow_take(struct litepcie_flow *flow, size_t bytes)
{
	if (!litepcie_flow_has_room(flow, bytes))
		return false;
	flow->held += bytes;
	flow->engine->pool->held += bytes;
	return true;
}

/* Waits until litepcie_flow_release() has reserved room for a call. */
static int litepcie_flow_wait(struct litepcie_pool *pool, struct litepcie_waiter *waiter)
{
	unsigned long flags;
	bool granted;

	if (!wait_for_completion_interruptible(&waiter->granted))
		return 0;
	spin_lock_irqsave(&pool->lock, flags);
	granted = list_empty(&waiter->node);
	list_del_init(&waiter->node);
	spin_unlock_irqrestore(&pool->lock, flags);
	return granted ? 0 : -ERESTARTSYS;
}

/**
 * litepcie_flow_reserve() - wait until a call may hold memory
 * @flow: queue of the open file
 * @bytes: bytes that the call moves
 * @wait: whether to wait
 *
 * The caller must not have another reservation while it waits.
 *
 * Return: 0, -EAGAIN if there is no room and @wait is false, or -ERESTARTSYS
 * after a signal.
 */
int litepcie_flow_reserve(struct litepcie_flow *flow, size_t bytes, bool wait)
{
	struct litepcie_pool *pool = flow->engine->pool;
	struct litepcie_waiter waiter;
	unsigned long flags;
	bool taken;

	bytes = litepcie_flow_size(bytes);
	spin_lock_irqsave(&pool->lock, flags);
	taken = litepcie_flow_take(flow, bytes);
	if (!taken && wait) {
		waiter.flow = flow;
		waiter.bytes = bytes;
		init_completion(&waiter.granted);
		list_add_tail(&waiter.node, &pool->waiters);
	}
	spin_unlock_irqrestore(&pool->lock, flags);
	if (taken)
		return 0;
	return wait ? litepcie_flow_wait(pool, &waiter) : -EAGAIN;
}

/**
 * litepcie_flow_release() - undo litepcie_flow_reserve()
 * @flow: queue of the open file
 * @bytes: the same number
 *
 * Gives the room to calls that wait, and wakes only those that have room now.
 */
void litepcie_flow_release(struct litepcie_flow *flow, size_t bytes)
{
	struct litepcie_pool *pool = flow->engine->pool;
	struct litepcie_waiter *waiter, *next;
	unsigned long flags;

	bytes = litepcie_flow_size(bytes);
	spin_lock_irqsave(&pool->lock, flags);
	flow->held -= bytes;
	pool->held -= bytes;
	list_for_each_entry_safe(waiter, next, &pool->waiters, node) {
		if (!litepcie_flow_take(waiter->flow, waiter->bytes))
			continue;
		list_del_init(&waiter->node);
		/* The call may go on at once, and its structure is on its stack. */
		complete(&waiter->granted);
	}
	spin_unlock_irqrestore(&pool->lock, flags);
}

/* Cost of the oldest request of a queue, 0 if there is none. */
static u32 litepcie_queue_cost(struct litepcie_flow *flow)
{
	struct litepcie_request *req;

	req = list_first_entry_or_null(&flow->queue, struct litepcie_request, node);
	return req ? litepcie_fair_cost(req->bytes) : 0;
}

/**
 * litepcie_queue_add() - append a request to the queue of its open file
 * @req: the request; the lock of its pool is held
 */
void litepcie_queue_add(struct litepcie_request *req)
{
	struct litepcie_flow *flow = req->flow;

	req->state = LITEPCIE_REQUEST_QUEUED;
	list_add_tail(&req->node, &flow->queue);
	if (list_is_first(&req->node, &flow->queue))
		litepcie_fair_add(&flow->engine->pool->fair, &flow->share,
				  litepcie_fair_cost(req->bytes));
}

/**
 * litepcie_queue_first() - choose the request that the card gets next
 * @pool: the engines, with their lock held
 *
 * Return: the request, which stays in its queue, or NULL if there is none.
 */
struct litepcie_request *litepcie_queue_first(struct litepcie_pool *pool)
{
	struct litepcie_share *share = litepcie_fair_first(&pool->fair);

	if (!share)
		return NULL;
	return list_first_entry(&container_of(share, struct litepcie_flow, share)->queue,
				struct litepcie_request, node);
}

/**
 * litepcie_queue_take() - take a request for the card
 * @req: what litepcie_queue_first() returned; afterwards it is in no list
 */
void litepcie_queue_take(struct litepcie_request *req)
{
	struct litepcie_flow *flow = req->flow;

	list_del_init(&req->node);
	litepcie_fair_serve(&flow->engine->pool->fair, &flow->share,
			    litepcie_fair_cost(req->bytes), litepcie_queue_cost(flow));
}

/**
 * litepcie_queue_remove() - take a request that will not be moved
 * @req: a queued request; the lock of its pool is held; afterwards it is in no
 *	list
 */
void litepcie_queue_remove(struct litepcie_request *req)
{
	struct litepcie_flow *flow = req->flow;
	bool first = list_is_first(&req->node, &flow->queue);

	list_del_init(&req->node);
	if (first)
		litepcie_fair_drop(&flow->engine->pool->fair, &flow->share,
				   litepcie_fair_cost(req->bytes),
				   litepcie_queue_cost(flow));
}
