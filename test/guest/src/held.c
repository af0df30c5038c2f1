// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Makes one open file hold all that it may, and compares what the memory cgroup of this process was charged, and how
 * much memory the machine has less.
 * usage: held CGROUP rings|buffers
 *        held CGROUP calls COUNT BYTES    COUNT aio writes, while the card answers none
 */
#include <linux/litepcie_hostbuf.h>
#include <linux/litepcie_stream.h>
#include <sys/resource.h>
#include "check.h"

#define PAGE 4096
#define FILE_LIMIT (8 << 20)
#define LEAST_CHARGE 300 /* bytes: a request holds a scatterlist, a position and lists */
#define NOBODY 65534
#define MIB (1 << 20)
#define RING 16 /* MiB of each direction of a stream */
#define MOST_BESIDE (16 << 20) /* bytes that one open file may hold and nobody is charged for */

/* The kernel charges up to 64 pages of a processor in advance, so this much may have been charged before. */
#define ADVANCE (64 * 4096)

struct held {
	int current, meminfo;
	long long before, unused; /* charged, and free in the machine, at the beginning */
	long long charged, beside;
};

static long long held_number(int file)
{
	char text[32] = { 0 };

	lseek(file, 0, SEEK_SET); /* not possible, and not needed, in debugfs */
	ok(read(file, text, sizeof(text) - 1) > 0);
	return atoll(text);
}

/* Free memory of the machine. The text is short enough for one read. */
static long long held_unused(int meminfo)
{
	char text[4096] = { 0 }, *line;

	ok(pread(meminfo, text, sizeof(text) - 1, 0) > 0);
	line = strstr(text, "MemFree:");
	check(line, "no MemFree");
	return atoll(line + strlen("MemFree:")) * 1024;
}

static void held_again(struct held *h)
{
	h->before = held_number(h->current);
	h->unused = held_unused(h->meminfo);
}

static struct held held_begin(const char *group)
{
	struct held h = { .meminfo = open("/proc/meminfo", O_RDONLY) };
	char path[256];

	snprintf(path, sizeof(path), "%s/memory.current", group);
	h.current = open(path, O_RDONLY);
	ok(h.current >= 0 && h.meminfo >= 0);
	held_again(&h);
	return h;
}

static void held_end(struct held *h)
{
	h->charged = held_number(h->current) - h->before;
	h->beside = h->unused - held_unused(h->meminfo) - h->charged;
}

static void held_check(const struct held *h, long long least)
{
	check(h->charged + ADVANCE >= least, "%lld bytes were charged for %lld", h->charged, least);
	check(h->beside <= MOST_BESIDE, "%lld bytes are held that nobody is charged for", h->beside);
}

/* Queues as many writes as the driver takes, while the card answers none; without rights and memory to lock. */
static void calls(const char *group, unsigned int count, unsigned int bytes)
{
	struct rlimit none = { 0, 0 };
	unsigned int accepted = 0, refused = 0, ended = 0;
	struct io_event *events = calloc(count, sizeof(*events));
	struct iocb *call = calloc(1, sizeof(*call));
	aio_context_t context = 0;
	unsigned int most = FILE_LIMIT / (bytes > PAGE ? bytes : PAGE); /* a call counts as a page at least */
	int fd = open_device(), pinned;
	struct held held;
	long long pages;
	uint8_t *buffer;

	held = held_begin(group);
	pinned = opened("/sys/kernel/debug/litepcie/pinned_pages", O_RDONLY);
	check(!posix_memalign((void **)&buffer, PAGE, bytes), "no memory");
	memset(buffer, 1, bytes);
	memset(events, 1, count * sizeof(*events));
	ok(!fcntl(fd, F_SETFL, O_NONBLOCK) && !syscall(SYS_io_setup, count, &context));
	ok(!setrlimit(RLIMIT_MEMLOCK, &none) && !setuid(NOBODY));

	held_again(&held);
	for (unsigned int i = 0; i < count; i++) {
		*call = (struct iocb){ .aio_fildes = fd, .aio_lio_opcode = IOCB_CMD_PWRITE,
				       .aio_buf = (uintptr_t)buffer, .aio_nbytes = bytes, .aio_offset = i };
		aio_submit(context, call);
	}
	held_end(&held);
	pages = held_number(pinned);
	check(pages <= FILE_LIMIT / PAGE, "%lld pages are pinned", pages);
	while (ended < count) {
		long got = aio_take(context, 1, count, events);

		for (long i = 0; i < got; i++)
			if (events[i].res == -EAGAIN)
				refused++;
			else
				accepted++;
		ended += got;
	}
	printf("%u calls accepted, %u refused, %lld bytes charged, %lld beside\n", accepted, refused, held.charged,
	       held.beside);
	check(accepted >= most / 2, "the card answered: this run shows nothing");
	/* The first calls may end before the card stalls. */
	check(accepted <= most + 64, "%u calls were accepted", accepted);
	held_check(&held, (long long)accepted * LEAST_CHARGE);
}

/* The program has its own page tables of them, which it is charged for too. */
static void touch(int fd, size_t bytes, off_t offset)
{
	volatile uint8_t *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, offset);

	ok(map != MAP_FAILED);
	for (size_t at = 0; at < bytes; at += 4096)
		(void)map[at];
}

/* The largest rings of a stream; returns their bytes. */
static long long rings(void)
{
	int fd = opened(STREAM, O_RDWR);

	for (unsigned int direction = 0; direction < 2; direction++) {
		struct litepcie_stream_setup setup = { .size = sizeof(setup), .direction = direction, .depth = RING,
			.buffer_bytes = MIB };
		struct litepcie_stream_info info = { .size = sizeof(info), .direction = direction };

		ok(!ioctl(fd, LITEPCIE_IOC_STREAM_SETUP, &setup));
		ok(!ioctl(fd, LITEPCIE_IOC_STREAM_INFO, &info));
		touch(fd, info.map_bytes, info.map_offset);
	}
	return 2ll * RING * MIB;
}

/* All buffers that the card has for the user's logic; returns their bytes. */
static long long buffers(void)
{
	int fd = open_device(), count = 0;

	while (1) {
		struct litepcie_hostbuf_create create = { .size = sizeof(create), .bytes = MIB,
			.flags = LITEPCIE_HOSTBUF_READ | LITEPCIE_HOSTBUF_WRITE };

		if (ioctl(fd, LITEPCIE_IOC_HOSTBUF_CREATE, &create))
			break;
		touch(fd, create.bytes, create.map_offset);
		count++;
	}
	check(errno == ENOSPC && count, "%d buffers: %s", count, strerror(errno));
	return (long long)count * MIB;
}

int main(int argc, char **argv)
{
	struct held held;
	long long bytes;

	check(argc == 3 || argc == 5, "usage: held CGROUP rings|buffers|calls ...");
	if (argc == 5) {
		calls(argv[1], atoi(argv[3]), atoi(argv[4]));
		finish("held");
	}
	held = held_begin(argv[1]);
	bytes = !strcmp(argv[2], "rings") ? rings() : buffers();
	held_end(&held);
	printf("%lld bytes, %lld charged, %lld beside\n", bytes, held.charged, held.beside);
	held_check(&held, bytes);
	finish("held");
}
