/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Shared by the programs that run in the guest: checks, patterns by position and pass, buffers with guard bytes. */
#ifndef LITEPCIE_TEST_CHECK_H
#define LITEPCIE_TEST_CHECK_H

#include <linux/aio_abi.h>
#include <linux/litepcie.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEVICE "/dev/litepcie0"
#define STREAM DEVICE "_stream0"
#define USER DEVICE "_user"
#define CARD "0000:01:00.0"
#define DRIVER "/sys/bus/pci/drivers/litepcie/"
#define GUARD_BYTES 128
#define GUARD_VALUE 0xa5
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static unsigned long checks;

#define check_named(name, condition, ...)                                                                              \
	do {                                                                                                           \
		checks++;                                                                                              \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, name);                                      \
			fprintf(stderr, __VA_ARGS__);                                                                  \
			fprintf(stderr, "\n");                                                                         \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)
#define check(condition, ...) check_named(#condition, condition, __VA_ARGS__)
/* A call succeeds. If not, errno is printed. */
#define ok(condition) check_named(#condition, condition, "%s", strerror(errno))

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

static inline int opened(const char *path, int flags)
{
	int fd = open(path, flags);

	check(fd >= 0, "%s: %s", path, strerror(errno));
	return fd;
}

static inline int open_device(void)
{
	return opened(DEVICE, O_RDWR);
}

static inline int open_interrupt(int n, int flags)
{
	char path[40];

	snprintf(path, sizeof(path), DEVICE "_interrupt%d", n);
	return opened(path, O_RDWR | flags);
}

/* The registers of the user's logic: open USER first. */
static int user;

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

static inline struct litepcie_info card_info(int fd)
{
	struct litepcie_info info = { .size = sizeof(info) };

	ok(!ioctl(fd, LITEPCIE_IOC_INFO, &info));
	return info;
}

static inline struct litepcie_counters card_counters(int fd, unsigned int channel, unsigned int direction)
{
	struct litepcie_counters values = { .size = sizeof(values), .channel = channel, .direction = direction };

	ok(!ioctl(fd, LITEPCIE_IOC_COUNTERS, &values));
	return values;
}

/* For SIGBUS: a page of a mapping is gone. */
static inline void tell_sigbus(int number)
{
	(void)number;
	_exit(write(STDOUT_FILENO, "SIGBUS\n", 7) < 0);
}

/* Bytes of a file, from its offset, shared. */
static inline void *mapped(int fd, off_t offset, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	check(memory != MAP_FAILED, "%zu bytes: %s", bytes, strerror(errno));
	return memory;
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

static inline pid_t forked(void)
{
	pid_t child = fork();

	ok(child >= 0);
	return child;
}

static inline aio_context_t aio_setup(unsigned int depth)
{
	aio_context_t context = 0;

	ok(!syscall(SYS_io_setup, depth, &context));
	return context;
}

static inline void aio_submit(aio_context_t context, struct iocb *call)
{
	ok(syscall(SYS_io_submit, context, 1, &call) == 1);
}

/* Waits for `least` ends; takes `most`. */
static inline long aio_take(aio_context_t context, unsigned int least, unsigned int most, struct io_event *events)
{
	long got = syscall(SYS_io_getevents, context, least, most, events, NULL);

	ok(got >= (long)least);
	return got;
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
	ok(!sigaction(SIGALRM, &(struct sigaction){ .sa_handler = no_handler }, NULL));
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

static inline void check_bytes(const uint8_t *got, const uint8_t *expected, size_t length, const char *what)
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
			check(0, "%s: byte %zu of %zu: expected %02x, got %02x", what, i, length, value, got[i]);
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

/* Runs the part with this name. */
#define run_test(tests, wanted)                                                                                        \
	do {                                                                                                           \
		for (unsigned int i_ = 0; i_ < ARRAY_SIZE(tests); i_++)                                                \
			if (!strcmp((tests)[i_].name, wanted))                                                         \
				(tests)[i_].run();                                                                     \
	} while (0)

static inline void finish(const char *name)
{
	printf("%s: %lu checks passed\n", name, checks);
	exit(0);
}

#endif
