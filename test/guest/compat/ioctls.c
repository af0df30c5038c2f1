// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Every ioctl of a card and of a stream: sizes, pointers, numbers, and values of 64 bits. */
#include <linux/litepcie_hostbuf.h>
#include <linux/litepcie_stream.h>
#include "system.h"

/* The largest address of a 32-bit program is below. */
#define NO_ADDRESS ((void *)0xfffff000)
#define PAGE 4096

struct kind {
	int *fd;
	unsigned int command, size;
	int empty;	/* result of a structure that is 0 but for its size */
};

static const struct kind kinds[] = {
	{ &card, LITEPCIE_IOC_INFO, 240, 0 },
	{ &card, LITEPCIE_IOC_COUNTERS, 120, 0 },
	{ &card, LITEPCIE_IOC_ERRORS, 72, 0 },
	{ &card, LITEPCIE_IOC_SCRATCH, 16, 0 },
	{ &card, LITEPCIE_IOC_RESET, 32, 0 },
	{ &card, LITEPCIE_IOC_CANCEL, 24, 0 },
	{ &card, LITEPCIE_IOC_DMABUF_ATTACH, 40, -EINVAL },
	{ &card, LITEPCIE_IOC_DMABUF_DETACH, 16, -ENOENT },
	{ &card, LITEPCIE_IOC_DMABUF_MOVE, 72, -ENOENT },
	{ &card, LITEPCIE_IOC_DMABUF_WAIT, 32, -ENOENT },
	{ &card, LITEPCIE_IOC_HOSTBUF_CREATE, 48, -EINVAL },
	{ &card, LITEPCIE_IOC_HOSTBUF_DESTROY, 16, -ENOENT },
	{ &stream, LITEPCIE_IOC_STREAM_INFO, 136, 0 },
	{ &stream, LITEPCIE_IOC_STREAM_SETUP, 72, 0 },
	{ &stream, LITEPCIE_IOC_STREAM_ADVANCE, 40, 0 },
};

static __u32 argument[2 * PAGE / 4];

static long sized(const struct kind *kind, unsigned int size)
{
	argument[0] = size;
	return ioctl(*kind->fd, kind->command, argument);
}

static long empty(const struct kind *kind, unsigned int size)
{
	memset(argument, 0, sizeof(argument));
	return sized(kind, size);
}

static void sizes(const struct kind *kind)
{
	unsigned int size;

	for (size = 0; size < kind->size; size++)
		expect(empty(kind, size), -EINVAL);
	expect(empty(kind, size), kind->empty);
	for (; size <= PAGE; size += 61) {
		expect(empty(kind, size), kind->empty);
		expect(argument[0], kind->empty ? size : kind->size);
		if (size < kind->size + 4)
			continue;
		memset(argument, 0, sizeof(argument));
		((__u8 *)argument)[size - 1] = 1;
		expect(sized(kind, size), -E2BIG);
	}
	expect(empty(kind, PAGE + 1), -E2BIG);
	expect(empty(kind, ~0u), -E2BIG);
	memset(argument, 0, sizeof(argument));
	argument[1] = 1u << 31;
	expect(sized(kind, kind->size), -EINVAL);
}

static void pointers(const struct kind *kind)
{
	__u8 *pages = map(2 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	__u32 *last = (__u32 *)(pages + PAGE - 8);

	expect(failed(pages), 0);
	expect(call(__NR_munmap, pages + PAGE, PAGE, 0, 0, 0, 0), 0);
	expect(ioctl(*kind->fd, kind->command, NULL), -EFAULT);
	expect(ioctl(*kind->fd, kind->command, (void *)16), -EFAULT);
	expect(ioctl(*kind->fd, kind->command, NO_ADDRESS), -EFAULT);
	last[0] = kind->size;
	expect(ioctl(*kind->fd, kind->command, last), -EFAULT);
	expect(call(__NR_munmap, pages, PAGE, 0, 0, 0, 0), 0);
	expect(ioctl(*kind->fd, kind->command & 0xffff, argument), -ENOTTY);
}

static void numbers(void)
{
	static const struct {
		unsigned int first, last;
		int *fd;
	} unknown[] = { { 0x0c, 0xff, &card }, { 0x00, 0x3f, &stream }, { 0x43, 0xff, &stream } };

	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int number = unknown[i].first; number <= unknown[i].last; number++)
			expect(ioctl(*unknown[i].fd, _IOWR(LITEPCIE_IOC_MAGIC, number, __u64), argument), -ENOTTY);
	expect(ioctl(card, _IOWR(LITEPCIE_IOC_MAGIC + 1, 0, struct litepcie_info), argument), -ENOTTY);
}

static void values(void)
{
	struct litepcie_info info = { .size = sizeof(info) };
	struct litepcie_scratch scratch = { .size = sizeof(scratch), .value = 0xdeadbeef };
	struct litepcie_counters before = { .size = sizeof(before), .direction = LITEPCIE_READER }, after = before;
	__u64 end_of_memory;
	__u8 bytes[333] __attribute__((aligned(512)));	/* In one page, so one descriptor. */

	expect(ioctl(card, LITEPCIE_IOC_INFO, &info), 0);
	expect(info.uapi_version, LITEPCIE_UAPI_VERSION);
	expect(call(__NR__llseek, card, 0, 0, &end_of_memory, 2, 0), 0);
	expect(info.memory_bytes, end_of_memory);
	expect(info.streams, 2);
	expect(equal(info.bus_address, "0000:01:00.0", 13), 1);
	expect(ioctl(card, LITEPCIE_IOC_SCRATCH, &scratch), 0);
	expect(scratch.readback, 0xdeadbeef);
	expect(ioctl(card, LITEPCIE_IOC_COUNTERS, &before), 0);
	expect(pwrite(card, bytes, sizeof(bytes), 4096), sizeof(bytes));
	expect(ioctl(card, LITEPCIE_IOC_COUNTERS, &after), 0);
	expect(after.bytes - before.bytes, sizeof(bytes));
	expect(after.descriptors - before.descriptors, 1);
}

void ioctls(void)
{
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		expect(_IOC_SIZE(kinds[i].command), kinds[i].size);
		sizes(&kinds[i]);
		pointers(&kinds[i]);
	}
	numbers();
	values();
}
