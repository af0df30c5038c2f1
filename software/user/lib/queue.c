// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Asynchronous transfers: by io_uring, or by Linux aio where the system forbids io_uring. */
#include <errno.h>
#include <linux/litepcie.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "handle.h"
#include "queue.h"

#define MOST_BYTES (UINT32_C(1) << 30)

int litepcie_queue_open(struct litepcie_queue **queue, struct litepcie *card, unsigned int depth)
{
	int err;

	*queue = NULL;
	if (!depth || depth > LITEPCIE_QUEUE_MOST)
		return -EINVAL;
	err = queue_open_uring(queue, depth);
	if (err == -ENOSYS || err == -EPERM)
		err = queue_open_aio(queue, depth);
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
