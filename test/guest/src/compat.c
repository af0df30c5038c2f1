// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * What a 32-bit program sees: its system calls through int 0x80, which a 64-bit program may make too. Whatever they
 * point at is static, so it lies below 4 GiB. The structures are the same for both (test/software/kernel).
 */
#include <linux/litepcie_stream.h>
#include "check.h"

#define BYTES 70001
#define PLACE (5ull << 20)

#ifdef __x86_64__
/* Numbers of arch/x86/entry/syscalls/syscall_32.tbl. */
enum { IOCTL = 54, MUNMAP = 91, PREAD64 = 180, PWRITE64, MMAP2 = 192, IO_SETUP = 245, IO_DESTROY, IO_SUBMIT = 248,
	PREADV = 333, PWRITEV, IO_PGETEVENTS = 416 };

struct vector {
	uint32_t at, bytes;
};

static uint8_t out[BYTES], in[BYTES];
static int card;

static uint32_t at(const void *memory)
{
	return (uintptr_t)memory;
}

static int call(uint32_t number, uint32_t a, uint32_t b, uint32_t c, uint64_t d, uint64_t e, uint64_t f)
{
	long result = number;

	/* The sixth argument is in EBP, which the compiler may need for its frame. */
	asm volatile("xchg %%rbp, %1\n int $0x80\n xchg %%rbp, %1" : "+a"(result), "+&r"(f)
		     : "b"((uint64_t)a), "c"((uint64_t)b), "d"((uint64_t)c), "S"(d), "D"(e)
		     : "memory", "r8", "r9", "r10", "r11", "cc");
	return result;
}

static int moves(uint32_t number, const void *memory, uint32_t bytes, uint64_t offset)
{
	return call(number, card, at(memory), bytes, (uint32_t)offset, offset >> 32, 0);
}

static int ioctl32(int fd, uint32_t command, const void *argument)
{
	return call(IOCTL, fd, command, at(argument), 0, 0, 0);
}

static void ioctls(void)
{
	static struct litepcie_info info = { .size = sizeof(info) };
	static struct litepcie_scratch scratch = { .size = sizeof(scratch), .value = 0xdeadbeef };
	static struct litepcie_dmabuf_attach attach = { .size = sizeof(attach), .fd = -1 };
	static struct litepcie_stream_info ring = { .size = sizeof(ring), .direction = LITEPCIE_FROM_CARD };
	int stream = open(STREAM, O_RDWR);

	check(!ioctl32(card, LITEPCIE_IOC_INFO, &info), "info");
	check((off_t)info.memory_bytes == lseek(card, 0, SEEK_END) && info.streams == 2, "%llu", info.memory_bytes);
	check(!ioctl32(card, LITEPCIE_IOC_SCRATCH, &scratch) && scratch.readback == 0xdeadbeef, "%x", scratch.readback);
	check(ioctl32(card, LITEPCIE_IOC_DMABUF_ATTACH, &attach) == -EBADF, "attach");
	check(stream >= 0 && !ioctl32(stream, LITEPCIE_IOC_STREAM_INFO, &ring) && ring.map_bytes, "stream");
	for (int i = 0; i < 2; i++) {
		check(ioctl32(i ? stream : card, i ? LITEPCIE_IOC_STREAM_INFO : LITEPCIE_IOC_INFO, (void *)16) ==
		      -EFAULT, "a bad pointer");
		check(ioctl32(i ? stream : card, _IO(LITEPCIE_IOC_MAGIC, 0x7f), out) == -ENOTTY, "an unknown one");
	}
}

static void transfers(void)
{
	static struct vector vectors[3];

	vectors[0] = (struct vector){ at(in), 5 };
	vectors[1] = (struct vector){ at(in) + 5, 40000 };
	vectors[2] = (struct vector){ at(in) + 40005, BYTES - 40005 };
	fill(out, BYTES, 1);
	check(moves(PWRITE64, out, BYTES, PLACE) == BYTES && moves(PREAD64, in, BYTES, PLACE) == BYTES, "all");
	check_bytes(in, out, BYTES, "back");
	/* Offsets keep their upper half. */
	check(moves(PREAD64, in, 1, PLACE | 1ull << 32) == 0, "past the end");
	check(moves(PWRITE64, in, 1, PLACE | 1ull << 32) == -ENOSPC, "past the end");
	check(moves(PREAD64, in, 1, ~0ull) == -EINVAL, "before the beginning");
	memset(in, 0, BYTES);
	check(moves(PREADV, vectors, 3, PLACE) == BYTES, "preadv");
	check_bytes(in, out, BYTES, "preadv");
	check(moves(PWRITEV, vectors, 3, PLACE + 100000) == BYTES, "pwritev");
	check(moves(PREAD64, in, BYTES, PLACE + 100000) == BYTES, "back");
	check_bytes(in, out, BYTES, "pwritev");
	vectors[1].at = 0xfffff000;
	check(moves(PREADV, vectors, 3, PLACE) == 5, "a bad pointer");
}

static void aio(void)
{
	static struct iocb read = { .aio_lio_opcode = IOCB_CMD_PREAD, .aio_data = 1ull << 40 };
	static uint32_t context, list;
	static struct io_event event;

	list = at(&read);
	read.aio_fildes = card;
	read.aio_buf = at(in);
	read.aio_nbytes = BYTES;
	read.aio_offset = PLACE;
	memset(in, 0, BYTES);
	check(!call(IO_SETUP, 2, at(&context), 0, 0, 0, 0), "io_setup");
	check(call(IO_SUBMIT, context, 1, at(&list), 0, 0, 0) == 1, "io_submit");
	check(call(IO_PGETEVENTS, context, 1, 1, at(&event), 0, 0) == 1, "io_pgetevents");
	check(event.res == BYTES && event.data == 1ull << 40, "%lld", event.res);
	check_bytes(in, out, BYTES, "aio");
	check(!call(IO_DESTROY, context, 0, 0, 0, 0, 0), "io_destroy");
}

/* Mapped `way`: offsets count pages, so they reach beyond 4 GiB. */
static void window(uint64_t way)
{
	uint32_t words[4], mark = way != 0;
	uint32_t address = call(MMAP2, 0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, card, (way + 4096) >> 12);
	volatile uint32_t *mapped = (void *)(uintptr_t)address;

	check(address < -4096u, "%d", address);
	for (int i = 0; i < 4; i++)
		mapped[1024 + i] = i * 0x01010101u + mark;
	check(mapped[1024 + 3] == 0x03030303u + mark, "%x", mapped[1024 + 3]);
	check(pread(card, words, sizeof(words), 8192) == sizeof(words) && words[2] == 0x02020202u + mark, "by DMA");
	check(!call(MUNMAP, address, 8192, 0, 0, 0, 0), "munmap");
	check(call(MMAP2, 0, 4096, PROT_READ, MAP_SHARED, card, (way + (1ull << 32)) >> 12) == -EINVAL, "beyond");
}

int main(void)
{
	card = open_device();
	ioctls();
	transfers();
	aio();
	window(0);
	window(LITEPCIE_MMAP_COMBINED);
	finish("compat");
}
#else
int main(void)
{
	return 1;
}
#endif
