// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Ways to transfer data other than plain read and write: vectors of odd sizes, splice, sendfile, aio, huge pages, pages
 * of a file, beside a fork.
 */
#include <sys/sendfile.h>
#include "check.h"

#define AREA (1 << 20)

static int fd;
static uint32_t pass;
static uint8_t *out, *in;

static void next_pass(void)
{
	fill(out, AREA, ++pass);
	memset(in, GUARD_VALUE, AREA + GUARD_BYTES);
}

/* Moves length bytes in parts of the given sizes, repeated, with gaps between them. */
static void vector(const size_t *sizes, unsigned int count, size_t length, off_t offset)
{
	static struct iovec parts[1024];
	unsigned int n = 0;
	size_t place = 0, total = 0;

	next_pass();
	while (total < length && n < 1024) {
		size_t bytes = sizes[n % count];

		if (bytes > length - total)
			bytes = length - total;
		parts[n++] = (struct iovec){ out + place, bytes };
		place += bytes + 3;
		total += bytes;
	}
	check(place <= AREA, "too much");
	ok(pwritev(fd, parts, n, offset) == (ssize_t)total && pread(fd, in, total, offset) == (ssize_t)total);
	for (unsigned int i = 0, at = 0; i < n; at += parts[i++].iov_len)
		check_bytes(in + at, parts[i].iov_base, parts[i].iov_len, "pwritev, pread");

	for (unsigned int i = 0; i < n; i++)
		parts[i].iov_base = in + ((uint8_t *)parts[i].iov_base - out);
	memset(in, GUARD_VALUE, AREA);
	ok(preadv(fd, parts, n, offset) == (ssize_t)total);
	for (unsigned int i = 0; i < n; i++) {
		uint8_t *bytes = parts[i].iov_base;

		check_bytes(bytes, out + (bytes - in), parts[i].iov_len, "preadv");
		check_value(bytes + parts[i].iov_len, GUARD_VALUE, 3, "gap of a vector");
	}
}

static void vectors(void)
{
	static const size_t small[] = { 1, 7, 0, 63, 64, 65, 0, 0, 1000 };
	static const size_t mixed[] = { 1, 4096, 3, 100000, 0, 5, 5, 4095, 4097 };
	static const size_t empty[] = { 0, 0, 8192, 0 };
	static const size_t large[] = { 256 << 10, 1, (256 << 10) + 4097 };

	vector(small, 9, 100000, 5);
	vector(mixed, 9, 300000, 4095);
	vector(empty, 4, 81920, 64);
	vector(large, 3, (512 << 10) + 12345, 1);
}

static void splices(void)
{
	char name[] = "/tmp/vectors.XXXXXX";
	int file = mkstemp(name), pipes[2];
	off_t offset = 0;
	ssize_t n;

	ok(file >= 0 && !unlink(name) && !pipe(pipes));
	next_pass();
	ok(write(file, out, 300007) == 300007 && lseek(fd, 12345, SEEK_SET) == 12345);
	for (size_t left = 300007; left; left -= n) {
		n = sendfile(fd, file, &offset, left);
		check(n > 0, "sendfile: %s", strerror(errno));
	}
	ok(pread(fd, in, 300007, 12345) == 300007);
	check_bytes(in, out, 300007, "sendfile");
	ok(!fsync(fd) && !fdatasync(fd));
	/* splice from the device is not supported: the memory has no page cache. */
	n = splice(fd, NULL, pipes[1], NULL, 4096, 0);
	check(n == -1 && errno == EINVAL, "splice gave %zd: %s", n, strerror(errno));
	close(file);
	close(pipes[0]);
	close(pipes[1]);
}

/* One call of aio; returns its result. */
static long aio_call(aio_context_t context, int op, void *bytes, size_t length, off_t offset)
{
	struct iocb call = { .aio_lio_opcode = op, .aio_fildes = fd, .aio_buf = (uintptr_t)bytes,
			     .aio_nbytes = length, .aio_offset = offset };
	struct iocb *calls[] = { &call };
	struct io_event event;

	/* The kernel may refuse at submission or at completion. */
	if (syscall(SYS_io_submit, context, 1, calls) != 1)
		return -errno;
	aio_take(context, 1, 1, &event);
	return event.res;
}

