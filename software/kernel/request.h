/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The path of a request, a part of a caller's buffer that enters a ring as a whole:
 * open files and their order, requests, engines.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_REQUEST_H
#define _LITEPCIE_REQUEST_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/dma-direction.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uio.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

struct dma_buf;
struct dma_buf_attachment;
struct litepcie_device;
struct litepcie_engine;
struct litepcie_request;

/**
 * struct litepcie_descriptor - one descriptor, as the card reads it
 * @control: length in bytes, LITEPCIE_DESCRIPTOR_* flags
 * @endpoint: byte address in the memory of the card
 * @host_lo: bus address of the host memory, low half
 * @host_hi: bus address of the host memory, high half
 */
struct litepcie_descriptor {
	__le32 control;
	__le32 endpoint;
	__le32 host_lo;
	__le32 host_hi;
};

/**
 * struct litepcie_fair - the open files that have work for an engine
 * @waiting: their shares, by litepcie_share.due
 * @count: number of shares in @waiting
 * @now: virtual time: bytes that each of them would have moved if the engine
 *	served all of them at the same time
 */
struct litepcie_fair {
	struct rb_root_cached waiting;
	unsigned int count;
	u64 now;
};

/**
 * struct litepcie_share - share of an open file in an engine
 * @node: in litepcie_fair.waiting while the file has work
 * @due: virtual time at which the oldest work of the file would be done
 */
struct litepcie_share {
	struct rb_node node;
	u64 due;
};

#define LITEPCIE_DIRECTIONS	2	/* LITEPCIE_TO_CARD, LITEPCIE_FROM_CARD */

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

#define LITEPCIE_DMABUFS	64	/* attached to an open file, at most */
#define LITEPCIE_MOVES		256	/* of an open file that nobody waited for */

/**
 * struct litepcie_dmabuf - a dma-buf that is attached to the card
 * @ref: one of the open file's table, one of each move, one of each request
 *	in litepcie_device.kept
 * @free: detaches the buffer after the last reference was dropped
 * @ld: the device
 * @node: in litepcie_device.dmabufs
 * @dmabuf: the buffer
 * @dma: directions that it is mapped for
 * @attach: the card's attachment
 * @sgt: where the card finds the memory; NULL after the driver was unbound. Only
 *	valid inside litepcie_device.gate
 */
struct litepcie_dmabuf {
	struct kref ref;
	void (*free)(struct kref *ref);
	struct litepcie_device *ld;
	struct list_head node;
	struct dma_buf *dmabuf;
	enum dma_data_direction dma;
	struct dma_buf_attachment *attach;
	struct sg_table *sgt;
};

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

/**
 * enum litepcie_engine_state - what the driver does with the engine's requests
 * @LITEPCIE_ENGINE_PAUSED: keeps them until the engine runs again
 * @LITEPCIE_ENGINE_RUNNING: gives them to the card
 * @LITEPCIE_ENGINE_FAILED: refuses them with litepcie_engine.error
 *
 * engine.c has the diagram of states and events.
 */
enum litepcie_engine_state {
	LITEPCIE_ENGINE_PAUSED,
	LITEPCIE_ENGINE_RUNNING,
	LITEPCIE_ENGINE_FAILED,
};

/**
 * struct litepcie_engine - one DMA engine of the card and its ring
 * @ld: the device
 * @node: in litepcie_device.all_engines
 * @name: direction and channel, for the log and debugfs: "reader0"
 * @channel: its memory channel
 * @direction: LITEPCIE_TO_CARD or LITEPCIE_FROM_CARD
 * @dma: the same direction for the kernel's DMA functions
 * @regs: registers of the engine; NULL if the card has no such engine
 * @ring: descriptors, in coherent memory
 * @ring_dma: bus address of @ring
 * @ring_log2: log2 of the number of descriptors in the ring
 * @status: status block, in coherent memory, written by the card
 * @status_dma: bus address of @status
 * @max_pages: largest number of pages in a request
 * @max_segment: most bytes of a descriptor
 * @vector: number of its interrupt among those of the card
 * @control: held while the state of the engine's hardware changes
 * @idle_stop: jiffies when it last stopped without a request, 0: never
 * @watchdog: work that recovers an engine which stopped or makes no progress
 * @pool: the engines of its direction; the lock protects all members below
 * @share: in litepcie_pool.engines
 * @state: what happens to requests
 * @error: negative errno for requests of a failed engine
 * @stopped: the card reported that the engine stopped
 * @produced: descriptors in the ring since the last reset of the engine
 * @rung: value of the doorbell
 * @completed: descriptors reported complete since that reset
 * @seen: register COMPLETED when the watchdog last read it
 * @progress: when the engine last completed a descriptor, in jiffies
 * @pending: requests that a reset took out of the ring, oldest first
 * @committed: bytes of the requests in the ring
 * @inflight: requests in the ring, oldest first
 */
