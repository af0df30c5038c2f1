// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Plays a file into a stream, or records a stream into a file. On a board whose logic loops
 * streams back, one of each at the same time copies a file through the card.
 *
 *	record_play play DEVICE FILE
 *	record_play record DEVICE FILE BYTES
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES 65536

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	return 1;
}

/* write() of a file or a stream may take less than asked. */
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
	int play = argc == 4 && !strcmp(argv[1], "play");
	static char buffer[BUFFER_BYTES];
	unsigned long long left, moved = 0;
	int from, to;

	if (!play && (argc != 5 || strcmp(argv[1], "record"))) {
		fprintf(stderr, "usage: record_play play DEVICE FILE\n"
				"       record_play record DEVICE FILE BYTES\n");
		return 2;
	}
	left = play ? ~0ULL : strtoull(argv[4], NULL, 0);
	from = open(play ? argv[3] : argv[2], O_RDONLY);
	if (from < 0)
		return fail(play ? argv[3] : argv[2]);
	/* Opening a stream takes one direction of it: another program may have the other one. */
	to = play ? open(argv[2], O_WRONLY) : open(argv[3], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (to < 0)
		return fail(play ? argv[2] : argv[3]);
	/* The driver fills and empties buffers meanwhile: no thread is needed. */
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
	/* write() returned when the driver had the bytes, fsync() does when the card has them. */
	if (play && fsync(to))
		return fail("fsync");
	if (close(to))
		return fail("close");
	printf("%llu bytes %s\n", moved, play ? "played" : "recorded");
	return 0;
}
