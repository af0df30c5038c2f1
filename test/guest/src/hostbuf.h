/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Shared by the programs whose card reads and writes buffers in host memory: the buffers, and the logic's registers. */
#ifndef LITEPCIE_TEST_HOSTBUF_H
#define LITEPCIE_TEST_HOSTBUF_H

#include <linux/litepcie_hostbuf.h>
#include "check.h"

#define LIMIT (1 << 20)

enum { READ = LITEPCIE_HOSTBUF_READ, WRITE = LITEPCIE_HOSTBUF_WRITE };

struct buffer {
	struct litepcie_hostbuf_create is;
	uint8_t *bytes;
};

static int fd;

static inline int create(int file, struct buffer *b, uint64_t bytes, uint32_t flags)
{
	b->is = (struct litepcie_hostbuf_create){ .size = sizeof(b->is), .flags = flags, .bytes = bytes };
	return ioctl(file, LITEPCIE_IOC_HOSTBUF_CREATE, &b->is);
}

static inline int destroy(int file, uint32_t handle)
{
	struct litepcie_hostbuf_destroy d = { .size = sizeof(d), .handle = handle };

	return ioctl(file, LITEPCIE_IOC_HOSTBUF_DESTROY, &d);
}

static inline struct buffer buffer(int file, uint64_t bytes, uint32_t flags)
{
	struct buffer b;

	ok(!create(file, &b, bytes, flags));
	check(b.is.bytes >= bytes && b.is.bytes % 4096 == 0 && b.is.handle, "%llu", b.is.bytes);
	b.bytes = mapped(file, b.is.map_offset, b.is.bytes);
	return b;
}

static inline void release(int file, struct buffer *b)
{
	ok(!munmap(b->bytes, b->is.bytes) && !destroy(file, b->is.handle));
}

/* Of the copier, in USER. */
enum { SOURCE = 0x800, TARGET = 0x804, WORDS = 0x808, CONTROL = 0x80c, STATUS = 0x810, ERRORS = 0x814, COPIED = 0x818 };
enum { START = 1, AGAIN = 2, GIVE_UP = 1 << 8 };

static inline void copy(uint32_t source, uint32_t target, uint32_t bytes, uint32_t control)
{
	store(SOURCE, source);
	store(TARGET, target);
	store(WORDS, bytes / 4);
	store(CONTROL, control);
}

static inline void stop_copier(void)
{
	store(CONTROL, 0);
	while (load(STATUS))
		;
}

/* The same, and waits for its end. */
static inline void copy_all(uint32_t source, uint32_t target, uint32_t bytes)
{
	copy(source, target, bytes, START);
	stop_copier();
}

static inline void check_pattern(const uint8_t *bytes, size_t length, uint32_t pass)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != pattern(i, pass))
			check(0, "byte %zu is %02x", i, bytes[i]);
}

#endif
