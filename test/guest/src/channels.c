// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Many short transfers at a time, and what each engine of the card moved.
 * usage: channels counters
 *            prints name, bytes and descriptors of each engine
 *        channels reset CHANNEL DIRECTION
 *            resets an engine
 *        channels load read|write DEPTH BYTES COUNT
 *            makes COUNT calls, DEPTH at a time; prints how many failed, and
 *            checks the bytes of all others
 */
#include "check.h"

static int fd;

static void counters(void)
{
	static const char *const names[] = { "reader", "writer" };
	unsigned int engines = 2 * card_info(fd).channels;

	for (unsigned int i = 0; i < engines; i++) {
		struct litepcie_counters values = card_counters(fd, i / 2, i % 2);

		printf("%s%u %llu %u\n", names[values.direction], values.channel,
		       (unsigned long long)values.bytes, values.descriptors);
	}
}

static void reset(unsigned int channel, unsigned int direction)
{
	struct litepcie_reset reset = { .size = sizeof(reset), .channel = channel, .direction = direction };

	ok(!ioctl(fd, LITEPCIE_IOC_RESET, &reset));
}

static void exact(ssize_t got, size_t bytes)
{
	check(got == (ssize_t)bytes, "%zd of %zu bytes: %s", got, bytes, strerror(errno));
}

/* Keeps `depth` calls under way until `count` were made; marks those that failed. */
static void run(bool write, uint8_t *buffer, size_t bytes, unsigned int depth, unsigned int count, bool *failed)
{
	struct iocb *calls = calloc(count, sizeof(*calls));
	struct io_event *events = calloc(depth, sizeof(*events));
	unsigned int submitted = 0, ended = 0;
	aio_context_t context = 0;

	ok(calls && events && !syscall(SYS_io_setup, depth, &context));
	while (ended < count) {
		long got;

		while (submitted < count && submitted - ended < depth) {
			struct iocb *call = &calls[submitted];

			*call = (struct iocb){ .aio_data = submitted, .aio_fildes = fd,
				.aio_lio_opcode = write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
				.aio_buf = (uintptr_t)(buffer + submitted * bytes),
				.aio_nbytes = bytes, .aio_offset = submitted * bytes };
			aio_submit(context, call);
			submitted++;
		}
		got = aio_take(context, 1, depth, events);
		for (long i = 0; i < got; i++)
			failed[events[i].data] = events[i].res != (long long)bytes;
		ended += got;
	}
	ok(!syscall(SYS_io_destroy, context));
	free(calls);
	free(events);
}

static void moves(bool write, unsigned int depth, size_t bytes, unsigned int count)
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
		moves(!strcmp(argv[2], "write"), atoi(argv[3]), strtoul(argv[4], NULL, 0), atoi(argv[5]));
	else
		check(0, "usage: see the head of channels.c");
	return 0;
}
