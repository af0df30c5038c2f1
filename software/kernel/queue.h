/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open files, and their requests that the card does not have yet.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_QUEUE_H
#define _LITEPCIE_QUEUE_H

#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "fair.h"

#define LITEPCIE_DIRECTIONS	2	/* LITEPCIE_READER, LITEPCIE_WRITER */

struct litepcie_device;
struct litepcie_engine;
struct litepcie_request;

/**
 * struct litepcie_pool - the engines of one direction and the calls of that
 *	direction, of all open files
 * @engines: its engines
 * @lock: protects the members below and the rings of all its engines; also
 *	taken by the interrupt handler
 * @held: bytes of all calls that have not ended
 * @fair: open files with queued requests
 * @committed: bytes of the requests in all rings
 * @waiters: calls that wait until @held, or that of their file, is smaller: the one
 *	that has waited longest first
 * @refused: jiffies when the kernel first refused to map the request that is next;
 *	0: it has not
 * @feed: work that tries again
 */
struct litepcie_pool {
	struct list_head engines;

	spinlock_t lock;		/* protects all members below, and the rings */
	size_t held;
	struct litepcie_fair fair;
	size_t committed;
	struct list_head waiters;
	unsigned long refused;
	struct delayed_work feed;
};

/**
 * struct litepcie_flow - what one open file wants of the engines of a direction
 * @engine: the first of them. Direction and limits are the same for all. The
 *	lock of its pool protects the members below
 * @share: its share of the engines
 * @queue: its requests that the card does not have yet, oldest first
 * @held: bytes of all its calls that have not ended
 */
struct litepcie_flow {
	struct litepcie_engine *engine;
	struct litepcie_share share;
	struct list_head queue;
	size_t held;
};

/**
 * struct litepcie_waiter - a call that waits for room
 * @node: in litepcie_pool.waiters until it has room; the lock of the pool protects it
 * @flow: queue of its open file
 * @bytes: room that it needs
 * @granted: completed when it has room
 */
struct litepcie_waiter {
	struct list_head node;
	struct litepcie_flow *flow;
	size_t bytes;
	struct completion granted;
};

/**
 * struct litepcie_lost - where an error of the card cut a call short
 * @position: of the first byte that was not moved
 * @error: negative errno for the next call of this direction if it begins there;
 *	0: none
 */
struct litepcie_lost {
	loff_t position;
	int error;
};

/**
 * struct litepcie_file - one open file of the device
 * @ld: the device
 * @node: in litepcie_device.files
 * @file: the file; its mappings are removed when the driver is unbound
 * @flows: its queues, by direction
 * @lock: protects @lost
 * @lost: by direction
 * @dmabufs: buffers that are attached, by handle
 * @moves: moves of them that nobody waited for, by ticket
 */
struct litepcie_file {
	struct litepcie_device *ld;
	struct list_head node;
	struct file *file;
	struct litepcie_flow flows[LITEPCIE_DIRECTIONS];
	spinlock_t lock;		/* protects lost */
	struct litepcie_lost lost[LITEPCIE_DIRECTIONS];
	struct xarray dmabufs;
	struct xarray moves;
};

/* queue.c: limits, and the choice of the next request */
void litepcie_pool_init(struct litepcie_pool *pool);
int litepcie_pool_error(struct litepcie_pool *pool);
void litepcie_flow_init(struct litepcie_flow *flow, struct litepcie_engine *engine);
int litepcie_flow_reserve(struct litepcie_flow *flow, size_t bytes, bool wait);
void litepcie_flow_release(struct litepcie_flow *flow, size_t bytes);
void litepcie_queue_add(struct litepcie_request *req);
struct litepcie_request *litepcie_queue_first(struct litepcie_pool *pool);
void litepcie_queue_take(struct litepcie_request *req);
void litepcie_queue_remove(struct litepcie_request *req);

#endif /* _LITEPCIE_QUEUE_H */
