// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Buffers that the card uses and this process did not allocate: of other devices, and of the
 * driver. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "handle.h"

/* Buffers of other devices: LITEPCIE_IOC_DMABUF_* of <linux/litepcie.h>. */

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

/* Buffers for the user's logic: LITEPCIE_IOC_HOSTBUF_* of <linux/litepcie_hostbuf.h>. */

int litepcie_hostbuf_create(struct litepcie *card, size_t bytes, uint32_t flags,
			    struct litepcie_hostbuf *buffer)
{
	struct litepcie_hostbuf_create arg = {
		.size = sizeof(arg),
		.flags = flags,
		.bytes = bytes,
	};
	int err;

	memset(buffer, 0, sizeof(*buffer));
	if (ioctl(card->fd, LITEPCIE_IOC_HOSTBUF_CREATE, &arg) < 0)
		return -errno;
	*buffer = (struct litepcie_hostbuf){
		.bytes = arg.bytes,
		.card_address = arg.card_address,
		.handle = arg.handle,
	};
	buffer->data =
		mmap(NULL, arg.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, card->fd, arg.map_offset);
	if (buffer->data != MAP_FAILED)
		return 0;
	err = -errno;
	buffer->data = NULL;
	litepcie_hostbuf_destroy(card, buffer);
	return err;
}

int litepcie_hostbuf_destroy(struct litepcie *card, struct litepcie_hostbuf *buffer)
{
	struct litepcie_hostbuf_destroy arg = { .size = sizeof(arg), .handle = buffer->handle };
	int ret;

	ret = ioctl(card->fd, LITEPCIE_IOC_HOSTBUF_DESTROY, &arg) < 0 ? -errno : 0;
	if (buffer->data)
		munmap(buffer->data, buffer->bytes);
	memset(buffer, 0, sizeof(*buffer));
	return ret;
}
