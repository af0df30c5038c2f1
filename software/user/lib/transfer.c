// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Transfers of any length: pread(2) and pwrite(2) in a loop. */
#include <errno.h>
#include <unistd.h>

#include "handle.h"

/* File offsets are signed: the offset of every byte must be at most INT64_MAX. */
static int offset_fits(size_t bytes, uint64_t offset)
{
	return offset <= INT64_MAX && bytes <= (uint64_t)INT64_MAX - offset;
}

ssize_t litepcie_pread(struct litepcie *card, void *buffer, size_t bytes, uint64_t offset)
{
	size_t moved = 0;

	if (!offset_fits(bytes, offset))
		return -EINVAL;
	while (moved < bytes) {
		ssize_t n = pread(card->fd, (char *)buffer + moved, bytes - moved, offset + moved);

		if (n < 0 && errno == EINTR && moved)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		moved += n;
	}
	return moved;
}

ssize_t litepcie_pwrite(struct litepcie *card, const void *buffer, size_t bytes, uint64_t offset)
{
	size_t moved = 0;

	if (!offset_fits(bytes, offset))
		return -EINVAL;
	while (moved < bytes) {
		ssize_t n = pwrite(card->fd, (const char *)buffer + moved, bytes - moved,
				   offset + moved);

		if (n < 0 && errno == EINTR && moved)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ENOSPC;
		moved += n;
	}
	return moved;
}
