/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/*
 * Shared by the programs that run in the guest: a check that prints what was
 * expected and where, byte patterns that differ by position and pass, and
 * buffers with guard bytes around them.
 */
#ifndef LITEPCIE_TEST_CHECK_H
#define LITEPCIE_TEST_CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEVICE "/dev/litepcie0"
#define GUARD_BYTES 128
#define GUARD_VALUE 0xa5

static unsigned long checks;

#define check(condition, ...)                                                  \
	do {                                                                   \
		checks++;                                                      \
		if (!(condition)) {                                            \
			fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__,     \
				#condition);                                   \
			fprintf(stderr, __VA_ARGS__);                          \
			fprintf(stderr, "\n");                                 \
			exit(1);                                               \
		}                                                              \
	} while (0)

/* A call ends with -1 and this errno. */
#define expect_errno(call, code)                                                                                       \
	do {                                                                                                           \
		errno = 0;                                                                                             \
		long result_ = (long)(call);                                                                           \
		check(result_ == -1 && errno == (code), "returned %ld, errno %d (%s), expected %s", result_, errno,    \
		      strerror(errno), #code);                                                                         \
	} while (0)

/* A part of a program, by its name on the command line. */
struct test {
	const char *name;
	void (*run)(void);
};

/* Bytes of a page of this kernel: 16384 on some for ARM. */
static inline size_t page_bytes(void)
{
	return sysconf(_SC_PAGESIZE);
}

static inline int open_device(void)
{
	int fd = open(DEVICE, O_RDWR);

	check(fd >= 0, "%s: %s", DEVICE, strerror(errno));
	return fd;
}

/* Memory of the program's own, from the beginning of a page. */
static inline void *zeroed(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(memory != MAP_FAILED, "%zu bytes: %s", bytes, strerror(errno));
	return memory;
}

/* The number in a file of sysfs or debugfs. */
static inline long long number_in(const char *path)
{
	FILE *file = fopen(path, "r");
	long long number = 0;

	check(file && fscanf(file, "%lld", &number) == 1, "%s has no number", path);
	fclose(file);
	return number;
}

/* A child ends with status 0. */
static inline void wait_child(pid_t child)
{
	int status;

	check(child > 0 && waitpid(child, &status, 0) == child && !status, "child %d: status %#x", child, status);
}

/* Seconds since some moment. */
static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static inline void no_handler(int number)
{
	(void)number;
}

/* SIGALRM ends a call that waits, and does nothing else. */
static inline void alarm_ends_calls(void)
{
	check(!sigaction(SIGALRM, &(struct sigaction){ .sa_handler = no_handler }, NULL), "%s", strerror(errno));
}

/* Eight bytes that depend on their position and on the pass, so that stale or shifted data is found. */
static inline uint64_t eight_bytes(uint64_t place, uint32_t pass)
{
	uint64_t x = (place / 8 + 1) * 0x9e3779b97f4a7c15ull + (uint64_t)pass * 0xd1b54a32d192ed03ull;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

static inline uint8_t pattern(uint64_t place, uint32_t pass)
{
	return eight_bytes(place, pass) >> place % 8 * 8;
}

/* By eight bytes: the processor of a guest is emulated. */
static inline void fill(uint8_t *bytes, size_t length, uint32_t pass)
{
	size_t at = 0;

	for (; at + 8 <= length; at += 8)
		memcpy(bytes + at, &(uint64_t){ eight_bytes(at, pass) }, 8);
	for (; at < length; at++)
		bytes[at] = pattern(at, pass);
}

static inline void check_bytes(const uint8_t *got, const uint8_t *expected, size_t length,
			       const char *what)
{
	if (!memcmp(got, expected, length)) {
		checks++;
		return;
	}
	for (size_t i = 0; i < length; i++)
		check(got[i] == expected[i], "%s: byte %zu of %zu: expected %02x, got %02x", what,
		      i, length, expected[i], got[i]);
}

static inline void check_value(const uint8_t *got, uint8_t value, size_t length, const char *what)
{
	if (length && got[0] == value && !memcmp(got, got + 1, length - 1))
		length = 0;
	for (size_t i = 0; i < length; i++)
		if (got[i] != value)
			check(0, "%s: byte %zu of %zu: expected %02x, got %02x", what, i, length,
			      value, got[i]);
	checks++;
}

/* Allocates length bytes at offset misalign in a page, between guard bytes. */
struct guarded {
	uint8_t *whole;
	uint8_t *bytes;
	size_t length;
};

static inline struct guarded guarded_alloc(size_t length, size_t misalign)
{
	struct guarded g = { .length = length };
	size_t whole = 4096 + misalign + length + GUARD_BYTES;

	check(!posix_memalign((void **)&g.whole, 4096, whole), "%zu bytes", whole);
	memset(g.whole, GUARD_VALUE, whole);
	g.bytes = g.whole + 4096 + misalign;
	return g;
}

static inline void guarded_check(const struct guarded *g, const char *what)
{
	check_value(g->bytes - GUARD_BYTES, GUARD_VALUE, GUARD_BYTES, what);
	check_value(g->bytes + g->length, GUARD_VALUE, GUARD_BYTES, what);
}

static inline void finish(const char *name)
{
	printf("%s: %lu checks passed\n", name, checks);
	exit(0);
}

#endif
