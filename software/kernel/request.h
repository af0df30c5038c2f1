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
#include <linux/refcount.h>
#include <linux/scatterlist.h>
#include <linux/uio.h>
#include <linux/workqueue.h>

#include "queue.h"

struct litepcie_dmabuf;

/**
 * struct litepcie_source - the memory of a call, at the byte that is next
 * @iter: the caller's buffer; NULL if the memory is a dma-buf
 * @dmabuf: the dma-buf
 * @offset: byte in @dmabuf
 */
struct litepcie_source {
	struct iov_iter *iter;
	struct litepcie_dmabuf *dmabuf;
	u64 offset;
};

/**
 * enum litepcie_request_state - where a request is
 * @LITEPCIE_REQUEST_QUEUED: in litepcie_flow.queue, unknown to the card
 * @LITEPCIE_REQUEST_PENDING: in litepcie_engine.pending: a reset took it out of
 *	the ring, and it enters the ring again before all queued requests
 * @LITEPCIE_REQUEST_INFLIGHT: in litepcie_engine.inflight; the card may access
 *	its pages
 * @LITEPCIE_REQUEST_DONE: the card no longer accesses its pages; @complete was
 *	called or is about to be called
 */
enum litepcie_request_state {
	LITEPCIE_REQUEST_QUEUED,
	LITEPCIE_REQUEST_PENDING,
	LITEPCIE_REQUEST_INFLIGHT,
	LITEPCIE_REQUEST_DONE,
};

/**
 * enum litepcie_memory - whose memory the card accesses
 * @LITEPCIE_MEMORY_PINNED: pages of the caller's address space, pinned
 * @LITEPCIE_MEMORY_BORROWED: pages that the caller holds until the call ends:
 *	fixed buffers of io_uring, splice
 * @LITEPCIE_MEMORY_BOUNCED: pages of the driver; the data is copied
 * @LITEPCIE_MEMORY_IMPORTED: a part of a dma-buf, which is always mapped
 */
enum litepcie_memory {
	LITEPCIE_MEMORY_PINNED,
	LITEPCIE_MEMORY_BORROWED,
	LITEPCIE_MEMORY_BOUNCED,
	LITEPCIE_MEMORY_IMPORTED,
};

/**
 * struct litepcie_async - an asynchronous call
 * @iocb: the call
 * @work: ends the call
 * @pending: requests that have not ended, plus 1 until all are submitted
 * @held: its reservation
 * @error: negative errno if part of the buffer could not be submitted
 */
struct litepcie_async {
	struct kiocb *iocb;
	struct work_struct work;
	atomic_t pending;
	size_t held;
	int error;
};

/* Pages of a small request: it comes from a cache and has a scatterlist inside. */
#define LITEPCIE_SMALL_PAGES	4

/**
 * struct litepcie_request - one request
 * @flow: queue of the open file
 * @node: in a list that @state names
 * @state: where it is; protected by the lock of the pool
 * @owner: files of the process that does not wait for it; NULL if it waits. Only
 *	compared, never followed
 * @complete: called when @moved and @error are valid and @sgt is unmapped. It
 *	must not sleep. The request may be freed as soon as this was called
 * @context: for @complete
 * @done: for a @complete that wakes a waiting caller
 * @moved: bytes that landed, without a gap from the start
 * @error: 0 or negative errno
 * @held: reservation that ends with this request, 0 if it has none
 * @first: count of its first descriptor
 * @endpoint: byte address in the memory of the card
 * @bytes: number of bytes to move
 * @next: next request of an asynchronous call
 * @async: the asynchronous call whose first request it is
 * @dmabuf: the dma-buf that the memory is a part of; NULL: none
 * @engine: while it is in litepcie_device.kept: the engine that had it
 * @mapped: @sgt is mapped for the card by this driver
 * @users: of its memory: its caller, and litepcie_device.kept
 * @refs: of this structure: the users of the memory together, and the asynchronous
 *	call
 * @sgt: its pages; mapped for the card from its first entry into a ring until it
 *	is done
 * @small: entries of @sgt if they fit
 * @iter: the caller's buffer, at the first byte of this request
 * @memory: whose memory it is
 * @marked: the pages need no mark that they are dirty: they were when the card had
 *	written them
 * @polled: the caller polls for its end, litepcie_ring_look()
 * @cached: the request belongs to the cache of small requests
 * @nr_pages: number of pages in @pages
 * @pages: pages that are pinned, or the driver's; none if @memory is borrowed
 */
