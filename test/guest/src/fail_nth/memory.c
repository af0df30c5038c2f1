// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Calls on the card's memory, and mappings of its window. */
#include "fail_nth.h"
#include "../uring.h"


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
	ok(pwrite(card, other, MIB, 0) == MIB);
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
	ok(pread(card, other, MIB - 5, 3) == MIB - 5);
	check_moved(other, memory + 1);
	after_card();
}

/* Many small pieces are copied. */
static void small_pieces(struct iovec *parts)
{
	for (int i = 0; i < 32; i++)
		parts[i] = (struct iovec){ memory + 5000 * i, 777 };
}

static long path_vector(void)
{
	struct iovec parts[32];

	small_pieces(parts);
	return preadv(card, parts, 32, 5);
}

static long path_gather(void)
{
	struct iovec parts[32];

	small_pieces(parts);
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
	ok(!pipe(pipes) && write(pipes[1], memory, 4096) == 4096);
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
	volatile uint32_t *window = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, card, LITEPCIE_MMAP_COMBINED);

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
	ok(!syscall(SYS_io_setup, 8, &aio));
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
	ok(!syscall(SYS_io_destroy, aio));
	after_card();
}

static struct uring ring;

/* The call may end after the path: it does not write where card_works() does. */
static void before_uring(void)
{
	before_card();
	uring_open(&ring, 4, 0);
	helper = ring.fd;
	uring_put(&ring, (struct io_uring_sqe){ .opcode = IORING_OP_WRITE, .fd = card, .addr = (uintptr_t)memory,
		.len = 300000, .off = (32 << 20) + 11 });
}

static void before_fixed(void)
{
	struct iovec buffer = { memory, MIB };

	before_uring();
	ok(!syscall(SYS_io_uring_register, helper, IORING_REGISTER_BUFFERS, &buffer, 1));
	ring.entries[0].opcode = IORING_OP_WRITE_FIXED;
}

static void after_uring(void)
{
	uring_unmap(&ring);
	after_splice();
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
	{ "io_uring", before_uring, path_uring, after_uring },
	{ "fixed", before_fixed, path_uring, after_uring },
	{ }
};
