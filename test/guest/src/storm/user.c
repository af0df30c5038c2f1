// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Calls on the card's user logic: its registers and RAM by offset and by mapping, where some addresses have nothing
 * that answers, and its interrupts.
 */
#include "storm.h"

#define INTERRUPTS	4
#define BYTES		(256ul << 10)
/* Of the user core (targets/sim.py). Its first registers make interrupts. */
#define CORE_BYTES	0x34
#define EVENTS_AT_BYTE	0x08
#define EVENTS_BYTES	0x0c
#define RAM_AT		(64ul << 10)
#define RAM_BYTES	(16ul << 10)

/* Shared by the threads of a hand. */
static int user_file, interrupt_files[INTERRUPTS];

/* Opens `name` of the card that exists, in place of the file `held`. */
static int open_again(int *held, const char *name, int flags)
{
	int old, file = device_open(name, flags);

	/* A hand that may not open files keeps the ones that it has. */
	if (file < 0)
		return *held;
	old = __atomic_exchange_n(held, file, __ATOMIC_RELAXED);
	if (old > 0)
		close(old);
	return file;
}

static int user_open(void)
{
	static const int flags[] = { O_RDWR, O_RDWR, O_RDWR, O_RDONLY, O_WRONLY };

	return open_again(&user_file, "_user", flags[pick(ARRAY_SIZE(flags))]);
}

static int interrupt_open(unsigned int which)
{
	char name[32];

	snprintf(name, sizeof(name), "_interrupt%u", which);
	return open_again(&interrupt_files[which], name, one_in(8) ? O_RDWR : O_RDWR | O_NONBLOCK);
}

void user_files_open(void)
{
	user_open();
	for (unsigned int i = 0; i < INTERRUPTS; i++)
		interrupt_open(i);
}

static int some_user_file(void)
{
	int file = user_file;

	return file <= 0 || one_in(30) ? user_open() : file;
}

/* Returns the result of a call on the user's registers; the card may have another number since it was bound again. */
static long told(long result)
{
	int error = errno;

	counted(result);
	if (result < 0 && error == ENODEV)
		user_open();
	return result;
}

void logic_write(off_t offset, const void *words, size_t bytes)
{
	if (pwrite(some_user_file(), words, bytes, offset) < 0 && errno == ENODEV)
		user_open();
}

/* Half of them with registers or RAM. */
static off_t some_place(void)
{
	switch (pick(8)) {
	case 0:
		return (off_t)(random_bits() >> pick(64));
	case 1 ... 2:
		return (off_t)pick(BYTES) & ~3l;
	case 3 ... 5:
		return (off_t)pick(CORE_BYTES) & ~3l;
	default:
		return (off_t)(RAM_AT + pick(RAM_BYTES)) & ~3l;
	}
}

static void registers(void)
{
	static const long numbers[] = { SYS_pread64, SYS_pwrite64 };
	struct iovec parts[2] = { { some_memory(), 4 * pick(100) }, { private_memory(), 8 } };
	size_t length = one_in(4) ? some_length() : 4 * pick(one_in(2) ? 4 : 100);
	int file = some_user_file();

	if (one_in(10))
		lseek(file, some_place(), (int)pick(5));
	if (one_in(4))
		told(pick(2) ? readv(file, parts, 2) : writev(file, parts, 2));
	else
		told(syscall(numbers[pick(2)], file, some_memory(), length, some_place()));
}

static void mappings(void)
{
	static const int shared[] = { MAP_SHARED, MAP_SHARED, MAP_SHARED, MAP_PRIVATE };
	size_t length = one_in(2) ? 4096 * (1 + pick(8)) : some_length();
	off_t offset = one_in(2) ? 0 : (off_t)(one_in(4) ? random_bits() >> pick(64) : pick(BYTES)) & ~4095l;
	int file = some_user_file();
	uint8_t *at = mmap(NULL, length, PROT_READ | PROT_WRITE, shared[pick(4)], file, offset);

	told(at == MAP_FAILED ? -1 : 0);
	if (at == MAP_FAILED)
		return;
	for (unsigned int i = pick(8); i; i--)
		touch(at + pick(length), (int)pick(2));
	/* Memory that cannot be pinned. */
	pread(some_file(), at, 64, 0);
	if (one_in(8))
		mprotect(at, 4096, (int)pick(8));
	if (!one_in(10))
		munmap(at, length);
}

/* Arms an interrupt, lets the card's logic raise one, and waits a moment for it. */
static void interrupts(void)
{
	unsigned int which = pick(INTERRUPTS);
	int file = interrupt_files[which];
	uint32_t word = one_in(10) ? random_bits() : !one_in(4);
	struct pollfd p = { .fd = file, .events = POLLIN };

	if (file <= 0 || one_in(30))
		p.fd = file = interrupt_open(which);
	if (counted(syscall(SYS_write, file, one_in(10) ? some_memory() : &word, one_in(10) ? some_length() : 4)) < 0 &&
	    errno == ENODEV)
		p.fd = file = interrupt_open(which);
	word = pick(2);
	pwrite(some_user_file(), &word, 4, (EVENTS_AT_BYTE + (off_t)pick(EVENTS_BYTES)) & ~3l);
	poll(&p, 1, (int)pick(20));
	counted(syscall(SYS_read, file, one_in(10) ? some_memory() : &word, one_in(10) ? some_length() : 4));
}

const struct kind user_kinds[] = {
	{ "user registers", registers }, { "user mapping", mappings }, { "user interrupts", interrupts },
	{ }
};
