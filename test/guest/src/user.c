// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * The registers and the RAM of the simulated board's user core, by every call of /dev/litepcie0_user.
 * usage: user          checks all calls
 *        user COMMAND  maps a page, runs a shell command and accesses the page
 *                      again: prints "same", "SIGBUS", and what pread() returns
 */
#include "check.h"

#define BYTES (256 << 10)
#define RAM (64 << 10)
#define RAM_BYTES (16 << 10)
#define COMPARED (2 << 10) /* of them; each word is an access of its own */
#define OPERAND 0
#define RESULT 4
#define NOTHING (128 << 10)

static void registers(void)
{
	store(OPERAND, 0x12345678);
	check(load(OPERAND) == 0x12345678, "%08x", load(OPERAND));
	check(load(RESULT) == ~0x12345678u, "%08x", load(RESULT));
	store(OPERAND, 0);
	/* All ones are a value, not an error. */
	check(load(RESULT) == ~0u, "%08x", load(RESULT));
	ok(lseek(user, 0, SEEK_END) == BYTES && lseek(user, RESULT, SEEK_SET) == RESULT);
}

static void ram(void)
{
	static uint32_t out[COMPARED / 4], in[COMPARED / 4];

	fill((uint8_t *)out, sizeof(out), 1);
	ok(pwrite(user, out, sizeof(out), RAM) == sizeof(out) && pread(user, in, sizeof(in), RAM) == sizeof(in));
	check_bytes((uint8_t *)in, (uint8_t *)out, sizeof(in), "RAM");
}

static void errors(void)
{
	uint32_t word[256] = { 0 };
	int reader = open(USER, O_RDONLY);
	void *volatile nowhere = (void *)8;

	expect_errno(pread(user, word, 4, 2), EINVAL);
	expect_errno(pread(user, word, 6, 0), EINVAL);
	expect_errno(pwrite(user, word, 1, 0), EINVAL);
	expect_errno(pread(user, word, 4, -4), EINVAL);
	expect_errno(pwrite(reader, word, 4, 0), EBADF);
	expect_errno(pread(user, nowhere, 4, 0), EFAULT);
	expect_errno(pwrite(user, nowhere, 4, 0), EFAULT);
	expect_errno(ioctl(user, 0, 0), ENOTTY);
	check(pread(user, word, 8, BYTES) == 0, "end");
	check(pread(user, word, 8, BYTES + (1l << 32)) == 0, "end");
	expect_errno(pwrite(user, word, 4, BYTES), ENOSPC);
	check(pread(user, word, 0, 0) == 0, "nothing");
	/* No slave answers: each call fails, and the next one works. */
	expect_errno(pread(user, word, 4, NOTHING), EIO);
	load(RAM);
	expect_errno(pwrite(user, word, 4, NOTHING), EIO);
	load(RAM);
	/* What was moved before the error is returned. */
	ok(pread(user, word, 1024, RAM + RAM_BYTES - 256) == 256);
	close(reader);
}

static volatile uint32_t *map(off_t offset, size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, user, offset);
}

static void mappings(void)
{
	volatile uint32_t *page = map(RAM, 4096), *core = map(0, BYTES);
	volatile uint8_t *byte = (volatile uint8_t *)page;

	ok(page != MAP_FAILED && core != MAP_FAILED);
	page[5] = 0x11223344;
	byte[21] = 0xee;
	check(load(RAM + 20) == 0x1122ee44, "%08x", load(RAM + 20));
	store(RAM + 4092, 77);
	check(page[1023] == 77 && core[RAM / 4 + 1023] == 77, "%u", page[1023]);
	core[OPERAND / 4] = 1;
	check(core[RESULT / 4] == ~1u, "%08x", core[RESULT / 4]);
	check(core[NOTHING / 4] == ~0u, "%08x", core[NOTHING / 4]);
	expect_errno(map(0, BYTES + 4096), EINVAL);
	expect_errno(map(BYTES, 4096), EINVAL);
	expect_errno(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, user, 0), EINVAL);
}

static void bus_error(int number)
{
	uint32_t word;
	const char *text = pread(user, &word, 4, 0) == 4 ? "SIGBUS read" :
		errno == ENODEV ? "SIGBUS ENODEV" : "SIGBUS other";

	(void)number;
	puts(text);
	exit(0);
}

int main(int argc, char **argv)
{
	volatile uint32_t *page;

	user = opened(USER, O_RDWR);
	if (argc > 1) {
		page = map(RAM, 4096);
		page[1] = 0xcafe;
		check(page[1] == 0xcafe, "%08x", page[1]);
		signal(SIGBUS, bus_error);
		check(!system(argv[1]), "'%s' failed", argv[1]);
		check(page[1] == 0xcafe, "%08x", page[1]);
		puts(load(RAM + 4) == 0xcafe ? "same" : "lost");
		return 0;
	}
	registers();
	ram();
	errors();
	mappings();
	finish("user");
}
