// SPDX-License-Identifier: GPL-2.0-only
/*
 * How requests enter and leave the queue of their open file.
 *
 *	create ---> QUEUED ---> INFLIGHT ---> DONE ---> finish
 *	               |          |  ^          ^
 *	               |   reset  v  | replay   |
 *	               |         PENDING        |
 *	               `---- cancel --`---------'
 *
 * The lock of the pool protects the state. The caller's memory is touched only
 * before QUEUED and after DONE. A page that does not come therefore delays its
 * caller, and not unbinding.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/blkdev.h>
#include <linux/file.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "driver.h"
#include "litepcie_trace.h"
#include "request.h"

/*
 * A caller that submits several calls at once has a plug: aio and io_uring. Their
 * requests enter the ring together when the plug is pulled, with one doorbell.
 */
#ifdef CONFIG_BLOCK

struct litepcie_plug {
	struct blk_plug_cb cb;
	struct file *file;
};

/* Called at the end of the batch, or before the caller sleeps. */
static void litepcie_unplug(struct blk_plug_cb *cb, bool from_schedule)
{
	struct litepcie_plug *plug = container_of(cb, struct litepcie_plug, cb);
	struct litepcie_file *lf = plug->file->private_data;
	struct litepcie_pool *pool = cb->data;
	unsigned long flags;
	int idx;

	idx = srcu_read_lock(&lf->ld->gate);
	spin_lock_irqsave(&pool->lock, flags);
	litepcie_ring_feed(pool);
	spin_unlock_irqrestore(&pool->lock, flags);
	srcu_read_unlock(&lf->ld->gate, idx);
	fput(plug->file);
	kfree(plug);
}

/* Called with the lock of the pool, so the plug is not pulled before the return. */
static bool litepcie_plugged(struct litepcie_pool *pool, struct file *file)
{
	struct litepcie_plug *plug;
	struct blk_plug_cb *cb;

	if (!file)
		return false;
	cb = blk_check_plugged(litepcie_unplug, pool, sizeof(*plug));
	if (!cb)
		return false;
	plug = container_of(cb, struct litepcie_plug, cb);
	if (!plug->file)
		plug->file = get_file(file);
	return true;
}

#else

static bool litepcie_plugged(struct litepcie_pool *pool, struct file *file)
{
	return false;
}

#endif

/* Queues a request. */
static int litepcie_submit_request(struct litepcie_request *req, struct file *plugged)
{
	struct litepcie_engine *engine = req->flow->engine;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&engine->pool->lock, flags);
	ret = litepcie_pool_error(engine->pool);
	if (!ret) {
		trace_litepcie_submit(dev_name(&engine->ld->dev),
				      engine->direction == LITEPCIE_TO_CARD,
				      req->endpoint, req->bytes);
		litepcie_queue_add(req);
		if (!litepcie_plugged(engine->pool, plugged))
			litepcie_ring_feed(engine->pool);
	}
	spin_unlock_irqrestore(&engine->pool->lock, flags);
	return ret;
}

/**
 * litepcie_submit() - queue a request
 * @req: what litepcie_request_create() returned; its caller has a reservation. Freed
 *	on error
 * @endpoint: byte address in the memory of the card
 * @complete: litepcie_request.complete
 * @context: litepcie_request.context; NULL if the caller waits
 * @plugged: open file of a call that may wait for other calls of its batch; else
 *	NULL
 *
 * Return: 0: the request is to be ended with litepcie_request_finish() after
 * @complete was called; or a negative errno.
 */
int litepcie_submit(struct litepcie_request *req, u32 endpoint,
		    void (*complete)(struct litepcie_request *req), void *context,
		    struct file *plugged)
{
	struct litepcie_device *ld = req->flow->engine->ld;
	int idx, ret;

	req->endpoint = endpoint;
	req->complete = complete;
	req->context = context;
	if (context)
		req->owner = current->files;
	init_completion(&req->done);

	/* The driver may have been unbound while the pages came. */
	idx = srcu_read_lock(&ld->gate);
	ret = READ_ONCE(ld->gone) ? -ENODEV : litepcie_submit_request(req, plugged);
	srcu_read_unlock(&ld->gate, idx);
	if (!ret)
		return 0;
	req->error = ret;
	litepcie_request_finish(req, &ret);
	return ret;
}

/* Moves a request that the card does not have to @done; false if it has it. */
static bool litepcie_cancel_locked(struct litepcie_request *req, int error,
				   struct list_head *done)
{
	if (req->state == LITEPCIE_REQUEST_QUEUED)
		litepcie_queue_remove(req);
	else if (req->state != LITEPCIE_REQUEST_PENDING)
		return false;
	req->state = LITEPCIE_REQUEST_DONE;
	req->error = error;
	trace_litepcie_complete(dev_name(&req->flow->engine->ld->dev),
				req->flow->engine->name, req->endpoint, req->bytes, 0,
				error);
	list_move_tail(&req->node, done);
	return true;
}

/**
 * litepcie_cancel() - end a request unless the card has it
 * @req: a submitted request that was not finished
 * @error: negative errno for the request
 *
 * May be called in atomic context. If the card has the request, the request
 * ends as if it was not cancelled.
 */
void litepcie_cancel(struct litepcie_request *req, int error)
{
	struct litepcie_engine *engine = req->flow->engine;
	unsigned long flags;
	LIST_HEAD(done);
	int idx;

	/* While a request is queued, unbinding has not come to the gate. */
	idx = srcu_read_lock(&engine->ld->gate);
	spin_lock_irqsave(&engine->pool->lock, flags);
	litepcie_cancel_locked(req, error, &done);
	spin_unlock_irqrestore(&engine->pool->lock, flags);
	litepcie_ring_end(engine, &done);
	srcu_read_unlock(&engine->ld->gate, idx);
}

/**
 * litepcie_cancel_if() - end some of the queued requests of an open file
 * @flow: queue of the open file
 * @match: which; called with the lock of the pool
 * @data: for @match
 */
void litepcie_cancel_if(struct litepcie_flow *flow,
			bool (*match)(struct litepcie_request *req, const void *data),
			const void *data)
{
	struct litepcie_engine *engine = flow->engine;
	struct litepcie_request *req, *next;
	LIST_HEAD(done);
	int idx;

	idx = srcu_read_lock(&engine->ld->gate);
	spin_lock_irq(&engine->pool->lock);
	list_for_each_entry_safe(req, next, &flow->queue, node)
		if (match(req, data))
			litepcie_cancel_locked(req, -ECANCELED, &done);
	spin_unlock_irq(&engine->pool->lock);
	litepcie_ring_end(engine, &done);
	srcu_read_unlock(&engine->ld->gate, idx);
}

static bool litepcie_is_of_owner(struct litepcie_request *req, const void *owner)
{
	return req->owner == owner;
}

/**
 * litepcie_cancel_owner() - end the queued asynchronous requests of a process
 * @lf: the open file
 * @owner: litepcie_request.owner, not NULL
 */
void litepcie_cancel_owner(struct litepcie_file *lf, fl_owner_t owner)
{
	unsigned int i;

	for (i = 0; i < LITEPCIE_DIRECTIONS; i++)
		if (lf->flows[i].engine->regs)
			litepcie_cancel_if(&lf->flows[i], litepcie_is_of_owner, owner);
}
