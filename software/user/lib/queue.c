// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Asynchronous transfers: by io_uring, or by Linux aio where the system forbids io_uring. */
#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <linux/litepcie.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "handle.h"

#define QUEUE_BUFFERS 64

struct queue_calls {
	int (*know)(struct litepcie_queue *queue, const struct iovec *buffers, unsigned int count);
	int (*submit)(struct litepcie_queue *queue, bool write, const void *buffer, size_t bytes,
		      uint64_t offset, uint64_t tag);
	/* Takes results; their number. */
	unsigned int (*take)(struct litepcie_queue *queue, struct litepcie_done *done,
			     unsigned int most);
	void (*destroy)(struct litepcie_queue *queue);
};

/* The first member of the structure of each kind. */
struct litepcie_queue {
	const struct queue_calls *calls;
	int card_fd;
	int fd; /* readable while there are results */
	unsigned int depth, in_flight, registered;
};

/*
 * A queue over io_uring, with the system calls themselves: the library depends on libc only. Each
 * submission enters the kernel, so that the card begins at once.
 */

struct uring_queue {
	struct litepcie_queue queue;
	unsigned char *rings;
	size_t rings_bytes, entries_bytes;
	struct io_uring_sqe *entries;
	struct io_uring_params params;
	struct iovec buffers[QUEUE_BUFFERS];
};

static struct uring_queue *uring_of(struct litepcie_queue *queue)
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

