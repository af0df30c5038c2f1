// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * A queue over Linux aio, with the system calls themselves, for systems that forbid io_uring. The
 * kernel counts the results in an eventfd, which makes the queue fit for poll(2).
 */
#include <errno.h>
#include <linux/aio_abi.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "queue.h"

struct aio_queue {
	struct litepcie_queue queue;
	aio_context_t context;
	struct io_event events[LITEPCIE_QUEUE_MOST];
};

static struct aio_queue *of(struct litepcie_queue *queue)
{
	return (struct aio_queue *)queue;
}

/* aio pins the pages of each transfer: there is nothing to do in advance. */
static int know(struct litepcie_queue *queue, const struct iovec *buffers, unsigned int count)
{
	(void)queue;
	for (unsigned int i = 0; i < count; i++)
		if (!buffers[i].iov_base || !buffers[i].iov_len)
			return buffers[i].iov_len ? -EFAULT : -EINVAL;
	return 0;
}

static int submit(struct litepcie_queue *queue, bool write, const void *buffer, size_t bytes,
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

	if (syscall(SYS_io_submit, of(queue)->context, 1, &list) != 1)
		return -errno;
	return 0;
}

/*
 * The kernel queues a result before it counts it, so as many as were counted are there. What is not
 * taken is counted again: the descriptor stays readable.
 */
static unsigned int take(struct litepcie_queue *queue, struct litepcie_done *done,
			 unsigned int most)
{
	struct aio_queue *aio = of(queue);
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

static void destroy(struct litepcie_queue *queue)
{
	syscall(SYS_io_destroy, of(queue)->context);
	close(queue->fd);
	free(queue);
}

static const struct queue_calls calls = { know, submit, take, destroy };

int queue_open_aio(struct litepcie_queue **queue, unsigned int depth)
{
	struct aio_queue *aio = calloc(1, sizeof(*aio));
	int err;

	if (!aio)
		return -ENOMEM;
	aio->queue.calls = &calls;
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
