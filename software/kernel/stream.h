/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams: what their files share.
 *
 * A stream does not use the requests of memory channels. Each direction of an
 * open file has a ring of buffers of the driver. Descriptor n of the engine is
 * for buffer n % depth, and no descriptor is written twice: what an error, a
 * reset or a suspend interrupts is lost and counted.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_STREAM_H
#define _LITEPCIE_STREAM_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/dma-direction.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <linux/litepcie_stream.h>

#include "request.h"

struct litepcie_device;

/**
 * struct litepcie_stream_counters - what happened since the driver was bound
 * @bytes: bytes moved
 * @packets: packet ends moved
 * @overruns: times all buffers of a writer were full
 * @underruns: times the ring of a reader was empty in the middle of a packet
 * @waits: calls that waited, or returned -EAGAIN
 * @lost_bytes: bytes that no one read or got, in buffers or in the card's RAM
 * @cuts: errors, resets and closes that lost data or cut a packet
 */
struct litepcie_stream_counters {
	u64 bytes;
	u64 packets;
	u64 overruns;
	u64 underruns;
	u64 waits;
	u64 lost_bytes;
	u64 cuts;
};

/**
 * enum litepcie_stream_state - what the engine of a direction does
 * @LITEPCIE_STREAM_STOPPED: nothing; the next call starts it
 * @LITEPCIE_STREAM_RUNNING: serves its ring
 * @LITEPCIE_STREAM_LOST: nothing, and the card is cut off or unbound
 */
enum litepcie_stream_state {
	LITEPCIE_STREAM_STOPPED,
	LITEPCIE_STREAM_RUNNING,
	LITEPCIE_STREAM_LOST,
};

/* Requests of a write() that the card has at a time, so that it never waits. */
#define LITEPCIE_STREAM_POSTS	2

/**
 * struct litepcie_stream_settings - what LITEPCIE_IOC_STREAM_SETUP sets
 * @mode: LITEPCIE_STREAM_HEADERS or 0
 * @depth: number of buffers, a power of two
 * @buffer_bytes: bytes of a buffer
 * @flush_us: register FLUSH_US
 * @moderation_count: buffers per interrupt
 * @moderation_us: most microseconds that an interrupt is delayed
 */
struct litepcie_stream_settings {
	u32 mode;
	u32 depth;
	u32 buffer_bytes;
	u32 flush_us;
	u32 moderation_count;
	u32 moderation_us;
};

/**
 * struct litepcie_stream_buffer - one buffer. With O_DIRECT, only @slot is used
 * @data: its memory: whole pages, contiguous
 * @dma: bus address of @data
 * @slot: bytes and LITEPCIE_STREAM_SLOT_LAST; of a writer's complete buffer, or
 *	of a buffer that the card has. With LITEPCIE_STREAM_SLOT_CUT, a
 *	read() must return an error before it takes the buffer
 */
struct litepcie_stream_buffer {
	void *data;
	dma_addr_t dma;
	u32 slot;
};

/**
 * struct litepcie_stream_memory - the ring of an open file
 * @node: in litepcie_device.kept_rings after the file was closed
 * @dma: direction of the buffers
 * @mapped: the buffers are mapped for the card
 * @depth: number of buffers, a power of two
 * @buffer_bytes: bytes of a buffer that the card may use
 * @order: log2 of the pages of a buffer
 * @shared: what mmap() maps before the buffers. The driver reads its slots[]
 *	once each, and nothing else of it
 * @shared_order: log2 of the pages of @shared
 * @buffers: known to the driver only
 */
struct litepcie_stream_memory {
	struct list_head node;
	enum dma_data_direction dma;
	bool mapped;
	u32 depth;
	u32 buffer_bytes;
	unsigned int order;
	struct litepcie_stream_ring *shared;
	unsigned int shared_order;
	struct litepcie_stream_buffer buffers[];
};

