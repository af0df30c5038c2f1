/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Shared by the programs whose card reads and writes buffers in host memory: the buffers, and the logic's registers. */
#ifndef LITEPCIE_TEST_HOSTBUF_H
#define LITEPCIE_TEST_HOSTBUF_H

#include <linux/litepcie_hostbuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
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

static inline void check_pattern(const uint8_t *bytes, size_t length, uint32_t pass)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != pattern(i, pass))
			check(0, "byte %zu is %02x", i, bytes[i]);
}

#endif
