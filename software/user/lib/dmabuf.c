// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Buffers of other devices: LITEPCIE_IOC_DMABUF_* of <linux/litepcie.h>. */
#include <errno.h>
#include <sys/ioctl.h>

#include "handle.h"

int litepcie_dmabuf_attach(struct litepcie *card, int fd, uint32_t *handle)
{
	struct litepcie_dmabuf_attach arg = { .size = sizeof(arg), .fd = fd };

	if (ioctl(card->fd, LITEPCIE_IOC_DMABUF_ATTACH, &arg) < 0)
		return -errno;
	*handle = arg.handle;
	return 0;
}

int litepcie_dmabuf_detach(struct litepcie *card, uint32_t handle)
{
	struct litepcie_dmabuf_detach arg = { .size = sizeof(arg), .handle = handle };

	return ioctl(card->fd, LITEPCIE_IOC_DMABUF_DETACH, &arg) < 0 ? -errno : 0;
}

ssize_t litepcie_dmabuf_move(struct litepcie *card, uint32_t handle, unsigned int direction,
			     uint64_t offset, uint64_t card_offset, size_t bytes)
{
	size_t moved = 0;

	do {
		struct litepcie_dmabuf_move arg = {
			.size = sizeof(arg),
			.handle = handle,
			.direction = direction,
			.offset = offset + moved,
			.card_offset = card_offset + moved,
			.bytes = bytes - moved,
		};

		if (ioctl(card->fd, LITEPCIE_IOC_DMABUF_MOVE, &arg) < 0) {
			if (errno == EINTR && moved)
				continue;
			return -errno;
		}
		moved += arg.moved;
	} while (moved < bytes);
	return moved;
}

int litepcie_dmabuf_start(struct litepcie *card, uint32_t handle, unsigned int direction,
			  uint64_t offset, uint64_t card_offset, size_t bytes, uint32_t *ticket)
{
	struct litepcie_dmabuf_move arg = {
		.size = sizeof(arg),
		.flags = LITEPCIE_DMABUF_ASYNC,
		.handle = handle,
		.direction = direction,
		.offset = offset,
		.card_offset = card_offset,
		.bytes = bytes,
	};

	if (ioctl(card->fd, LITEPCIE_IOC_DMABUF_MOVE, &arg) < 0)
		return -errno;
	*ticket = arg.ticket;
	return 0;
}

ssize_t litepcie_dmabuf_wait(struct litepcie *card, uint32_t ticket, unsigned int flags)
{
	struct litepcie_dmabuf_wait arg = { .size = sizeof(arg), .ticket = ticket, .flags = flags };

	return ioctl(card->fd, LITEPCIE_IOC_DMABUF_WAIT, &arg) < 0 ? -errno : (ssize_t)arg.moved;
}
