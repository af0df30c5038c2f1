/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Shared by the programs whose card reads and writes buffers in host memory: the buffers, and the logic's registers. */
#ifndef LITEPCIE_TEST_HOSTBUF_H
#define LITEPCIE_TEST_HOSTBUF_H

#include <linux/litepcie_hostbuf.h>
#include <sys/ioctl.h>
#include "check.h"

#define USER "/dev/litepcie0_user"
#define LIMIT (1 << 20)

enum { READ = LITEPCIE_HOSTBUF_READ, WRITE = LITEPCIE_HOSTBUF_WRITE };

struct buffer {
	struct litepcie_hostbuf_create is;
	uint8_t *bytes;
};

static int user, fd;

static inline uint32_t load(off_t offset)
{
	uint32_t value = 0;

	check(pread(user, &value, 4, offset) == 4, "%#lx: %s", (long)offset, strerror(errno));
	return value;
}

static inline void store(off_t offset, uint32_t value)
{
	check(pwrite(user, &value, 4, offset) == 4, "%#lx: %s", (long)offset, strerror(errno));
}

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

	check(!create(file, &b, bytes, flags), "%s", strerror(errno));
	check(b.is.bytes >= bytes && b.is.bytes % 4096 == 0 && b.is.handle, "%llu", b.is.bytes);
	b.bytes = mmap(NULL, b.is.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, b.is.map_offset);
	check(b.bytes != MAP_FAILED, "%s", strerror(errno));
	return b;
}

static inline void release(int file, struct buffer *b)
{
	check(!munmap(b->bytes, b->is.bytes), "%s", strerror(errno));
	check(!destroy(file, b->is.handle), "%s", strerror(errno));
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

static inline void check_pattern(const uint8_t *bytes, size_t length, uint32_t pass)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != pattern(i, pass))
			check(0, "byte %zu is %02x", i, bytes[i]);
}

#endif
