// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Buffers for the user's logic: LITEPCIE_IOC_HOSTBUF_* of <linux/litepcie_hostbuf.h>. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "handle.h"

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
