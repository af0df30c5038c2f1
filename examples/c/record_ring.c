// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Records a stream to a disk without a copy by the processor: the disk takes the data from the
 * buffers of the ring, into which the card has written it (O_DIRECT). A buffer that a packet's end
 * has left without a multiple of 4096 bytes goes through the page cache. Uses liblitepcie.
 *
 *	record_ring DEVICE FILE BYTES [RING_BYTES]: at least so many bytes, a ring of up to 256 MiB
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <liblitepcie.h>

#define BLOCK	     4096
#define BUFFER_BYTES (256 << 10)

struct file {
	int direct, cached;
	uint64_t bytes, direct_bytes;
};

static int fail(const char *what, int error)
{
	fprintf(stderr, "%s: %s\n", what, litepcie_strerror(error));
	return 1;
}

static int store(struct file *file, const unsigned char *data, size_t bytes)
{
	bool direct = bytes % BLOCK == 0 && file->bytes % BLOCK == 0;

	for (size_t at = 0; at < bytes;) {
		ssize_t n = pwrite(direct ? file->direct : file->cached, data + at, bytes - at,
				   (off_t)(file->bytes + at));

		if (n < 0)
			return -errno;
		at += (size_t)n;
	}
	file->bytes += bytes;
	file->direct_bytes += direct ? bytes : 0;
	return 0;
}

/* Stores what the card has filled, and gives these buffers back. */
static int take(struct litepcie_stream *stream, struct litepcie_stream_map *map, struct file *file,
		uint64_t wanted)
{
	struct pollfd event = { .fd = litepcie_stream_fd(stream), .events = POLLIN };
	uint32_t tail = map->ring->tail, head, count = 0;
	int error = 0;

	poll(&event, 1, -1);
	head = __atomic_load_n(&map->ring->head, __ATOMIC_ACQUIRE);
	for (; !error && tail + count != head && file->bytes < wanted; count++) {
		uint32_t place = (tail + count) % map->ring->depth;

		error = store(file, map->buffers + (size_t)place * map->stride,
			      map->ring->slots[place] & LITEPCIE_STREAM_SLOT_BYTES);
	}
	return error ? error : litepcie_stream_advance(stream, map, count);
}

int main(int argc, char **argv)
{
	uint64_t wanted = argc > 3 ? strtoull(argv[3], NULL, 0) : 0;
	uint64_t ring = argc > 4 ? strtoull(argv[4], NULL, 0) : 64 << 20;
	/* A buffer waits until it is full, or a packet ends. */
	struct litepcie_stream_setup setup = { .direction = LITEPCIE_FROM_CARD,
					       .flags = LITEPCIE_STREAM_SET_FLUSH,
					       .depth = 2,
					       .buffer_bytes = BUFFER_BYTES };
	struct litepcie_stream_map map;
	struct litepcie_stream *stream;
	struct file file = { 0 };
	int error;

	if (!wanted) {
		fprintf(stderr, "usage: record_ring DEVICE FILE BYTES [RING_BYTES]\n");
		return 2;
	}
	while (setup.depth < LITEPCIE_STREAM_MAX_DEPTH &&
	       (uint64_t)setup.depth * BUFFER_BYTES < ring)
		setup.depth *= 2;
	file.cached = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	file.direct = open(argv[2], O_WRONLY | O_DIRECT);
	if (file.cached < 0 || file.direct < 0)
		return fail(argv[2], -errno);
	error = litepcie_stream_open(&stream, argv[1], O_RDONLY);
	if (error < 0)
		return fail(argv[1], error);
	error = litepcie_stream_setup(stream, &setup);
	if (!error)
		error = litepcie_stream_map(stream, LITEPCIE_FROM_CARD, &map);
	if (error < 0)
		return fail("ring", error);
	while (!error && file.bytes < wanted)
		error = take(stream, &map, &file, wanted);
	if (!error && fsync(file.cached) < 0)
		error = -errno;
	printf("%" PRIu64 " bytes recorded, %" PRIu64 " of them without a copy\n", file.bytes,
	       file.direct_bytes);
	litepcie_stream_unmap(&map);
	litepcie_stream_close(stream);
	return error ? fail("record", error) : 0;
}
