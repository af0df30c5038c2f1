// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls on the card's memory, and mappings of its window.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include "fail_nth.h"

#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <linux/litepcie.h>

static aio_context_t aio;

static long path_open(void)
{
	int file = open(DEVICE, O_RDWR);

	if (file >= 0)
		close(file);
	return file;
}

void before_card(void)
{
	card = open_device();
	memset(memory, 0x11, 2 * MIB);
}

void after_card(void)
{
	close(card);
}

static uint8_t other[MIB];
static uint32_t pass;
static long moved;

/* What a call says it moved is right. */
static void check_moved(const uint8_t *got, const uint8_t *expected)
{
	if (moved > 0)
		check_bytes(got, expected, moved, "beside a failed allocation");
	if (moved > 0 && moved < MIB - 5)
		printf("%ld bytes\n", moved);
}

static void before_read(void)
{
	before_card();
	fill(other, MIB, ++pass);
	check(pwrite(card, other, MIB, 0) == MIB, "%s", strerror(errno));
}

static long path_read(void)
{
	moved = pread(card, memory, MIB, 0);
	return moved;
}

static void after_read(void)
{
	check_moved(memory, other);
	after_card();
}

static void before_write(void)
{
	before_card();
	fill(memory, MIB, ++pass);
}

static long path_write(void)
{
	moved = pwrite(card, memory + 1, MIB - 5, 3);
	return moved;
}

static void after_write(void)
{
	check(pread(card, other, MIB - 5, 3) == MIB - 5, "%s", strerror(errno));
	check_moved(other, memory + 1);
	after_card();
}

/* Many small pieces are copied. */
static long path_vector(void)
{
	struct iovec parts[32];

	for (int i = 0; i < 32; i++)
		parts[i] = (struct iovec){ memory + 5000 * i, 777 };
	return preadv(card, parts, 32, 5);
}

static long path_gather(void)
{
	struct iovec parts[32];

	for (int i = 0; i < 32; i++)
		parts[i] = (struct iovec){ memory + 5000 * i, 777 };
	return pwritev(card, parts, 32, 5);
}

/* Pages of the buffer that do not exist yet. */
static long path_fresh(void)
{
	return pread(card, memory, 65536, 0);
}

static void before_fresh(void)
{
	before_card();
	madvise(memory, 2 * MIB, MADV_DONTNEED);
}

static void before_splice(void)
{
	static int pipes[2];

	before_card();
	check(!pipe(pipes), "%s", strerror(errno));
	check(write(pipes[1], memory, 4096) == 4096, "%s", strerror(errno));
	close(pipes[1]);
	helper = pipes[0];
}

static long path_splice(void)
{
	loff_t at = 100;

	return splice(helper, NULL, card, &at, 4096, 0);
}

static void after_splice(void)
{
	close(helper);
	after_card();
}

static long path_ioctl(void)
{
	struct litepcie_info info = { .size = sizeof(info) };

	return ioctl(card, LITEPCIE_IOC_INFO, &info);
}

static long path_map(void)
{
	volatile uint32_t *window = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, card, 0);
	long value;

	if (window == MAP_FAILED)
		return -1;
	value = window[1024] >> 31;
	unmap((void *)window, 65536);
	return value;
}

/* The same, write-combined. */
static long path_combined(void)
{
	volatile uint32_t *window = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, card,
		LITEPCIE_MMAP_COMBINED);

	if (window == MAP_FAILED)
		return -1;
	window[1024] = 5;
	unmap((void *)window, 65536);
	return 0;
}

static void before_aio(void)
{
	before_card();
	aio = 0;
	check(!syscall(SYS_io_setup, 8, &aio), "%s", strerror(errno));
}

static long path_aio(void)
{
	struct iocb call = { .aio_lio_opcode = IOCB_CMD_PREAD, .aio_fildes = card, .aio_buf = (uintptr_t)memory,
		.aio_nbytes = 600000, .aio_offset = 7 };
	struct iocb *list = &call;

	return syscall(SYS_io_submit, aio, 1, &list);
}

/* Three pieces in one call. */
static long path_pieces(void)
{
	struct iovec pieces[] = { { memory + 3, 70000 }, { memory + 100000, 4096 }, { memory + 200001, 300000 } };
	struct iocb call = { .aio_lio_opcode = IOCB_CMD_PREADV, .aio_fildes = card, .aio_buf = (uintptr_t)pieces,
		.aio_nbytes = 3, .aio_offset = 9 };
	struct iocb *list = &call;

	return syscall(SYS_io_submit, aio, 1, &list);
}

/* io_destroy() waits for calls that run. */
static void after_aio(void)
{
	check(!syscall(SYS_io_destroy, aio), "%s", strerror(errno));
	after_card();
}

static struct io_uring_params params;

/* The call may end after the path: it does not write where card_works() does. */
static void before_uring(void)
{
	struct io_uring_sqe *entries;
	unsigned char *rings;

	before_card();
	memset(&params, 0, sizeof(params));
	helper = syscall(SYS_io_uring_setup, 4, &params);
	check(helper >= 0, "%s", strerror(errno));
	rings = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, helper, IORING_OFF_SQ_RING);
	entries = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, helper, IORING_OFF_SQES);
	check(rings != MAP_FAILED && entries != MAP_FAILED, "%s", strerror(errno));
	entries[0] = (struct io_uring_sqe){ .opcode = IORING_OP_WRITE, .fd = card, .addr = (uintptr_t)memory,
		.len = 300000, .off = (32 << 20) + 11 };
	*(unsigned int *)(rings + params.sq_off.array) = 0;
	__atomic_store_n((unsigned int *)(rings + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	munmap(rings, 4096);
	munmap(entries, 4096);
}

static void before_fixed(void)
{
	struct iovec buffer = { memory, MIB };
	struct io_uring_sqe *entries;

	before_uring();
	check(!syscall(SYS_io_uring_register, helper, IORING_REGISTER_BUFFERS, &buffer, 1), "%s", strerror(errno));
	entries = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, helper, IORING_OFF_SQES);
	check(entries != MAP_FAILED, "%s", strerror(errno));
	entries[0].opcode = IORING_OP_WRITE_FIXED;
	munmap(entries, 4096);
}

static long path_uring(void)
{
	return syscall(SYS_io_uring_enter, helper, 1, 0, 0, NULL, 0);
}

const struct path memory_paths[] = {
	{ "open", nothing, path_open, nothing },
	{ "read", before_read, path_read, after_read },
	{ "write", before_write, path_write, after_write },
	{ "vector", before_card, path_vector, after_card },
	{ "gather", before_card, path_gather, after_card },
	{ "fresh", before_fresh, path_fresh, after_card },
	{ "splice", before_splice, path_splice, after_splice },
	{ "ioctl", before_card, path_ioctl, after_card },
	{ "map", before_card, path_map, after_card },
	{ "combined", before_card, path_combined, after_card },
	{ "aio", before_aio, path_aio, after_aio },
	{ "pieces", before_aio, path_pieces, after_aio },
	{ "io_uring", before_uring, path_uring, after_splice },
	{ "fixed", before_fixed, path_uring, after_splice },
	{ NULL, NULL, NULL, NULL },
};
