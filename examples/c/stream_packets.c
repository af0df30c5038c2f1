// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Sends packets to a stream whose card sends them back, and compares. Uses liblitepcie.
 *
 *	stream_packets [DEVICE [PACKETS [BYTES]]]
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <liblitepcie.h>

static int fail(const char *what, int error)
{
	fprintf(stderr, "%s: %s\n", what, litepcie_strerror(error));
	return 1;
}

/* Reads a packet to its end: a read never returns bytes of two packets. */
static ssize_t read_packet(struct litepcie_stream *stream, char *buffer, size_t bytes)
{
	size_t have = 0;
	int more = 1;

	while (more) {
		ssize_t n = litepcie_stream_read(stream, buffer + have, bytes - have, &more);

		if (n < 0)
			return n;
		have += n;
	}
	return have;
}

int main(int argc, char **argv)
{
	const char *device = argc > 1 ? argv[1] : "/dev/litepcie0_stream0";
	unsigned int packets = argc > 2 ? strtoul(argv[2], NULL, 0) : 100;
	size_t bytes = argc > 3 ? strtoull(argv[3], NULL, 0) : 10000;
	struct litepcie_stream_info info;
	struct litepcie_stream *stream;
	char *out = malloc(bytes), *in = malloc(bytes + 1);
	ssize_t moved;
	int error;

	error = litepcie_stream_open(&stream, device, O_RDWR);
	if (error < 0)
		return fail(device, error);
	for (unsigned int n = 0; n < packets; n++) {
		size_t length = 1 + (size_t)n * 7919 % bytes;

		memset(out, n, length);
		moved = litepcie_stream_write(stream, out, length, 0);
		if (moved < 0)
			return fail("write", (int)moved);
		moved = read_packet(stream, in, bytes + 1);
		if (moved < 0)
			return fail("read", (int)moved);
		if ((size_t)moved != length || memcmp(in, out, length)) {
			fprintf(stderr, "packet %u differs\n", n);
			return 1;
		}
	}
	error = litepcie_stream_get_info(stream, LITEPCIE_FROM_CARD, &info);
	if (error < 0)
		return fail("info", error);
	printf("%u packets sent and received: equal, %llu bytes lost\n", packets,
	       (unsigned long long)info.lost_bytes);
	error = litepcie_stream_close(stream);
	free(out);
	free(in);
	return error < 0 ? fail("close", error) : 0;
}
