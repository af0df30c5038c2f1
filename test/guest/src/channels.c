// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Many short transfers at a time, and what each engine of the card moved.
 *
 * usage: channels counters
 *            prints name, bytes and descriptors of each engine
 *        channels reset CHANNEL DIRECTION
 *            resets an engine
 *        channels load read|write DEPTH BYTES COUNT
 *            makes COUNT calls, DEPTH at a time; prints how many failed, and
 *            checks the bytes of all others
 */
#define _GNU_SOURCE
#include <linux/aio_abi.h>
#include <linux/litepcie.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include "check.h"

static int fd;

static void counters(void)
{
	static const char *const names[] = { "reader", "writer" };
	struct litepcie_info info = { .size = sizeof(info) };

	check(!ioctl(fd, LITEPCIE_IOC_INFO, &info), "%s", strerror(errno));
	for (unsigned int i = 0; i < 2 * info.channels; i++) {
		struct litepcie_counters values = { .size = sizeof(values),
						    .channel = i / 2, .direction = i % 2 };

		check(!ioctl(fd, LITEPCIE_IOC_COUNTERS, &values), "%s", strerror(errno));
		printf("%s%u %llu %u\n", names[values.direction], values.channel,
		       (unsigned long long)values.bytes, values.descriptors);
	}
}

static void reset(unsigned int channel, unsigned int direction)
{
	struct litepcie_reset reset = { .size = sizeof(reset), .channel = channel,
					.direction = direction };

	check(!ioctl(fd, LITEPCIE_IOC_RESET, &reset), "%s", strerror(errno));
}

static void exact(ssize_t got, size_t bytes)
{
	check(got == (ssize_t)bytes, "%zd of %zu bytes: %s", got, bytes, strerror(errno));
}

/* Keeps `depth` calls under way until `count` were made; marks those that failed. */
static void run(bool write, uint8_t *buffer, size_t bytes, unsigned int depth,
		unsigned int count, bool *failed)
{
	struct iocb *calls = calloc(count, sizeof(*calls));
	struct io_event *events = calloc(depth, sizeof(*events));
	unsigned int submitted = 0, ended = 0;
	aio_context_t context = 0;

	check(calls && events && !syscall(SYS_io_setup, depth, &context), "%s", strerror(errno));
	while (ended < count) {
		long got;

		while (submitted < count && submitted - ended < depth) {
			struct iocb *call = &calls[submitted];

			*call = (struct iocb){ .aio_data = submitted, .aio_fildes = fd,
				.aio_lio_opcode = write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
				.aio_buf = (uintptr_t)(buffer + submitted * bytes),
				.aio_nbytes = bytes, .aio_offset = submitted * bytes };
			check(syscall(SYS_io_submit, context, 1, &call) == 1, "%s",
			      strerror(errno));
			submitted++;
		}
		got = syscall(SYS_io_getevents, context, 1, depth, events, NULL);
		check(got > 0, "%s", strerror(errno));
		for (long i = 0; i < got; i++)
			failed[events[i].data] = events[i].res != (long long)bytes;
		ended += got;
	}
	check(!syscall(SYS_io_destroy, context), "%s", strerror(errno));
	free(calls);
	free(events);
}

static void load(bool write, unsigned int depth, size_t bytes, unsigned int count)
{
	size_t total = bytes * count;
	uint8_t *buffer = NULL, *expected = malloc(total);
	bool *failed = calloc(count, sizeof(*failed));
	unsigned int failures = 0;

	check(!posix_memalign((void **)&buffer, 4096, total) && expected && failed, "%zu bytes", total);
	fill(expected, total, depth + write);
	memset(buffer, 0, total);
	if (write) {
		exact(pwrite(fd, buffer, total, 0), total);
		memcpy(buffer, expected, total);
	} else {
		exact(pwrite(fd, expected, total, 0), total);
	}
	run(write, buffer, bytes, depth, count, failed);
	if (write)
		exact(pread(fd, buffer, total, 0), total);
	for (unsigned int i = 0; i < count; i++) {
		failures += failed[i];
		if (!failed[i])
			check_bytes(buffer + i * bytes, expected + i * bytes, bytes, "call");
	}
	printf("%u failed\n", failures);
}

int main(int argc, char **argv)
{
	fd = open_device();
	if (argc == 2 && !strcmp(argv[1], "counters"))
		counters();
	else if (argc == 4 && !strcmp(argv[1], "reset"))
		reset(atoi(argv[2]), atoi(argv[3]));
	else if (argc == 6 && !strcmp(argv[1], "load"))
		load(!strcmp(argv[2], "write"), atoi(argv[3]), strtoul(argv[4], NULL, 0), atoi(argv[5]));
	else
		check(0, "usage: see the head of channels.c");
	return 0;
}
