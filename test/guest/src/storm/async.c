// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Calls that go on after their submission: aio and io_uring. Their buffers are unmapped, their files closed and their
 * process killed before they end.
 */
#include "storm.h"
#include <linux/io_uring.h>

#define DEPTH 32

static void aio(void)
{
	static __thread aio_context_t context;
	struct iocb calls[DEPTH], *list[DEPTH];
	struct timespec soon = { 0, (long)pick(20000000) };
	struct io_event events[DEPTH];
	struct iovec parts[4];
	unsigned int count = 1 + pick(one_in(2) ? 2 : DEPTH);

	if (!context && syscall(SYS_io_setup, DEPTH, &context))
		return;
	memset(calls, 0, sizeof(calls));
	for (unsigned int i = 0; i < count; i++) {
		size_t length = some_length();

		calls[i].aio_lio_opcode = pick(one_in(10) ? 12 : 2);
		calls[i].aio_fildes = some_file();
		calls[i].aio_buf = (uintptr_t)some_memory();
		calls[i].aio_nbytes = length;
		if (calls[i].aio_lio_opcode >= IOCB_CMD_PREADV) {
			for (unsigned int part = 0; part < 4; part++)
				parts[part] = (struct iovec){ some_memory(), some_length() % (1 << 20) };
			calls[i].aio_buf = (uintptr_t)parts;
			length = calls[i].aio_nbytes = 1 + pick(4);
		}
		calls[i].aio_offset = some_offset(length);
		calls[i].aio_rw_flags = one_in(4) ? pick(64) : 0;
		list[i] = one_in(100) ? (void *)random_bits() : &calls[i];
	}
	counted(syscall(SYS_io_submit, context, count, list));
	for (unsigned int i = pick(4); i; i--)
		syscall(SYS_io_cancel, context, list[pick(count)], events);
	if (one_in(4))
		memory_map();
	if (one_in(4))
		files_open();
	if (!one_in(4))
		syscall(SYS_io_getevents, context, 1, DEPTH, events, &soon);
	if (one_in(4)) {
		syscall(SYS_io_destroy, context);
		context = 0;
	}
}

struct ring {
	int file;
	unsigned char *rings;
	struct io_uring_sqe *entries;
	struct io_uring_params params;
	size_t bytes;
};

/* Returns whether the kernel gave a ring. */
static int ring_open(struct ring *ring)
{
	static const unsigned int flags[] = { 0, 0, IORING_SETUP_SQPOLL, IORING_SETUP_IOPOLL, IORING_SETUP_CLAMP };

	memset(&ring->params, 0, sizeof(ring->params));
	ring->params.flags = flags[pick(ARRAY_SIZE(flags))];
	ring->params.sq_thread_idle = 1;
	ring->file = syscall(SYS_io_uring_setup, DEPTH, &ring->params);
	if (ring->file < 0)
		return 0;
	ring->bytes = ring->params.cq_off.cqes + ring->params.cq_entries * sizeof(struct io_uring_cqe) + 4096;
	ring->rings = mmap(NULL, ring->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->file,
		IORING_OFF_SQ_RING);
	ring->entries = mmap(NULL, DEPTH * sizeof(*ring->entries), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		ring->file, IORING_OFF_SQES);
	if (ring->rings != MAP_FAILED && ring->entries != MAP_FAILED)
		return 1;
	close(ring->file);
	return 0;
}

static void ring_close(struct ring *ring)
{
	munmap(ring->rings, ring->bytes);
	munmap(ring->entries, DEPTH * sizeof(*ring->entries));
	close(ring->file);
}

static void ring_entry(struct io_uring_sqe *entry, struct iovec *parts)
{
	static const uint8_t operations[] = { IORING_OP_READ, IORING_OP_WRITE, IORING_OP_READ, IORING_OP_WRITE,
		IORING_OP_READV, IORING_OP_WRITEV, IORING_OP_READ_FIXED, IORING_OP_WRITE_FIXED, IORING_OP_POLL_ADD,
		IORING_OP_ASYNC_CANCEL, IORING_OP_FSYNC, IORING_OP_CLOSE, IORING_OP_TIMEOUT, IORING_OP_FALLOCATE };
	size_t length = some_length();

	memset(entry, 0, sizeof(*entry));
	entry->opcode = operations[pick(one_in(4) ? ARRAY_SIZE(operations) : 8)];
	entry->fd = some_file();
	entry->addr = (uintptr_t)some_memory();
	entry->len = length;
	if (entry->opcode == IORING_OP_READV || entry->opcode == IORING_OP_WRITEV) {
		for (unsigned int part = 0; part < 4; part++)
			parts[part] = (struct iovec){ some_memory(), some_length() % (1 << 20) };
		entry->addr = (uintptr_t)parts;
		entry->len = pick(5);
	}
	/* A length has 32 bits here. */
	entry->off = some_offset(entry->len);
	entry->user_data = pick(DEPTH);
	if (entry->opcode == IORING_OP_ASYNC_CANCEL)
		entry->addr = pick(DEPTH);
	if (entry->opcode == IORING_OP_CLOSE)
		entry->fd = 1000 + (int)pick(100);
	entry->flags = one_in(3) ? pick(64) & ~IOSQE_FIXED_FILE : 0;
	entry->rw_flags = one_in(8) ? (int)pick(64) : 0;
}

static void ring_submit(struct ring *ring, unsigned int count)
{
	unsigned int *tail = (unsigned int *)(ring->rings + ring->params.sq_off.tail);
	unsigned int *array = (unsigned int *)(ring->rings + ring->params.sq_off.array);
	struct iovec parts[4];

	for (unsigned int i = 0; i < count; i++) {
		ring_entry(&ring->entries[i], parts);
		array[(*tail + i) % DEPTH] = i;
	}
	__atomic_store_n(tail, *tail + count, __ATOMIC_RELEASE);
	counted(syscall(SYS_io_uring_enter, ring->file, count, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0));
}

static void io_uring(void)
{
	/* With CONFIG_DEBUG_VM, io_uring's own pinning of a page that never comes is a report of the kernel. */
	struct iovec fixed = { private_memory(), 4096 * (1 + pick(64)) };
	struct pollfd polled;
	struct ring ring;

	if (!ring_open(&ring))
		return;
	syscall(SYS_io_uring_register, ring.file, IORING_REGISTER_BUFFERS, &fixed, 1);
	polled = (struct pollfd){ ring.file, POLLIN, 0 };
	for (unsigned int rounds = 1 + pick(4); rounds; rounds--) {
		ring_submit(&ring, 1 + pick(one_in(2) ? 2 : DEPTH));
		if (one_in(4))
			memory_map();
		if (one_in(4))
			files_open();
		if (one_in(2))
			poll(&polled, 1, (int)pick(10));
	}
	ring_close(&ring);
}

const struct kind async_kinds[] = {
	{ "aio", aio }, { "aio", aio }, { "io_uring", io_uring }, { "io_uring", io_uring },
	{ }
};