struct litepcie_engine {
	struct litepcie_device *ld;
	struct list_head node;
	char name[16];
	unsigned int channel;
	unsigned int direction;
	enum dma_data_direction dma;
	void __iomem *regs;
	struct litepcie_descriptor *ring;
	dma_addr_t ring_dma;
	unsigned int ring_log2;
	__le32 *status;
	dma_addr_t status_dma;
	unsigned int max_pages;
	unsigned int max_segment;
	unsigned int vector;
	struct mutex control;		/* serialises hardware state changes */
	unsigned long idle_stop;
	struct delayed_work watchdog;

	struct litepcie_pool *pool;
	struct list_head share;
	enum litepcie_engine_state state;
	int error;
	bool stopped;
	u32 produced;
	u32 rung;
	u32 completed;
	u32 seen;
	unsigned long progress;
	struct list_head pending;
	size_t committed;
	struct list_head inflight;
};

/**
 * struct litepcie_vector - an interrupt of a card
 * @ld: the device
 * @number: its number among the interrupts of the card
 */
struct litepcie_vector {
	struct litepcie_device *ld;
	unsigned int number;
};

/* ring.c: descriptors and positions in a ring */
void litepcie_descriptor_encode(struct litepcie_descriptor *descriptor,
				u32 length, u32 flags, u32 endpoint, u64 host);
u32 litepcie_ring_room(unsigned int log2, u32 produced, u32 completed);
bool litepcie_ring_count_valid(u32 completed, u32 reported, u32 produced);
size_t litepcie_chunk_bytes(unsigned long offset, size_t left,
			    unsigned int pages, unsigned long page_size);
int litepcie_reason_errno(u8 reason);
const char *litepcie_reason_name(u8 reason);

/* queue.c: limits, and the choice of the next request */
u32 litepcie_fair_cost(size_t bytes);
void litepcie_fair_add(struct litepcie_fair *fair, struct litepcie_share *share,
		       u32 cost);
struct litepcie_share *litepcie_fair_first(struct litepcie_fair *fair);
void litepcie_fair_serve(struct litepcie_fair *fair, struct litepcie_share *share,
			 u32 cost, u32 next);
void litepcie_fair_drop(struct litepcie_fair *fair, struct litepcie_share *share,
			u32 cost, u32 next);
void litepcie_pool_init(struct litepcie_pool *pool);
int litepcie_pool_error(struct litepcie_pool *pool);
void litepcie_flow_init(struct litepcie_flow *flow, struct litepcie_engine *engine);
int litepcie_flow_reserve(struct litepcie_flow *flow, size_t bytes, bool wait);
void litepcie_flow_release(struct litepcie_flow *flow, size_t bytes);
void litepcie_queue_add(struct litepcie_request *req);
struct litepcie_request *litepcie_queue_first(struct litepcie_pool *pool);
void litepcie_queue_take(struct litepcie_request *req);
void litepcie_queue_remove(struct litepcie_request *req);

/* memory.c: allocation, contiguous parts and release */
int litepcie_scatter_alloc(struct litepcie_request *req, unsigned int parts);
int litepcie_scatter(struct litepcie_request *req, size_t most);
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
bool litepcie_buffer_can_leave(struct litepcie_engine *engine,
			       struct iov_iter *iter, size_t left);
extern atomic64_t litepcie_copied_bytes;
struct litepcie_request *litepcie_request_create(struct litepcie_flow *flow,
						 struct litepcie_source *source,
						 size_t left);
size_t litepcie_request_finish(struct litepcie_request *req, int *error);

/* transfer.c: calls, synchronous and asynchronous */
void litepcie_cancel_owner(struct litepcie_file *lf, fl_owner_t owner);
int litepcie_async_init(void);
void litepcie_async_exit(void);
void litepcie_async_stop(struct litepcie_flow *flow, const struct kiocb *iocb);
ssize_t litepcie_move(struct kiocb *iocb, struct litepcie_source *source,
		      struct litepcie_flow *flow, size_t bytes);

#endif /* _LITEPCIE_REQUEST_H */
