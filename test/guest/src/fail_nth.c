// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lets each allocation of a path of the driver fail in turn, by /proc/thread-self/fail-nth of a kernel with fault
 * injection (Documentation/fault-injection/fault-injection.rst). After each failure the card must work.
 * usage: fail_nth PATH
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#define _GNU_SOURCE
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include "check.h"

#include <linux/litepcie_stream.h>

#define CARD	"0000:01:00.0"
#define DRIVER	"/sys/bus/pci/drivers/litepcie/"
#define DEVICES	"/sys/bus/pci/devices/" CARD "/"
#define MIB	(1 << 20)
#define MOST	5000

static int nth_file, card = -1, helper = -1, result_errno;
static uint8_t *memory;
static aio_context_t aio;

static void set(const char *path, const char *name, const char *value)
{
	char whole[256];
	int file;

	snprintf(whole, sizeof(whole), "%s/%s", path, name);
	file = open(whole, O_WRONLY);
	check(file >= 0, "%s: %s", whole, strerror(errno));
	check(write(file, value, strlen(value)) > 0, "%s: %s", whole, strerror(errno));
	close(file);
}

/* By default, fault injection spares allocations that may wait, which are nearly all of a driver. */
static void configure(void)
{
	set("/sys/kernel/debug/failslab", "ignore-gfp-wait", "N");
	set("/sys/kernel/debug/failslab", "verbose", "0");
	set("/sys/kernel/debug/fail_page_alloc", "verbose", "0");
	set("/sys/kernel/debug/fail_usercopy", "verbose", "0");
	set("/sys/kernel/debug/fail_page_alloc", "ignore-gfp-wait", "N");
	set("/sys/kernel/debug/fail_page_alloc", "ignore-gfp-highmem", "N");
	set("/sys/kernel/debug/fail_page_alloc", "min-order", "0");
	nth_file = open("/proc/thread-self/fail-nth", O_RDWR);
	check(nth_file >= 0, "the kernel has no fault injection: %s", strerror(errno));
}

static void arm(unsigned int nth)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", nth);

	fflush(stdout);
	check(pwrite(nth_file, text, length, 0) == length, "%s", strerror(errno));
}

/*
 * Returns whether the allocation failed, and ends the injection. These calls copy to and from the program, and such a
 * copy can be what fails.
 */
static int disarm(void)
{
	char text[16] = "";
	int failed = pread(nth_file, text, sizeof(text) - 1, 0) > 0 && atoi(text) == 0;

	while (pwrite(nth_file, "0", 1, 0) != 1)
		;
	return failed;
}

static void card_works(void)
{
	struct guarded out = guarded_alloc(5000, 3), in = guarded_alloc(5000, 5);
	static uint32_t pass = 1;
	int file = open_device();

	fill(out.bytes, 5000, ++pass);
	check(pwrite(file, out.bytes, 5000, 4093) == 5000, "%s", strerror(errno));
	check(pread(file, in.bytes, 5000, 4093) == 5000, "%s", strerror(errno));
	check_bytes(in.bytes, out.bytes, 5000, "after a failed allocation");
	guarded_check(&in, "after a failed allocation");
	free(out.whole);
	free(in.whole);
	close(file);
}

/* The paths. Each has a preparation without failures, the path itself, and the way back. ------------------------- */

static long path_open(void)
{
	int file = open(DEVICE, O_RDWR);

	if (file >= 0)
		close(file);
	return file;
}

static void before_card(void)
{
	card = open_device();
	memset(memory, 0x11, 2 * MIB);
}

static void after_card(void)
{
	close(card);
}

static long path_read(void)
{
	return pread(card, memory, MIB, 0);
}

static long path_write(void)
{
	return pwrite(card, memory + 1, MIB - 5, 3);
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
	munmap((void *)window, 65536);
	return value;
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
		.len = 300000, .off = 11 };
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

static void before_probe(void)
{
	set(DRIVER, "unbind", CARD);
	helper = open(DRIVER "bind", O_WRONLY);
	check(helper >= 0, "%s", strerror(errno));
}

