/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests: what goes into a ring, from the caller's buffer to the list of an
 * engine and back.
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
 * @LITEPCIE_REQUEST_PENDING: in litepcie_engine.pending
 * @LITEPCIE_REQUEST_INFLIGHT: in litepcie_engine.inflight, the card has it
 * @LITEPCIE_REQUEST_DONE: in no list, the card is done with its pages
 */
enum litepcie_request_state {
	LITEPCIE_REQUEST_PENDING,
	LITEPCIE_REQUEST_INFLIGHT,
	LITEPCIE_REQUEST_DONE,
};

/**
 * struct litepcie_request - pages that go to or come from the card at once
 * @node: in a list of the engine
 * @state: which list; protected by the lock of the engine
 * @complete: called once @moved and @error are valid, with the lock of the
 *	engine held and interrupts off: must not sleep. It may free the request
 * @context: for @complete: the asynchronous call, or NULL
 * @done: for @complete: wakes the caller that waits for the request
 * @moved: bytes that landed, without a gap from the start
 * @error: 0 or negative errno
 * @first: count of its first descriptor
 * @endpoint: byte address in the memory of the card
 * @bytes: how much it moves
 * @sgt: its pages, mapped for the card
 * @iter: the buffer, at the first byte of this request
 * @bounced: the pages are the driver's, the data is copied
 * @nr_pages: how many are in @pages
 * @pages: of the caller, pinned; or of the driver
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

/* pages.c: the memory of a request */
extern atomic_t litepcie_pinned_pages;
struct litepcie_request *litepcie_request_create(struct litepcie_engine *engine,
						 struct iov_iter *iter, size_t left);
bool litepcie_request_can_pin(struct litepcie_engine *engine,
			      struct iov_iter *iter, size_t left);
size_t litepcie_request_finish(struct litepcie_engine *engine,
			       struct litepcie_request *req, int *error);

/* transfer.c: requests of one caller */
struct litepcie_request *
litepcie_transfer_submit(struct litepcie_engine *engine, struct iov_iter *iter,
			 u32 endpoint, size_t left,
			 void (*complete)(struct litepcie_request *req),
			 void *context);
size_t litepcie_transfer(struct litepcie_engine *engine, struct iov_iter *iter,
			 u32 endpoint, size_t left, int *error);
ssize_t litepcie_transfer_result(struct file *file, unsigned int direction,
				 size_t moved, int error);

/* async.c: requests of a caller who does not wait */
ssize_t litepcie_async(struct litepcie_engine *engine, struct kiocb *iocb,
		       struct iov_iter *iter, size_t left);

#endif /* _LITEPCIE_REQUEST_H */