static void aio(void)
{
	static const size_t lengths[] = { 1, 4097, 500001, AREA };
	size_t whole = 6 << 20, end = 2 * page_bytes();
	aio_context_t context = 0;
	uint8_t *hole;

	if (syscall(SYS_io_setup, 4, &context) && errno == ENOSYS)
		return;
	for (unsigned int i = 0; i < 4; i++) {
		long length = lengths[i];

		next_pass();
		check(aio_call(context, IOCB_CMD_PWRITE, out, length, 9) == length, "aio");
		check(aio_call(context, IOCB_CMD_PREAD, in, length, 9) == length, "aio");
		check_bytes(in, out, length, "aio");
		check_value(in + length, GUARD_VALUE, GUARD_BYTES, "after aio");
	}
	/* The transfer works too if it is longer than the driver moves asynchronously. */
	hole = zeroed(whole);
	check(aio_call(context, IOCB_CMD_PREAD, hole, whole, 0) == (long)whole, "aio");
	check_bytes(hole + 9, out, AREA, "long aio");
	/* A buffer that ends in a hole moves the bytes before it; one in the hole moves nothing. */
	ok(!munmap(hole + end, whole - end));
	check(aio_call(context, IOCB_CMD_PREAD, hole + 1, 3 << 20, 0) == (long)end - 1, "to a hole");
	check(aio_call(context, IOCB_CMD_PREAD, hole + end, 4096, 0) == -EFAULT, "in a hole");
	check(aio_call(context, IOCB_CMD_PWRITE, out, 0, 0) == 0, "length 0");
	syscall(SYS_io_destroy, context);
	munmap(hole, end);
}

/* Ten small parts, one after the other; the sixth is not mapped. */
static void faults(void)
{
	struct iovec parts[10];

	next_pass();
	for (unsigned int i = 0; i < 10; i++)
		parts[i] = (struct iovec){ i == 5 ? (void *)16 : out + 100 * i, 100 };
	ok(pwritev(fd, parts, 10, 0) == 500 && preadv(fd, parts, 10, 0) == 500);
	ok(pwritev(fd, parts + 5, 5, 0) == -1 && errno == EFAULT);
	ok(preadv(fd, parts + 5, 5, 0) == -1 && errno == EFAULT);
}

static void huge(void)
{
	uint8_t *bytes = zeroed(4 << 20);
	uint8_t *aligned = (uint8_t *)(((uintptr_t)bytes + (2 << 20) - 1) & ~((2ul << 20) - 1));
	uint8_t *expected = malloc(2 << 20);

	madvise(aligned, 2 << 20, MADV_HUGEPAGE);
	check(expected, "memory");
	fill(expected, 2 << 20, ++pass);
	memcpy(aligned, expected, 2 << 20);
	ok(pwrite(fd, aligned + 1, (2 << 20) - 1, 3) == (2 << 20) - 1);
	memset(aligned, 0, 2 << 20);
	ok(pread(fd, aligned + 1, (2 << 20) - 1, 3) == (2 << 20) - 1);
	check_bytes(aligned + 1, expected + 1, (2 << 20) - 1, "huge page");
	check(!aligned[0], "before the buffer");
	munmap(bytes, 4 << 20);
	free(expected);
}

/* A mapped file as the buffer: its pages must be dirty afterwards. */
static void file_pages(void)
{
	char name[] = "/tmp/vectors.XXXXXX";
	int file = mkstemp(name);
	uint8_t *map;

	ok(file >= 0 && !unlink(name) && !ftruncate(file, 65536));
	map = mapped(file, 0, 65536);
	next_pass();
	ok(pwrite(fd, out, 65536, 0) == 65536 && pread(fd, map, 65536, 0) == 65536 && !munmap(map, 65536));
	ok(pread(file, in, 65536, 0) == 65536);
	check_bytes(in, out, 65536, "file");
	close(file);
}

/* A copy-on-write buffer: the card's data must land in the parent's pages. */
static void forks(void)
{
	next_pass();
	ok(pwrite(fd, out, 65536, 0) == 65536);
	for (unsigned int i = 0; i < 20; i++) {
		pid_t child;

		memset(in, GUARD_VALUE, 65536);
		child = forked();
		if (!child) {
			usleep(1000 * (i % 4));
			check_value(in, GUARD_VALUE, 65536, "the child's copy");
			_exit(0);
		}
		ok(pread(fd, in, 65536, 0) == 65536);
		check_bytes(in, out, 65536, "with a child");
		wait_child(child);
	}
}

int main(void)
{
	fd = open_device();
	out = aligned_alloc(4096, AREA);
	in = aligned_alloc(4096, AREA + GUARD_BYTES);
	check(out && in, "memory");
	vectors();
	splices();
	aio();
	faults();
	huge();
	file_pages();
	forks();
	finish("ways");
}