/**
 * struct litepcie_stream_end - one direction of a stream
 * @node: in litepcie_device.stream_ends
 * @stream: the stream
 * @ld: the device
 * @name: for the log
 * @channel: its number among the memory and stream channels
 * @direction: LITEPCIE_TO_CARD or LITEPCIE_FROM_CARD
 * @dma: the same direction for the kernel's DMA functions
 * @vector: its interrupt
 * @regs: registers of the engine; NULL if the card has no such engine
 * @ring: descriptors, in coherent memory
 * @ring_dma: bus address of @ring
 * @ring_log2: log2 of the number of descriptors in the ring
 * @status: status block and reports, in coherent memory, written by the card
 * @status_dma: bus address of @status
 * @status_bytes: size of @status
 * @table: descriptors of the slots that have memory of calls
 * @table_dma: bus address of @table
 * @engine: what the functions of requests must know: device, direction and limits.
 *	It is in no pool
 * @flow: of @engine
 * @wait: calls that wait for a buffer, an error or the card
 * @file: the open file that has this direction; changes under
 *	litepcie_stream.users
 * @direct: @file is open with O_DIRECT: the card moves data from and to the memory
 *	of calls. Changes with @file
 * @settings: of @file; changes while @use is held and @memory is NULL
 * @use: held by the one call that takes or gives buffers
 * @control: held while the state of the hardware, or @memory, changes
 * @begun: the engine was enabled and not reset since; changes under @control
 * @known: @passed is that of this run: the card was not cut off
 * @passed: register PASSED before @begun was set
 * @moved: counters.bytes at that time
 * @memory: NULL until the direction begins
 * @posted: requests whose memory the card has; changes under @control
 * @lock: protects all members below; also taken by the interrupt handler
 * @state: what the engine does
 * @error: negative errno that one call will return; 0: none
 * @produced: descriptors given to the card since the last start
 * @completed: descriptors that the card completed
 * @consumed: buffers of a writer that were read
 * @offset: bytes of the buffer after them that were read
 * @open: the last buffer moved did not end its packet
 * @counters: never reset
 */
struct litepcie_stream_end {
	struct list_head node;
	struct litepcie_stream *stream;
	struct litepcie_device *ld;
	char name[24];
	unsigned int channel;
	unsigned int direction;
	enum dma_data_direction dma;
	unsigned int vector;
	void __iomem *regs;
	struct litepcie_descriptor *ring;
	dma_addr_t ring_dma;
	unsigned int ring_log2;
	__le32 *status;
	dma_addr_t status_dma;
	size_t status_bytes;
	struct litepcie_descriptor *table;
	dma_addr_t table_dma;
	struct litepcie_engine engine;
	struct litepcie_flow flow;
	wait_queue_head_t wait;
	struct file *file;
	bool direct;
	struct litepcie_stream_settings settings;
	struct mutex use;		/* serialises calls */
	struct mutex control;		/* serialises hardware state changes */
	bool begun;
	bool known;
	u32 passed;
	u64 moved;
	struct litepcie_stream_memory *memory;
	struct list_head posted;

	spinlock_t lock;		/* protects all members below */
	enum litepcie_stream_state state;
	int error;
	u32 produced;
	u32 completed;
	u32 consumed;
	u32 offset;
	bool open;
	struct litepcie_stream_counters counters;
};

/**
 * struct litepcie_stream - a stream of a card
 * @dev: device of class litepcie_stream; its reference count frees this structure
 * @cdev: /dev/litepcieN_streamS
 * @ld: the card's device, which is the parent of @dev; @dev holds a reference
 * @number: S
 * @users: protects litepcie_stream_end.file of both directions
 * @groups: counters in sysfs of the directions that the stream has, then NULL
 * @ends: by direction
 */
struct litepcie_stream {
	struct device dev;
	struct cdev cdev;
	struct litepcie_device *ld;
	unsigned int number;
	struct mutex users;		/* protects the files of both ends */
	const struct attribute_group *groups[LITEPCIE_DIRECTIONS + 1];
	struct litepcie_stream_end ends[LITEPCIE_DIRECTIONS];
};

/**
 * litepcie_stream_file_end() - a direction of an open file
 * @file: the open file
 * @direction: LITEPCIE_TO_CARD or LITEPCIE_FROM_CARD
 *
 * Return: the direction, or NULL if the file is not open for it.
 */
static inline struct litepcie_stream_end *
litepcie_stream_file_end(struct file *file, unsigned int direction)
{
	struct litepcie_stream *stream = file->private_data;

	if (direction >= LITEPCIE_DIRECTIONS)
		return NULL;
	direction = array_index_nospec(direction, LITEPCIE_DIRECTIONS);
	if (!(file->f_mode & (direction == LITEPCIE_FROM_CARD ? FMODE_READ : FMODE_WRITE)))
		return NULL;
	return &stream->ends[direction];
}

/* The buffer of a count, of a direction that has memory. */
static inline struct litepcie_stream_buffer *
litepcie_stream_nth(struct litepcie_stream_end *end, u32 count)
{
	return &end->memory->buffers[count & (end->memory->depth - 1)];
}

