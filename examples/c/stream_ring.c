// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Takes data from a stream without a copy: the card writes into buffers that the program has
 * mapped. Prints the sum of all bytes. Uses liblitepcie.
 *
 *	stream_ring [DEVICE [BYTES]]
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include <liblitepcie.h>

static int fail(const char *what, int error)
{
	fprintf(stderr, "%s: %s\n", what, litepcie_strerror(error));
	return 1;
}

int main(int argc, char **argv)
{
	const char *device = argc > 1 ? argv[1] : "/dev/litepcie0_stream0";
	uint64_t wanted = argc > 2 ? strtoull(argv[2], NULL, 0) : 1 << 20;
	uint64_t bytes = 0, sum = 0, packets = 0, cut = 0;
	struct litepcie_stream_map map;
	struct litepcie_stream *stream;
	unsigned int calls = 0;
	int error;

	error = litepcie_stream_open(&stream, device, O_RDONLY);
	if (error < 0)
		return fail(device, error);
	error = litepcie_stream_map(stream, LITEPCIE_FROM_CARD, &map);
	if (error < 0)
		return fail("map", error);
	while (bytes < wanted) {
		struct pollfd event = { .fd = litepcie_stream_fd(stream), .events = POLLIN };
		uint32_t tail = map.ring->tail, head, count = 0;

		/* Also begins: until then, the card's logic waits. */
		poll(&event, 1, -1);
		head = __atomic_load_n(&map.ring->head, __ATOMIC_ACQUIRE);
		for (; tail + count != head; count++) {
			uint32_t place = (tail + count) % map.ring->depth;
			uint32_t slot = map.ring->slots[place];
			const unsigned char *data = map.buffers + place * map.stride;

			for (uint32_t n = 0; n < (slot & LITEPCIE_STREAM_SLOT_BYTES); n++)
				sum += data[n];
			bytes += slot & LITEPCIE_STREAM_SLOT_BYTES;
			packets += !!(slot & LITEPCIE_STREAM_SLOT_LAST);
			/* What came of the packet before this buffer is not all of it. */
			cut += !!(slot & LITEPCIE_STREAM_SLOT_CUT);
		}
		/* The card may use the buffers again. */
		error = litepcie_stream_advance(stream, &map, count);
		if (error < 0)
			return fail("advance", error);
		calls += 2;
	}
	printf("%" PRIu64 " bytes in %" PRIu64 " packets, %" PRIu64 " cut, sum %" PRIu64
	       ", %u system calls\n",
	       bytes, packets, cut, sum, calls);
	litepcie_stream_unmap(&map);
	return litepcie_stream_close(stream) < 0;
}
