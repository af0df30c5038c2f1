// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Asynchronous transfers by io_uring, with the system calls themselves: the library depends on libc
 * only. Each submission enters the kernel, so that the card begins at once.
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "handle.h"

#define MOST_BYTES   (UINT32_C(1) << 30)
#define MOST_BUFFERS 64

struct litepcie_queue {
	int card_fd, ring_fd;
	unsigned int depth, in_flight;
	unsigned char *rings;
	size_t rings_bytes, entries_bytes;
	struct io_uring_sqe *entries;
	struct io_uring_params params;
	struct iovec buffers[MOST_BUFFERS];
	unsigned int registered;
};

static uint32_t *place(struct litepcie_queue *queue, uint32_t offset)
{
	return (uint32_t *)(queue->rings + offset);
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Maps what the kernel shares: both rings, which are one mapping since Linux 5.4, and the entries.
 */
static int map_rings(struct litepcie_queue *queue)
{
	const struct io_uring_params *p = &queue->params;
	const int protection = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;

	if (!(p->features & IORING_FEAT_SINGLE_MMAP))
		return -ENOSYS;
	queue->rings_bytes = larger(p->sq_off.array + p->sq_entries * sizeof(uint32_t),
				    p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe));
	queue->entries_bytes = p->sq_entries * sizeof(struct io_uring_sqe);
	queue->rings = mmap(NULL, queue->rings_bytes, protection, flags, queue->ring_fd,
			    IORING_OFF_SQ_RING);
	if (queue->rings == MAP_FAILED)
		return -errno;
	queue->entries = mmap(NULL, queue->entries_bytes, protection, flags, queue->ring_fd,
			      IORING_OFF_SQES);
	if (queue->entries == MAP_FAILED) {
		int err = -errno;

		munmap(queue->rings, queue->rings_bytes);
		return err;
	}
	return 0;
}

int litepcie_queue_open(struct litepcie_queue **queue, struct litepcie *card, unsigned int depth)
{
	struct litepcie_queue *handle;
	int err = 0;

	*queue = NULL;
	if (!depth || depth > LITEPCIE_QUEUE_MOST)
		return -EINVAL;
	handle = calloc(1, sizeof(*handle));
	if (!handle)
		return -ENOMEM;
	handle->card_fd = card->fd;
	handle->depth = depth;
	/* The descriptor of a ring is close-on-exec. */
	handle->ring_fd = (int)syscall(SYS_io_uring_setup, depth, &handle->params);
	if (handle->ring_fd < 0)
		err = -errno;
	else if ((err = map_rings(handle)) < 0)
		close(handle->ring_fd);
	if (err < 0) {
		free(handle);
		return err;
	}
	*queue = handle;
	return 0;
}

/* The kernel uses the buffers until a transfer has ended, also after the ring is closed. */
void litepcie_queue_close(struct litepcie_queue *queue)
{
	struct litepcie_done done;

	if (!queue)
		return;
	while (queue->in_flight) {
		int n = litepcie_queue_wait(queue, &done, 1, -1);

		if (n < 0 && n != -EINTR)
			break;
	}
	munmap(queue->entries, queue->entries_bytes);
	munmap(queue->rings, queue->rings_bytes);
	close(queue->ring_fd);
	free(queue);
}

int litepcie_queue_fd(const struct litepcie_queue *queue)
{
	return queue->ring_fd;
}

unsigned int litepcie_queue_in_flight(const struct litepcie_queue *queue)
{
	return queue->in_flight;
}

int litepcie_queue_register(struct litepcie_queue *queue, const struct iovec *buffers,
			    unsigned int count)
{
	if (!count || count > MOST_BUFFERS)
		return -EINVAL;
	if (queue->registered)
		return -EBUSY;
	if (syscall(SYS_io_uring_register, queue->ring_fd, IORING_REGISTER_BUFFERS, buffers,
		    count) < 0)
		return -errno;
	memcpy(queue->buffers, buffers, count * sizeof(*buffers));
	queue->registered = count;
	return 0;
}

/* The number of the registered buffer that has all bytes of the transfer, or -1. */
static int buffer_of(const struct litepcie_queue *queue, uintptr_t start, size_t bytes)
{
	for (unsigned int i = 0; i < queue->registered; i++) {
		uintptr_t first = (uintptr_t)queue->buffers[i].iov_base;

		if (start >= first && bytes <= queue->buffers[i].iov_len &&
		    start - first <= queue->buffers[i].iov_len - bytes)
			return (int)i;
	}
	return -1;
}

static int submit(struct litepcie_queue *queue, bool write, const void *buffer, size_t bytes,
		  uint64_t offset, uint64_t tag)
{
	uint32_t *tail = place(queue, queue->params.sq_off.tail);
	uint32_t at = *tail & *place(queue, queue->params.sq_off.ring_mask);
	int fixed = buffer_of(queue, (uintptr_t)buffer, bytes);
	uint8_t plain = write ? IORING_OP_WRITE : IORING_OP_READ;
	int err;

	if (!bytes || bytes > MOST_BYTES || offset > INT64_MAX - MOST_BYTES)
		return -EINVAL;
	if (queue->in_flight == queue->depth)
		return -EAGAIN;
	queue->entries[at] = (struct io_uring_sqe){
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
	place(queue, queue->params.sq_off.array)[at] = at;
	/* The kernel reads the entry after it has read the tail. */
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, queue->ring_fd, 1, 0, 0, NULL, 0) != 1) {
		err = errno == EAGAIN ? -ENOMEM : -errno;
		__atomic_store_n(tail, *tail - 1, __ATOMIC_RELEASE);
		return err;
	}
	queue->in_flight++;
	return 0;
}

int litepcie_queue_read(struct litepcie_queue *queue, void *buffer, size_t bytes, uint64_t offset,
			uint64_t tag)
{
	return submit(queue, false, buffer, bytes, offset, tag);
}

int litepcie_queue_write(struct litepcie_queue *queue, const void *buffer, size_t bytes,
			 uint64_t offset, uint64_t tag)
{
	return submit(queue, true, buffer, bytes, offset, tag);
}

int litepcie_queue_poll(struct litepcie_queue *queue, struct litepcie_done *done, unsigned int most)
{
	const struct io_uring_cqe *ended = (const void *)place(queue, queue->params.cq_off.cqes);
	uint32_t *head = place(queue, queue->params.cq_off.head);
	uint32_t mask = *place(queue, queue->params.cq_off.ring_mask);
	/* The kernel writes the results before the tail. */
	uint32_t tail = __atomic_load_n(place(queue, queue->params.cq_off.tail), __ATOMIC_ACQUIRE);
	unsigned int count = 0;

	for (; count < most && *head + count != tail; count++) {
		const struct io_uring_cqe *one = &ended[(*head + count) & mask];

		done[count] = (struct litepcie_done){ .tag = one->user_data, .result = one->res };
	}
	__atomic_store_n(head, *head + count, __ATOMIC_RELEASE);
	queue->in_flight -= count;
	return (int)count;
}

int litepcie_queue_wait(struct litepcie_queue *queue, struct litepcie_done *done, unsigned int most,
			int timeout_ms)
{
	struct pollfd fd = { .fd = queue->ring_fd, .events = POLLIN };
	int count = litepcie_queue_poll(queue, done, most);

	if (count || !most || !queue->in_flight)
		return count;
	if (poll(&fd, 1, timeout_ms) < 0)
		return -errno;
	return litepcie_queue_poll(queue, done, most);
}
