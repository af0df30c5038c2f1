// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Several threads at the same time, each on its own part of the card's memory,
 * with single and vector calls of random length. usage: concurrent [threads [rounds]]
 */
#include <pthread.h>
#include <sys/uio.h>
#include "check.h"

#define AREA (512 * 1024)

static int fd;
static unsigned int rounds = 20;

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	return *state ^= *state << 5;
}

static void *caller(void *argument)
{
	uint32_t id = (uintptr_t)argument, state = 0x1234567 + 7919 * id;
	uint8_t *out = malloc(AREA), *in = malloc(AREA);
	off_t base = (off_t)id * AREA + (1 << 20);

	for (uint32_t round = 0; round < rounds; round++) {
		size_t length = 1 + next_random(&state) % (AREA - 64);
		size_t shift = next_random(&state) % 64, cut = next_random(&state) % length;
		struct iovec parts[3] = { { in, cut }, { NULL, 0 }, { in + cut, length - cut } };
		ssize_t n;

		fill(out, length, id * 1000 + round);
		memset(in, 0, length);
		n = pwrite(fd, out, length, base + shift);
		check(n == (ssize_t)length, "pwrite %zu: %zd %s", length, n, strerror(errno));
		n = preadv(fd, parts, 3, base + shift);
		check(n == (ssize_t)length, "preadv %zu: %zd %s", length, n, strerror(errno));
		check_bytes(in, out, length, "thread data");
		parts[0].iov_base = out;
		parts[2].iov_base = out + cut;
		n = pwritev(fd, parts, 3, base + 64 - shift);
		check(n == (ssize_t)length, "pwritev %zu: %zd %s", length, n, strerror(errno));
		n = pread(fd, in, length, base + 64 - shift);
		check(n == (ssize_t)length, "pread %zu: %zd %s", length, n, strerror(errno));
		check_bytes(in, out, length, "thread data after pwritev");
	}
	free(out);
	free(in);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned int threads = argc > 1 ? atoi(argv[1]) : 6;
	pthread_t thread[32];

	check(threads >= 1 && threads <= 32, "1 to 32 threads");
	if (argc > 2)
		rounds = atoi(argv[2]);
	fd = open_device();
	for (uintptr_t i = 0; i < threads; i++)
		check(!pthread_create(&thread[i], NULL, caller, (void *)i), "thread");
	for (unsigned int i = 0; i < threads; i++)
		check(!pthread_join(thread[i], NULL), "join");
	finish("concurrent");
}