struct litepcie_request {
	struct litepcie_flow *flow;
	struct list_head node;
	enum litepcie_request_state state;
	fl_owner_t owner;
	void (*complete)(struct litepcie_request *req);
	void *context;
	struct completion done;
	size_t moved;
	int error;
	size_t held;
	u32 first;
	u32 endpoint;
	size_t bytes;
	struct litepcie_request *next;
	struct litepcie_async async;
	struct litepcie_dmabuf *dmabuf;
	struct litepcie_engine *engine;
	bool mapped;
	refcount_t users;
	refcount_t refs;
	struct sg_table sgt;
	struct scatterlist small[LITEPCIE_SMALL_PAGES];
	struct iov_iter iter;
	enum litepcie_memory memory;
	bool marked;
	bool polled;
	bool cached;
	unsigned int nr_pages;
	struct page *pages[];
};

/* buffer.c: parts of a caller's buffer */
void litepcie_skip_empty(struct iov_iter *iter);
size_t litepcie_bytes_to_copy(struct litepcie_engine *engine, struct iov_iter *iter,
			      size_t left);
unsigned int litepcie_pages_of(const struct iov_iter *iter, size_t bytes);
size_t litepcie_bytes_to_pin(struct litepcie_engine *engine,
			     const struct iov_iter *iter, size_t left,
			     unsigned int room);
unsigned int litepcie_pages_to_pin(struct litepcie_engine *engine,
				   struct iov_iter part, size_t left);
bool litepcie_buffer_can_leave(struct litepcie_engine *engine,
			       struct iov_iter *iter, size_t left);

/* scatter.c: contiguous parts of a request */
int litepcie_scatter_alloc(struct litepcie_request *req, unsigned int parts);
int litepcie_scatter(struct litepcie_request *req, size_t most);
void litepcie_scatter_free(struct litepcie_request *req);

/* memory.c: allocation and release */
extern atomic_t litepcie_pinned_pages;
int litepcie_memory_init(void);
void litepcie_memory_exit(void);
struct litepcie_request *litepcie_request_alloc(unsigned int nr_pages);
void litepcie_request_free(struct litepcie_engine *engine,
			   struct litepcie_request *req);
void litepcie_request_put(struct litepcie_request *req);
int litepcie_request_map(struct litepcie_engine *engine, struct litepcie_request *req);
void litepcie_request_unmap(struct litepcie_engine *engine, struct litepcie_request *req);
bool litepcie_request_may_sleep(struct litepcie_request *req);
bool litepcie_request_keep(struct litepcie_engine *engine, struct litepcie_request *req);

/* pages.c: memory of a request */
extern atomic64_t litepcie_copied_bytes;
struct litepcie_request *litepcie_request_create(struct litepcie_flow *flow,
						 struct litepcie_source *source,
						 size_t left);
size_t litepcie_request_finish(struct litepcie_request *req, int *error);

/* submit.c: into the queue and out of it */
int litepcie_submit(struct litepcie_request *req, u32 endpoint,
		    void (*complete)(struct litepcie_request *req), void *context,
		    struct file *plugged);
void litepcie_cancel(struct litepcie_request *req, int error);
void litepcie_cancel_if(struct litepcie_flow *flow,
			bool (*match)(struct litepcie_request *req, const void *data),
			const void *data);
void litepcie_cancel_owner(struct litepcie_file *lf, fl_owner_t owner);

/* transfer.c: requests of one call */
size_t litepcie_transfer(struct litepcie_flow *flow, struct litepcie_source *source,
			 u32 endpoint, size_t left, bool wait, int *error);
ssize_t litepcie_transfer_result(struct kiocb *iocb, struct litepcie_flow *flow,
				 size_t moved, int error);
int litepcie_transfer_lost(struct kiocb *iocb, struct litepcie_flow *flow);

/* async.c: calls whose caller does not wait */
int litepcie_async_init(void);
void litepcie_async_exit(void);
bool litepcie_async_can(struct litepcie_flow *flow, struct kiocb *iocb,
			struct litepcie_source *source, size_t left);
ssize_t litepcie_async(struct litepcie_flow *flow, struct kiocb *iocb,
		       struct litepcie_source *source, size_t left, bool wait);
void litepcie_async_stop(struct litepcie_flow *flow, const struct kiocb *iocb);

/* call.c: a call of any kind */
ssize_t litepcie_move(struct kiocb *iocb, struct litepcie_source *source,
		      struct litepcie_flow *flow, size_t bytes);

#endif /* _LITEPCIE_REQUEST_H */
