// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Asynchronous reads whose pages another thread makes clean (MADV_FREE) at the moment when the read ends. The driver
 * ends a read in the interrupt if all its pages are dirty, and must not find others there a moment later.
 * usage: cleaned SECONDS
 */
#include "check.h"

#define BYTES (1 << 20)

static volatile uint8_t *memory;

static void spin(unsigned int turns)
{
	for (volatile unsigned int i = 0; i < turns; i++)
		;
}

/* Cleans the pages some time after their last byte has changed: as the interrupt comes. */
static void *cleans(void *unused)
{
	uint8_t before = memory[BYTES - 1];

	(void)unused;
	for (unsigned int turn = 0;; turn++) {
		while (memory[BYTES - 1] == before)
			;
		before = memory[BYTES - 1];
		spin(turn * 7919 % (1000 << turn % 10));
		madvise((void *)memory, BYTES, MADV_FREE);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 10);
	aio_context_t context = aio_setup(1);
	struct io_event event;
	pthread_t thread;
	int fd = open_device();

	memory = zeroed(BYTES);
	for (unsigned int half = 0; half < 2; half++) {
		memset((void *)memory, 0x40 + half, BYTES);
		ok(pwrite(fd, (void *)memory, BYTES, half * BYTES) == BYTES);
	}
	check(!pthread_create(&thread, NULL, cleans, NULL), "a thread");
	for (unsigned int i = 0; i < 2 || time(NULL) < end; i++) {
		struct iocb call = { .aio_lio_opcode = IOCB_CMD_PREAD, .aio_fildes = fd,
			.aio_buf = (uintptr_t)memory, .aio_nbytes = BYTES, .aio_offset = i % 2 * BYTES };

		aio_submit(context, &call);
		aio_take(context, 1, 1, &event);
		check(event.res == BYTES, "%lld", (long long)event.res);
	}
	finish("cleaned");
}
