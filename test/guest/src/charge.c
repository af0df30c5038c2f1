// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Queues as many aio writes as the driver takes, while the card answers none, and compares what the memory cgroup of
 * this process was charged meanwhile, and how much memory the machine has less. Runs without rights and with
 * RLIMIT_MEMLOCK 0.
 *
 * usage: charge CGROUP CALLS BYTES
 */
#define _GNU_SOURCE
#include <linux/aio_abi.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include "held.h"

#define PAGE 4096
#define FILE_LIMIT (8 << 20)
#define LEAST_CHARGE 300 /* bytes: a request holds a scatterlist, a position and lists */
#define NOBODY 65534

int main(int argc, char **argv)
{
	struct rlimit none = { 0, 0 };
	unsigned int calls = argc > 2 ? atoi(argv[2]) : 0, accepted = 0, refused = 0, ended = 0;
	struct io_event *events = calloc(calls, sizeof(*events));
	struct iocb *call = calloc(1, sizeof(*call));
	aio_context_t context = 0;
	unsigned int bytes = argc > 3 ? atoi(argv[3]) : 0, most;
	int fd = open_device(), pinned;
	struct held held;
	long long pages;
	uint8_t *buffer;

	check(argc == 4 && bytes, "usage: charge CGROUP CALLS BYTES");
	most = FILE_LIMIT / (bytes > PAGE ? bytes : PAGE); /* a call counts as a page at least */
	held = held_begin(argv[1]);
	pinned = open("/sys/kernel/debug/litepcie/pinned_pages", O_RDONLY);
	check(pinned >= 0, "%s", strerror(errno));
	check(!posix_memalign((void **)&buffer, PAGE, bytes), "no memory");
	memset(buffer, 1, bytes);
	memset(events, 1, calls * sizeof(*events));
	check(!fcntl(fd, F_SETFL, O_NONBLOCK), "%s", strerror(errno));
	check(!syscall(SYS_io_setup, calls, &context), "%s", strerror(errno));
	check(!setrlimit(RLIMIT_MEMLOCK, &none) && !setuid(NOBODY), "%s", strerror(errno));

	held_again(&held);
	for (unsigned int i = 0; i < calls; i++) {
		*call = (struct iocb){ .aio_fildes = fd, .aio_lio_opcode = IOCB_CMD_PWRITE,
				       .aio_buf = (uintptr_t)buffer, .aio_nbytes = bytes, .aio_offset = i };
		check(syscall(SYS_io_submit, context, 1, &call) == 1, "%s", strerror(errno));
	}
	held_end(&held);
	pages = held_number(pinned);
	check(pages <= FILE_LIMIT / PAGE, "%lld pages are pinned", pages);
	while (ended < calls) {
		long count = syscall(SYS_io_getevents, context, 1, calls, events, NULL);

		check(count > 0, "%s", strerror(errno));
		for (long i = 0; i < count; i++)
			if (events[i].res == -EAGAIN)
				refused++;
			else
				accepted++;
		ended += count;
	}
	printf("%u calls accepted, %u refused, %lld bytes charged, %lld beside\n", accepted, refused, held.charged,
	       held.beside);
	check(accepted >= most / 2, "the card answered: this run shows nothing");
	/* The first calls may end before the card stalls. */
	check(accepted <= most + 64, "%u calls were accepted", accepted);
	held_check(&held, (long long)accepted * LEAST_CHARGE);
	finish("charge");
}