static int uring_know(struct litepcie_queue *queue, const struct iovec *buffers, unsigned int count)
{
	if (syscall(SYS_io_uring_register, queue->fd, IORING_REGISTER_BUFFERS, buffers, count) < 0)
		return -errno;
	memcpy(uring_of(queue)->buffers, buffers, count * sizeof(*buffers));
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

static int uring_submit(struct litepcie_queue *queue, bool write, const void *buffer, size_t bytes,
			uint64_t offset, uint64_t tag)
{
	struct uring_queue *uring = uring_of(queue);
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

static unsigned int uring_take(struct litepcie_queue *queue, struct litepcie_done *done,
			       unsigned int most)
{
	struct uring_queue *uring = uring_of(queue);
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

static void uring_destroy(struct litepcie_queue *queue)
{
	struct uring_queue *uring = uring_of(queue);

	munmap(uring->entries, uring->entries_bytes);
	munmap(uring->rings, uring->rings_bytes);
	close(queue->fd);
	free(uring);
}

static const struct queue_calls uring_calls = { uring_know, uring_submit, uring_take,
						uring_destroy };

static int uring_open(struct litepcie_queue **queue, unsigned int depth)
{
	struct uring_queue *uring = calloc(1, sizeof(*uring));
	int err = 0;

	if (!uring)
		return -ENOMEM;
	uring->queue.calls = &uring_calls;
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

/*
 * A queue over Linux aio, with the system calls themselves, for systems that forbid io_uring. The
 * kernel counts the results in an eventfd, which makes the queue fit for poll(2).
 */

struct aio_queue {
	struct litepcie_queue queue;
	aio_context_t context;
	struct io_event events[LITEPCIE_QUEUE_MOST];
};

static struct aio_queue *aio_of(struct litepcie_queue *queue)
{
	return (struct aio_queue *)queue;
}

/* aio pins the pages of each transfer: there is nothing to do in advance. */
static int aio_know(struct litepcie_queue *queue, const struct iovec *buffers, unsigned int count)
{
	(void)queue;
	for (unsigned int i = 0; i < count; i++)
		if (!buffers[i].iov_base || !buffers[i].iov_len)
			return buffers[i].iov_len ? -EFAULT : -EINVAL;
	return 0;
}

static int aio_submit(struct litepcie_queue *queue, bool write, const void *buffer, size_t bytes,
		      uint64_t offset, uint64_t tag)
{
	struct iocb one = {
		.aio_data = tag,
		.aio_lio_opcode = write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
		.aio_fildes = (uint32_t)queue->card_fd,
		.aio_buf = (uintptr_t)buffer,
		.aio_nbytes = bytes,
		.aio_offset = (int64_t)offset,
		.aio_flags = IOCB_FLAG_RESFD,
		.aio_resfd = (uint32_t)queue->fd,
	};
	struct iocb *list = &one;

	if (syscall(SYS_io_submit, aio_of(queue)->context, 1, &list) != 1)
		return -errno;
	return 0;
}

/*
 * The kernel queues a result before it counts it, so as many as were counted are there. What is not
 * taken is counted again: the descriptor stays readable.
 */
static unsigned int aio_take(struct litepcie_queue *queue, struct litepcie_done *done,
			     unsigned int most)
{
	struct aio_queue *aio = aio_of(queue);
	struct timespec now = { 0 };
	uint64_t ended;
	ssize_t written;
	long count;

	if (!most || read(queue->fd, &ended, sizeof(ended)) != sizeof(ended))
		return 0;
	if (most > ended)
		most = (unsigned int)ended;
	count = syscall(SYS_io_getevents, aio->context, 0, (long)most, aio->events, &now);
	if (count < 0)
		count = 0;
	for (long i = 0; i < count; i++)
		done[i] = (struct litepcie_done){ .tag = aio->events[i].data,
						  .result = (ssize_t)aio->events[i].res };
	ended -= (uint64_t)count;
	/* It cannot fail: the sum is less than an eventfd can hold. */
	written = ended ? write(queue->fd, &ended, sizeof(ended)) : 0;
	(void)written;
	return (unsigned int)count;
}

static void aio_destroy(struct litepcie_queue *queue)
{
	syscall(SYS_io_destroy, aio_of(queue)->context);
	close(queue->fd);
	free(queue);
}

static const struct queue_calls aio_calls = { aio_know, aio_submit, aio_take, aio_destroy };

static int aio_open(struct litepcie_queue **queue, unsigned int depth)
{
	struct aio_queue *aio = calloc(1, sizeof(*aio));
	int err;

	if (!aio)
		return -ENOMEM;
	aio->queue.calls = &aio_calls;
	aio->queue.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (aio->queue.fd < 0) {
		err = -errno;
		free(aio);
		return err;
	}
	if (syscall(SYS_io_setup, depth, &aio->context) < 0) {
		/* EAGAIN: all of fs.aio-max-nr is in use. */
		err = errno == EAGAIN ? -ENOMEM : -errno;
		close(aio->queue.fd);
		free(aio);
		return err;
	}
	*queue = &aio->queue;
	return 0;
}

/* The queue of the interface, over either. */

#define MOST_BYTES (UINT32_C(1) << 30)

int litepcie_queue_open(struct litepcie_queue **queue, struct litepcie *card, unsigned int depth)
{
	int err;

	*queue = NULL;
	if (!depth || depth > LITEPCIE_QUEUE_MOST)
		return -EINVAL;
	err = uring_open(queue, depth);
	if (err == -ENOSYS || err == -EPERM)
		err = aio_open(queue, depth);
	if (err < 0)
		return err;
	(*queue)->card_fd = card->fd;
	(*queue)->depth = depth;
	return 0;
}

/* The kernel uses the buffers until a transfer has ended, also after the queue is closed. */
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
	queue->calls->destroy(queue);
}

int litepcie_queue_fd(const struct litepcie_queue *queue)
{
	return queue->fd;
}

unsigned int litepcie_queue_in_flight(const struct litepcie_queue *queue)
{
	return queue->in_flight;
}

int litepcie_queue_register(struct litepcie_queue *queue, const struct iovec *buffers,
			    unsigned int count)
{
	int err;

	if (!count || count > QUEUE_BUFFERS)
		return -EINVAL;
	if (queue->registered)
		return -EBUSY;
	err = queue->calls->know(queue, buffers, count);
	if (!err)
		queue->registered = count;
	return err;
}

static int submit(struct litepcie_queue *queue, bool write, const void *buffer, size_t bytes,
		  uint64_t offset, uint64_t tag)
{
	int err;

	if (!bytes || bytes > MOST_BYTES || offset > INT64_MAX - MOST_BYTES)
		return -EINVAL;
	if (queue->in_flight == queue->depth)
		return -EAGAIN;
	err = queue->calls->submit(queue, write, buffer, bytes, offset, tag);
	if (!err)
		queue->in_flight++;
	/* -EAGAIN is for a full queue only. */
	return err == -EAGAIN ? -ENOMEM : err;
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
	unsigned int count = queue->calls->take(queue, done, most);

	queue->in_flight -= count;
	return (int)count;
}

int litepcie_queue_wait(struct litepcie_queue *queue, struct litepcie_done *done, unsigned int most,
			int timeout_ms)
{
	struct pollfd fd = { .fd = queue->fd, .events = POLLIN };
	int count = litepcie_queue_poll(queue, done, most);

	if (count || !most || !queue->in_flight)
		return count;
	if (poll(&fd, 1, timeout_ms) < 0)
		return -errno;
	return litepcie_queue_poll(queue, done, most);
}

int litepcie_cancel(struct litepcie *card)
{
	struct litepcie_cancel cancel = { .size = sizeof(cancel) };

	return ioctl(card->fd, LITEPCIE_IOC_CANCEL, &cancel) < 0 ? -errno : 0;
}
