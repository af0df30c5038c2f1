// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Queues as many aio writes as the driver takes, while the card answers none, and compares what the memory cgroup of
 * this process was charged meanwhile, and how much memory the machine has less. Runs without rights and with
 * RLIMIT_MEMLOCK 0.
 *
 * usage: charge CGROUP CALLS
 */
#define _GNU_SOURCE
#include <linux/aio_abi.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include "check.h"

#define CALL_BYTES 64
#define PAGE 4096
#define FILE_LIMIT (8 << 20)
#define MOST_CALLS (FILE_LIMIT / PAGE) /* a call counts as a page at least */
#define LEAST_CHARGE 300 /* bytes: a request holds a scatterlist, a position and lists */
#define MOST_BESIDE (16 << 20) /* bytes that one open file may hold and nobody is charged for */
#define NOBODY 65534

static long long number(int file)
{
	char text[32] = { 0 };

	check(read(file, text, sizeof(text) - 1) > 0, "%s", strerror(errno));
	return atoll(text);
}

/* Free memory of the machine. The text is short enough for one read. */
static long long machine(int meminfo)
{
	char text[4096] = { 0 }, *line;

	check(pread(meminfo, text, sizeof(text) - 1, 0) > 0, "%s", strerror(errno));
	line = strstr(text, "MemFree:");
	check(line, "no MemFree");
	return atoll(line + strlen("MemFree:")) * 1024;
}

int main(int argc, char **argv)
{
	struct rlimit none = { 0, 0 };
	unsigned int calls = argc > 2 ? atoi(argv[2]) : 0, accepted = 0, refused = 0, ended = 0;
	struct io_event *events = calloc(calls, sizeof(*events));
	struct iocb *call = calloc(1, sizeof(*call));
	aio_context_t context = 0;
	int fd = open_device(), current, pinned, meminfo = open("/proc/meminfo", O_RDONLY);
	long long before, charged, pages, unused, beside;
	uint8_t *buffer;
	char path[256];

	check(argc == 3, "usage: charge CGROUP CALLS");
	snprintf(path, sizeof(path), "%s/memory.current", argv[1]);
	current = open(path, O_RDONLY);
	pinned = open("/sys/kernel/debug/litepcie/pinned_pages", O_RDONLY);
	check(current >= 0 && pinned >= 0 && meminfo >= 0, "%s", strerror(errno));
	check(!posix_memalign((void **)&buffer, PAGE, PAGE), "no memory");
	memset(buffer, 1, PAGE);
	memset(events, 1, calls * sizeof(*events));
	check(!fcntl(fd, F_SETFL, O_NONBLOCK), "%s", strerror(errno));
	check(!syscall(SYS_io_setup, calls, &context), "%s", strerror(errno));
	check(!setrlimit(RLIMIT_MEMLOCK, &none) && !setuid(NOBODY), "%s", strerror(errno));

	before = number(current);
	unused = machine(meminfo);
	for (unsigned int i = 0; i < calls; i++) {
		*call = (struct iocb){ .aio_fildes = fd, .aio_lio_opcode = IOCB_CMD_PWRITE,
				       .aio_buf = (uintptr_t)buffer, .aio_nbytes = CALL_BYTES, .aio_offset = i };
		check(syscall(SYS_io_submit, context, 1, &call) == 1, "%s", strerror(errno));
	}
	check(!lseek(current, 0, SEEK_SET), "%s", strerror(errno));
	charged = number(current) - before;
	beside = unused - machine(meminfo) - charged;
	pages = number(pinned);
	check(pages <= MOST_CALLS, "%lld pages are pinned", pages);
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
	printf("%u calls accepted, %u refused, %lld bytes charged, %lld beside\n", accepted, refused, charged, beside);
	check(accepted >= MOST_CALLS / 2, "the card answered: this run shows nothing");
	/* The first calls may end before the card stalls. */
	check(accepted <= MOST_CALLS + 64, "%u calls were accepted", accepted);
	check(charged >= (long long)accepted * LEAST_CHARGE, "%lld bytes were charged for %u calls", charged, accepted);
	check(beside <= MOST_BESIDE, "%lld bytes are held that nobody is charged for", beside);
	finish("charge");
}
