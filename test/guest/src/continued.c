// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * A write that an error of the card cuts short. usage: continued there|elsewhere:
 * the next call of the same open file continues it, or has nothing to do with it.
 */
#include "check.h"

#define BYTES (4 << 20)

int main(int argc, char **argv)
{
	int there = argc > 1 && !strcmp(argv[1], "there");
	uint8_t *out = malloc(BYTES), *in = malloc(BYTES);
	int fd = open_device();
	ssize_t n, m;

	check(out && in, "no memory");
	fill(out, BYTES, 7);
	n = pwrite(fd, out, BYTES, 0);
	check(n > 0 && n < BYTES, "the write was not cut short: %zd, %s", n, strerror(errno));
	if (there) {
		m = pwrite(fd, out + n, BYTES - n, n);
		check(m == -1 && (errno == EIO || errno == ETIMEDOUT), "returned %zd", m);
	} else {
		m = pwrite(fd, out, 100, 0);
		check(m == 100, "an unrelated call: %zd, %s", m, strerror(errno));
	}
	m = pwrite(fd, out + n, BYTES - n, n);
	check(m == BYTES - n, "the rest: %zd, %s", m, strerror(errno));
	ok(pread(fd, in, BYTES, 0) == BYTES);
	check_bytes(in, out, BYTES, "after the error");
	finish("continued");
}