static long path_probe(void)
{
	return write(helper, CARD, strlen(CARD));
}

/* If a failure was not fatal, the driver is bound now, and unbind takes it back. */
static void after_probe(void)
{
	close(helper);
	if (access(DRIVER CARD, F_OK))
		set(DRIVER, "bind", CARD);
}

static void before_remove(void)
{
	helper = open(DRIVER "unbind", O_WRONLY);
	check(helper >= 0, "%s", strerror(errno));
}

static void before_reset(void)
{
	helper = open(DEVICES "reset", O_WRONLY);
	check(helper >= 0, "%s", strerror(errno));
}

static long path_reset(void)
{
	return write(helper, "1", 1);
}

static void after_reset(void)
{
	close(helper);
}

/* A stream from its begin to its end; the card sends back what it gets. */
static long path_stream(void)
{
	struct litepcie_stream_setup setup = { .size = sizeof(setup), .depth = 4, .buffer_bytes = 5000 };
	int file = open("/dev/litepcie0_stream0", O_RDWR | O_NONBLOCK);
	struct pollfd event = { .fd = file, .events = POLLIN };
	long result = file < 0 ? -1 : 0, error;

	for (setup.direction = 0; result >= 0 && setup.direction < 2; setup.direction++)
		result = ioctl(file, LITEPCIE_IOC_STREAM_SETUP, &setup);
	if (result >= 0)
		result = write(file, memory, 3000);
	if (result >= 0)
		result = poll(&event, 1, 60000) == 1 ? 0 : -1;
	if (result >= 0)
		result = read(file, memory, MIB);
	error = errno;
	if (file >= 0)
		close(file);
	errno = error;
	return result;
}

static void nothing(void)
{
}

static const struct path {
	const char *name;
	void (*before)(void);
	long (*run)(void);
	void (*after)(void);
} paths[] = {
	{ "open", nothing, path_open, nothing },
	{ "read", before_card, path_read, after_card },
	{ "write", before_card, path_write, after_card },
	{ "vector", before_card, path_vector, after_card },
	{ "gather", before_card, path_gather, after_card },
	{ "fresh", before_fresh, path_fresh, after_card },
	{ "splice", before_splice, path_splice, after_splice },
	{ "ioctl", before_card, path_ioctl, after_card },
	{ "map", before_card, path_map, after_card },
	{ "aio", before_aio, path_aio, after_aio },
	{ "pieces", before_aio, path_pieces, after_aio },
	{ "io_uring", before_uring, path_uring, after_splice },
	{ "fixed", before_fixed, path_uring, after_splice },
	{ "probe", before_probe, path_probe, after_probe },
	{ "remove", before_remove, path_probe, after_probe },
	{ "stream", nothing, path_stream, nothing },
	{ "reset", before_reset, path_reset, after_reset },
};

int main(int argc, char **argv)
{
	const struct path *path = paths;
	unsigned int nth, errors = 0;
	long result;
	int failed;

	check(argc == 2, "usage: fail_nth PATH");
	while (path < paths + sizeof(paths) / sizeof(paths[0]) && strcmp(path->name, argv[1]))
		path++;
	check(path < paths + sizeof(paths) / sizeof(paths[0]), "there is no path %s", argv[1]);
	memory = mmap(NULL, 2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(memory != MAP_FAILED, "%s", strerror(errno));
	configure();
	for (nth = 1; nth < MOST; nth++) {
		path->before();
		arm(nth);
		result = path->run();
		result_errno = errno;
		failed = disarm();
		path->after();
		if (result < 0) {
			check(failed, "%s failed by itself: %s", path->name, strerror(result_errno));
			printf("%u: %s\n", nth, strerror(result_errno));
			errors++;
		}
		card_works();
		if (!failed)
			break;
	}
	check(nth < MOST, "%s does not end", path->name);
	printf("%s: %u allocations failed, %u calls with them\n", path->name, nth - 1, errors);
	finish("fail_nth");
}
