/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A request: a part of a caller's buffer that enters the ring as a whole.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_REQUEST_H
#define _LITEPCIE_REQUEST_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/scatterlist.h>
#include <linux/uio.h>

struct litepcie_engine;

/**
 * enum litepcie_request_state - where a request is
 * @LITEPCIE_REQUEST_PENDING: in litepcie_engine.pending, unknown to the card
 * @LITEPCIE_REQUEST_INFLIGHT: in litepcie_engine.inflight; the card may access
 *	its pages
 * @LITEPCIE_REQUEST_DONE: in no list; the card no longer accesses its pages
 */
enum litepcie_request_state {
	LITEPCIE_REQUEST_PENDING,
	LITEPCIE_REQUEST_INFLIGHT,
	LITEPCIE_REQUEST_DONE,
};

/**
 * struct litepcie_request - one request
 * @node: in a list of the engine
 * @state: which list; protected by the lock of the engine
 * @complete: called when @moved and @error are valid. The lock of the engine
 *	is held and interrupts are off, so it must not sleep. The request may
 *	be freed as soon as this was called
 * @context: for @complete
 * @done: for a @complete that wakes a waiting caller
 * @moved: bytes that landed, without a gap from the start
 * @error: 0 or negative errno
 * @first: count of its first descriptor
 * @endpoint: byte address in the memory of the card
 * @bytes: number of bytes to move
 * @sgt: its pages, mapped for the card
 * @iter: the caller's buffer, at the first byte of this request
 * @bounced: @pages belong to the driver; data is copied to or from @iter
 * @nr_pages: number of pages in @pages
 * @pages: the caller's pages, pinned; or the driver's, if @bounced
 */
struct litepcie_request {
	struct list_head node;
	enum litepcie_request_state state;
	void (*complete)(struct litepcie_request *req);
	void *context;
	struct completion done;
	size_t moved;
	int error;
	u32 first;
	u32 endpoint;
	size_t bytes;
	struct sg_table sgt;
	struct iov_iter iter;
	bool bounced;
	unsigned int nr_pages;
	struct page *pages[];
};

/* pages.c: memory of a request */
extern atomic_t litepcie_pinned_pages;
struct litepcie_request *litepcie_request_create(struct litepcie_engine *engine,
						 struct iov_iter *iter, size_t left);
bool litepcie_request_can_pin(struct litepcie_engine *engine,
			      struct iov_iter *iter, size_t left);
size_t litepcie_request_finish(struct litepcie_engine *engine,
			       struct litepcie_request *req, int *error);

/* transfer.c: requests of one call */
struct litepcie_request *
litepcie_transfer_submit(struct litepcie_engine *engine, struct iov_iter *iter,
			 u32 endpoint, size_t left,
			 void (*complete)(struct litepcie_request *req),
			 void *context);
size_t litepcie_transfer(struct litepcie_engine *engine, struct iov_iter *iter,
			 u32 endpoint, size_t left, int *error);
ssize_t litepcie_transfer_result(struct file *file, unsigned int direction,
				 size_t moved, int error);

/* async.c: calls whose caller does not wait */
ssize_t litepcie_async(struct litepcie_engine *engine, struct kiocb *iocb,
		       struct iov_iter *iter, size_t left);

#endif /* _LITEPCIE_REQUEST_H */