/**
 * litepcie_stream_is_done() - has the card ended the slot of a request
 * @end: the direction
 * @req: the request, which was posted
 *
 * Return: true if it has.
 */
static inline bool litepcie_stream_is_done(struct litepcie_stream_end *end,
					   const struct litepcie_request *req)
{
	return (s32)(READ_ONCE(end->completed) - req->first) > 0;
}

/* stream_ring.c: descriptors and reports, and what an error, reset or close loses */
void litepcie_stream_cut(struct litepcie_stream_end *end,
			 enum litepcie_stream_state state, int error);
void litepcie_stream_rest(struct litepcie_stream_end *end);
void litepcie_stream_lose(struct litepcie_stream_end *end, u32 bytes);
bool litepcie_stream_under_way(struct litepcie_stream_end *end);
bool litepcie_stream_drained(struct litepcie_stream_end *end);
bool litepcie_stream_count_reset(struct litepcie_stream_end *end);
void litepcie_stream_drop(struct litepcie_stream_end *end, bool cut);
u32 litepcie_stream_ready(struct litepcie_stream_end *end);
void litepcie_stream_poll(struct litepcie_stream_end *end);
int litepcie_stream_give(struct litepcie_stream_end *end, u32 count);
int litepcie_stream_give_direct(struct litepcie_stream_end *end,
				const struct litepcie_descriptor *descriptor, u32 slot);
void litepcie_stream_take(struct litepcie_stream_end *end, u32 count, u32 offset);
void litepcie_stream_show(struct litepcie_stream_end *end);
void litepcie_stream_run(struct litepcie_stream_end *end);

/* stream_control.c: the hardware of a stream, and its memory */
int litepcie_stream_ring_alloc(struct litepcie_stream_end *end);
void litepcie_stream_ring_free(struct litepcie_stream_end *end);
void litepcie_streams_kept_free(struct litepcie_device *ld);
unsigned int litepcie_stream_buffer_order(u32 buffer_bytes);
unsigned int litepcie_stream_shared_order(u32 depth);
u64 litepcie_stream_ring_bytes(const struct litepcie_stream_settings *settings);
int litepcie_stream_prepare(struct litepcie_stream_end *end);
int litepcie_stream_begin(struct litepcie_stream_end *end);
bool litepcie_stream_halt(struct litepcie_stream_end *end);
void litepcie_stream_take_back(struct litepcie_stream_end *end,
			       struct litepcie_request *req);
void litepcie_stream_unpost(struct litepcie_stream_end *end);
void litepcie_stream_close(struct litepcie_stream_end *end);
void litepcie_streams_poll(struct litepcie_device *ld, unsigned int vector);
void litepcie_streams_resume(struct litepcie_device *ld);
void litepcie_streams_pause(struct litepcie_device *ld);
void litepcie_streams_stop(struct litepcie_device *ld, int error);
void litepcie_streams_disconnect(struct litepcie_device *ld, int error);
void litepcie_streams_unmap(struct litepcie_device *ld);

/* stream_call.c: read() and write(), calls that wait, and errors */
int litepcie_stream_lock(struct litepcie_stream_end *end, bool wait);
void litepcie_stream_unlock(struct litepcie_stream_end *end);
int litepcie_stream_fault(struct litepcie_stream_end *end);
int litepcie_stream_take_fault(struct litepcie_stream_end *end);
int litepcie_stream_drain(struct litepcie_stream_end *end, long most);
ssize_t litepcie_stream_read(struct litepcie_stream_end *end, struct iov_iter *iter,
			     bool wait);
ssize_t litepcie_stream_write(struct litepcie_stream_end *end, struct iov_iter *iter,
			      bool wait);
ssize_t litepcie_stream_read_direct(struct litepcie_stream_end *end,
				    struct iov_iter *iter, bool wait);
ssize_t litepcie_stream_write_direct(struct litepcie_stream_end *end,
				     struct iov_iter *iter, bool wait);

/* stream.c: devices, and system calls on them */
int litepcie_streams_class_init(void);
void litepcie_streams_class_exit(void);
int litepcie_streams_init(struct litepcie_device *ld);
void litepcie_streams_free(struct litepcie_device *ld);
int litepcie_streams_publish(struct litepcie_device *ld);
void litepcie_streams_unpublish(struct litepcie_device *ld);

#endif /* _LITEPCIE_STREAM_H */
