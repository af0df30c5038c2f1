// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * A queue over io_uring, with the system calls themselves: the library depends on libc only. Each
 * submission enters the kernel, so that the card begins at once.
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "queue.h"

struct uring_queue {
	struct litepcie_queue queue;
	unsigned char *rings;
	size_t rings_bytes, entries_bytes;
	struct io_uring_sqe *entries;
	struct io_uring_params params;
	struct iovec buffers[QUEUE_BUFFERS];
};

static struct uring_queue *of(struct litepcie_queue *queue)
{
	return (struct uring_queue *)queue;
}

static uint32_t *place(struct uring_queue *uring, uint32_t offset)
{
	return (uint32_t *)(uring->rings + offset);
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Maps what the kernel shares: both rings, which are one mapping since Linux 5.4, and the entries.
 */
static int map_rings(struct uring_queue *uring)
{
	const struct io_uring_params *p = &uring->params;
	const int protection = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;

	/* The operations are those of Linux 5.6, which has the second feature. */
	if (!(p->features & IORING_FEAT_SINGLE_MMAP) || !(p->features & IORING_FEAT_RW_CUR_POS))
		return -ENOSYS;
	uring->rings_bytes = larger(p->sq_off.array + p->sq_entries * sizeof(uint32_t),
				    p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe));
	uring->entries_bytes = p->sq_entries * sizeof(struct io_uring_sqe);
	uring->rings = mmap(NULL, uring->rings_bytes, protection, flags, uring->queue.fd,
			    IORING_OFF_SQ_RING);
	if (uring->rings == MAP_FAILED)
		return -errno;
	uring->entries = mmap(NULL, uring->entries_bytes, protection, flags, uring->queue.fd,
			      IORING_OFF_SQES);
	if (uring->entries == MAP_FAILED) {
		int err = -errno;

		munmap(uring->rings, uring->rings_bytes);
		return err;
	}
	return 0;
}

static int know(struct litepcie_queue *queue, const struct iovec *buffers, unsigned int count)
{
	if (syscall(SYS_io_uring_register, queue->fd, IORING_REGISTER_BUFFERS, buffers, count) < 0)
		return -errno;
	memcpy(of(queue)->buffers, buffers, count * sizeof(*buffers));
	return 0;
}

/* The number of the registered buffer that has all bytes of the transfer, or -1. */
static int buffer_of(const struct uring_queue *uring, uintptr_t start, size_t bytes)
{
	for (unsigned int i = 0; i < uring->queue.registered; i++) {
		uintptr_t first = (uintptr_t)uring->buffers[i].iov_base;

		if (start >= first && bytes <= uring->buffers[i].iov_len &&
		    start - first <= uring->buffers[i].iov_len - bytes)
			return (int)i;
	}
	return -1;
}

static int submit(struct litepcie_queue *queue, bool write, const void *buffer, size_t bytes,
		  uint64_t offset, uint64_t tag)
{
	struct uring_queue *uring = of(queue);
	uint32_t *tail = place(uring, uring->params.sq_off.tail);
	uint32_t at = *tail & *place(uring, uring->params.sq_off.ring_mask);
	int fixed = buffer_of(uring, (uintptr_t)buffer, bytes);
	uint8_t plain = write ? IORING_OP_WRITE : IORING_OP_READ;
	int err;

	uring->entries[at] = (struct io_uring_sqe){
		.opcode = fixed < 0 ? plain
			  : write   ? IORING_OP_WRITE_FIXED
				    : IORING_OP_READ_FIXED,
		.fd = queue->card_fd,
		.addr = (uintptr_t)buffer,
		.len = (uint32_t)bytes,
		.off = offset,
		.user_data = tag,
		.buf_index = (uint16_t)(fixed < 0 ? 0 : fixed),
	};
	place(uring, uring->params.sq_off.array)[at] = at;
	/* The kernel reads the entry after it has read the tail. */
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, queue->fd, 1, 0, 0, NULL, 0) != 1) {
		err = -errno;
		__atomic_store_n(tail, *tail - 1, __ATOMIC_RELEASE);
		return err;
	}
	return 0;
}

static unsigned int take(struct litepcie_queue *queue, struct litepcie_done *done,
			 unsigned int most)
{
	struct uring_queue *uring = of(queue);
	const struct io_uring_cqe *ended = (const void *)place(uring, uring->params.cq_off.cqes);
	uint32_t *head = place(uring, uring->params.cq_off.head);
	uint32_t mask = *place(uring, uring->params.cq_off.ring_mask);
	/* The kernel writes the results before the tail. */
	uint32_t tail = __atomic_load_n(place(uring, uring->params.cq_off.tail), __ATOMIC_ACQUIRE);
	unsigned int count = 0;

	for (; count < most && *head + count != tail; count++) {
		const struct io_uring_cqe *one = &ended[(*head + count) & mask];

		done[count] = (struct litepcie_done){ .tag = one->user_data, .result = one->res };
	}
	__atomic_store_n(head, *head + count, __ATOMIC_RELEASE);
	return count;
}

static void destroy(struct litepcie_queue *queue)
{
	struct uring_queue *uring = of(queue);

	munmap(uring->entries, uring->entries_bytes);
	munmap(uring->rings, uring->rings_bytes);
	close(queue->fd);
	free(uring);
}

static const struct queue_calls calls = { know, submit, take, destroy };

int queue_open_uring(struct litepcie_queue **queue, unsigned int depth)
{
	struct uring_queue *uring = calloc(1, sizeof(*uring));
	int err = 0;

	if (!uring)
		return -ENOMEM;
	uring->queue.calls = &calls;
	/* The descriptor of a ring is close-on-exec. */
	uring->queue.fd = (int)syscall(SYS_io_uring_setup, depth, &uring->params);
	if (uring->queue.fd < 0)
		err = -errno;
	else if ((err = map_rings(uring)) < 0)
		close(uring->queue.fd);
	if (err < 0) {
		free(uring);
		return err;
	}
	*queue = &uring->queue;
	return 0;
}
