// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Copies a file into the card's memory, or a part of the card's memory into a file.
 *
 *	copy_file FILE /dev/litepcie0           the whole file, to offset 0
 *	copy_file /dev/litepcie0 FILE BYTES     the first BYTES of the memory
 *
 * The device is used like a file: read() and write() move data by DMA, at the file offset.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER (4 << 20) /* large calls have the highest rate */

static int fail(const char *what, const char *name)
{
	fprintf(stderr, "%s %s: %s\n", what, name, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	unsigned long long left, done = 0;
	char *buffer = malloc(BUFFER);
	int from, to;

	if (argc < 3 || argc > 4 || !buffer) {
		fprintf(stderr, "usage: copy_file FROM TO [BYTES]\n");
		return 2;
	}
	left = argc > 3 ? strtoull(argv[3], NULL, 0) : ~0ULL;
	from = open(argv[1], O_RDONLY);
	if (from < 0)
		return fail("cannot open", argv[1]);
	to = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (to < 0)
		return fail("cannot open", argv[2]);

	while (left) {
		size_t part = left < BUFFER ? left : BUFFER;
		ssize_t got = read(from, buffer, part);

		if (got < 0)
			return fail("cannot read", argv[1]);
		if (got == 0) /* end of the file, or of the card's memory */
			break;
		for (ssize_t put = 0; put < got;) {
			ssize_t n = write(to, buffer + put, got - put);

			if (n < 0) /* ENOSPC: the card's memory is full */
				return fail("cannot write", argv[2]);
			put += n;
		}
		left -= got;
		done += got;
	}
	printf("%llu bytes copied from %s to %s\n", done, argv[1], argv[2]);
	return 0;
}
