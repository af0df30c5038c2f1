/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/*
 * System calls of i386 without a C library, which the machine may not have for
 * 32 bits. A call returns its result or a negative errno.
 */
#ifndef LITEPCIE_TEST_SYSTEM_H
#define LITEPCIE_TEST_SYSTEM_H

#include <asm/errno.h>
#include <asm/unistd_32.h>
#include <linux/types.h>
#include <stddef.h>

#define O_RDWR 2
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 32

struct vector {
	void *at;
	unsigned int bytes;
};

long call_kernel(long number, long a, long b, long c, long d, long e, long f);
void say(const char *text);
void say_number(long number);
void fill(__u8 *bytes, unsigned int count, unsigned int seed);
int equal(const void *a, const void *b, unsigned int count);
void *memset(void *to, int value, size_t count);
void *memcpy(void *to, const void *from, size_t count);
void end(int status) __attribute__((noreturn));

#define call(number, a, b, c, d, e, f)                                                                                 \
	call_kernel(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static inline long open_file(const char *path)
{
	return call(__NR_open, path, O_RDWR, 0, 0, 0, 0);
}

static inline long ioctl(int fd, unsigned int command, void *argument)
{
	return call(__NR_ioctl, fd, command, argument, 0, 0, 0);
}

static inline long pread(int fd, void *to, unsigned int bytes, __u64 offset)
{
	return call(__NR_pread64, fd, to, bytes, offset, offset >> 32, 0);
}

static inline long pwrite(int fd, const void *from, unsigned int bytes, __u64 offset)
{
	return call(__NR_pwrite64, fd, from, bytes, offset, offset >> 32, 0);
}

/* At a multiple of 4096 in the file. Its end is -4095 and more. */
static inline void *map(unsigned int bytes, int flags, int fd, __u64 offset)
{
	return (void *)call(__NR_mmap2, 0, bytes, PROT_READ | PROT_WRITE, flags, fd, offset >> 12);
}

static inline int failed(const void *address)
{
	return (unsigned long)address > -4096ul;
}

extern unsigned int checks;

/* Ends the program if a value is not the one expected. */
#define expect(value, wanted)                                                                                          \
	do {                                                                                                           \
		long long value_ = (long long)(value), wanted_ = (long long)(wanted);                                  \
		checks++;                                                                                              \
		if (value_ != wanted_) {                                                                               \
			say(__FILE__ ":");                                                                             \
			say_number(__LINE__);                                                                          \
			say(": " #value " is ");                                                                       \
			say_number(value_);                                                                            \
			say(", expected ");                                                                            \
			say_number(wanted_);                                                                           \
			say("\n");                                                                                     \
			end(1);                                                                                        \
		}                                                                                                      \
	} while (0)

/* main.c, ioctls.c */
extern int card, stream;
void ioctls(void);
void buffers(void);

#endif
