// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Moves a file to an address of the card's memory (h2c), or bytes of the memory into a file (c2h).
 *
 *	h2c_c2h h2c DEVICE FILE ADDRESS
 *	h2c_c2h c2h DEVICE FILE ADDRESS BYTES
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (1 << 20)

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	return 1;
}

/* write() may take less than asked. */
static int write_all(int fd, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, data, bytes);

		if (n < 0)
			return -1;
		data += n;
		bytes -= n;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int h2c = argc == 5 && !strcmp(argv[1], "h2c");
	static char buffer[BUFFER_BYTES];
	unsigned long long left, moved = 0;
	int card, file, from, to;

	if (!h2c && (argc != 6 || strcmp(argv[1], "c2h"))) {
		fprintf(stderr, "usage: h2c_c2h h2c DEVICE FILE ADDRESS\n"
				"       h2c_c2h c2h DEVICE FILE ADDRESS BYTES\n");
		return 2;
	}
	left = h2c ? ~0ULL : strtoull(argv[5], NULL, 0);
	/* One file serves both directions, and any number of programs. */
	card = open(argv[2], O_RDWR);
	if (card < 0)
		return fail(argv[2]);
	file = h2c ? open(argv[3], O_RDONLY) : open(argv[3], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (file < 0)
		return fail(argv[3]);
	/* The offset in the file is the address in the card's memory. */
	if (lseek(card, strtoll(argv[4], NULL, 0), SEEK_SET) < 0)
		return fail("address");
	from = h2c ? file : card;
	to = h2c ? card : file;
	while (left) {
		ssize_t n = read(from, buffer, left < BUFFER_BYTES ? left : BUFFER_BYTES);

		if (n < 0)
			return fail("read");
		if (!n)
			break;
		if (write_all(to, buffer, n))
			return fail("write");
		left -= n;
		moved += n;
	}
	if (close(file))
		return fail("close");
	printf("%llu bytes moved, %s\n", moved, h2c ? "host to card" : "card to host");
	return 0;
}
