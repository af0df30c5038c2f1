// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Streams: packets with their ends, settings, and the shared ring of <linux/litepcie_stream.h>. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "liblitepcie.h"

struct litepcie_stream {
	int fd;
	int flags;
};

static int stream_ioctl(const struct litepcie_stream *stream, unsigned long request, void *argument)
{
	return ioctl(stream->fd, request, argument) < 0 ? -errno : 0;
}

static int has_direction(const struct litepcie_stream *stream, unsigned int direction)
{
	int access = stream->flags & O_ACCMODE;

	return access == O_RDWR ||
	       access == (direction == LITEPCIE_FROM_CARD ? O_RDONLY : O_WRONLY);
}

int litepcie_stream_setup(struct litepcie_stream *stream, struct litepcie_stream_setup *setup)
{
	setup->size = sizeof(*setup);
	setup->mode = LITEPCIE_STREAM_HEADERS;
	return stream_ioctl(stream, LITEPCIE_IOC_STREAM_SETUP, setup);
}

int litepcie_stream_open(struct litepcie_stream **stream, const char *path, int flags)
{
	struct litepcie_stream *handle = malloc(sizeof(*handle));
	int err = 0;

	*stream = NULL;
	if (!handle)
		return -ENOMEM;
	handle->flags = flags;
	handle->fd = open(path, flags | O_CLOEXEC);
	if (handle->fd < 0)
		err = -errno;
	for (unsigned int direction = 0; !err && direction < 2; direction++) {
		struct litepcie_stream_setup setup = { .direction = direction };

		if (has_direction(handle, direction))
			err = litepcie_stream_setup(handle, &setup);
	}
	if (err) {
		if (handle->fd >= 0)
			close(handle->fd);
		free(handle);
		return err;
	}
	*stream = handle;
	return 0;
}

int litepcie_stream_close(struct litepcie_stream *stream)
{
	int err = 0;

	if (stream && close(stream->fd) < 0)
		err = -errno;
	free(stream);
	return err;
}

int litepcie_stream_fd(const struct litepcie_stream *stream)
{
	return stream->fd;
}

int litepcie_stream_get_info(struct litepcie_stream *stream, unsigned int direction,
			     struct litepcie_stream_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	info->direction = direction;
	return stream_ioctl(stream, LITEPCIE_IOC_STREAM_INFO, info);
}

ssize_t litepcie_stream_read(struct litepcie_stream *stream, void *buffer, size_t bytes, int *more)
{
	struct litepcie_stream_header header = { 0 };
	struct iovec pieces[2] = { { &header, sizeof(header) }, { buffer, bytes } };
	ssize_t n = readv(stream->fd, pieces, 2);

	if (n < 0)
		return -errno;
	*more = !!(header.flags & LITEPCIE_STREAM_MORE);
	return header.bytes;
}

ssize_t litepcie_stream_write(struct litepcie_stream *stream, const void *buffer, size_t bytes,
			      int more)
{
	size_t moved = 0;

	while (moved < bytes) {
		size_t part = bytes - moved < UINT32_MAX / 2 ? bytes - moved : UINT32_MAX / 2;
		struct litepcie_stream_header header = {
			.bytes = part,
			.flags = more || part < bytes - moved ? LITEPCIE_STREAM_MORE : 0,
		};
		struct iovec pieces[2] = {
			{ &header, sizeof(header) },
			{ (char *)buffer + moved, part },
		};
		ssize_t n = writev(stream->fd, pieces, 2);

		if (n < 0 && moved)
			return moved;
		if (n < 0)
			return -errno;
		moved += n - sizeof(header);
	}
	return moved;
}

int litepcie_stream_map(struct litepcie_stream *stream, unsigned int direction,
			struct litepcie_stream_map *map)
{
	int protection = PROT_READ | (direction == LITEPCIE_TO_CARD ? PROT_WRITE : 0);
	struct litepcie_stream_info info;
	int err;

	err = litepcie_stream_get_info(stream, direction, &info);
	if (err)
		return err;
	map->ring = mmap(NULL, info.map_bytes, protection, MAP_SHARED, stream->fd, info.map_offset);
	if (map->ring == MAP_FAILED)
		return -errno;
	map->buffers = (unsigned char *)map->ring + info.buffers_offset;
	map->stride = info.stride;
	map->bytes = info.map_bytes;
	map->direction = direction;
	return 0;
}

void litepcie_stream_unmap(struct litepcie_stream_map *map)
{
	munmap(map->ring, map->bytes);
	map->ring = NULL;
}

int litepcie_stream_advance(struct litepcie_stream *stream, struct litepcie_stream_map *map,
			    unsigned int count)
{
	struct litepcie_stream_advance advance = {
		.size = sizeof(advance),
		.direction = map->direction,
		.count = count,
	};

	return stream_ioctl(stream, LITEPCIE_IOC_STREAM_ADVANCE, &advance);
}
