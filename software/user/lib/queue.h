/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* What both kinds of queues have: that over io_uring, and that over Linux aio. */
#ifndef LITEPCIE_QUEUE_H
#define LITEPCIE_QUEUE_H

#include <stdbool.h>
#include <sys/uio.h>

#include "liblitepcie.h"

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

/* 0 or a negative errno. The caller fills in card_fd and depth. */
int queue_open_uring(struct litepcie_queue **queue, unsigned int depth);
int queue_open_aio(struct litepcie_queue **queue, unsigned int depth);

#endif /* LITEPCIE_QUEUE_H */
