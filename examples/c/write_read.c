// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Writes a buffer into the card's memory by DMA, reads it back and compares.
 *
 *	write_read [DEVICE [BYTES [OFFSET]]]
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* pwrite() may move less than asked, after an error or a signal: the next call says why. */
static int write_all(int fd, const char *data, size_t bytes, off_t offset)
{
	while (bytes) {
		ssize_t n = pwrite(fd, data, bytes, offset);

		if (n < 0)
			return -1;
		data += n;
		bytes -= n;
		offset += n;
	}
	return 0;
}

static int read_all(int fd, char *data, size_t bytes, off_t offset)
{
	while (bytes) {
		ssize_t n = pread(fd, data, bytes, offset);

		if (n == 0)
			errno = ENOSPC; /* the card's memory ends here */
		if (n <= 0)
			return -1;
		data += n;
		bytes -= n;
		offset += n;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *device = argc > 1 ? argv[1] : "/dev/litepcie0";
	size_t bytes = argc > 2 ? strtoull(argv[2], NULL, 0) : 65536;
	off_t offset = argc > 3 ? strtoll(argv[3], NULL, 0) : 0;
	char *out = malloc(bytes), *in = calloc(bytes, 1);
	int fd = open(device, O_RDWR);

	if (fd < 0) {
		fprintf(stderr, "cannot open %s: %s\n", device, strerror(errno));
		return 1;
	}
	if (!out || !in) {
		fprintf(stderr, "not enough memory for two buffers of %zu bytes\n", bytes);
		return 1;
	}
	for (size_t i = 0; i < bytes; i++)
		out[i] = (char)(i * 31 + i / 251);

	if (write_all(fd, out, bytes, offset) || read_all(fd, in, bytes, offset)) {
		fprintf(stderr, "transfer failed: %s\n", strerror(errno));
		return 1;
	}
	if (memcmp(out, in, bytes)) {
		fprintf(stderr, "the data differs\n");
		return 1;
	}
	printf("%zu bytes written and read back at offset %lld: equal\n", bytes, (long long)offset);
	return 0;
}
