// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Buffers that are moved without a copy and without a waiting thread: fixed buffers of io_uring, and vectors of several
 * pieces through aio. RWF_NOWAIT refuses a call that is not asynchronous, and debugfs counts copied bytes.
 * usage: pieces fixed|vector
 */
#include <linux/fs.h>
#include "uring.h"

#define BYTES (3 << 20)

static int fd;
static uint8_t *out, *in;

static long long copied_bytes(void)
{
	return number_in("/sys/kernel/debug/litepcie/copied_bytes");
}

/* One call through io_uring, in the registered buffer `index`. */
static int fixed_call(struct uring *ring, int opcode, uint8_t *memory, unsigned int index, size_t bytes, off_t place)
{
	uring_put(ring, (struct io_uring_sqe){ .opcode = opcode, .fd = fd, .addr = (uintptr_t)memory, .len = bytes,
					       .off = place, .buf_index = index });
	uring_enter(ring, 1, 1);
	return uring_take(ring).res;
}

static void fixed(void)
{
	static const struct { size_t offset, bytes, place; } calls[] = {
		{ 0, 1, 0 }, { 1, 4095, 7 }, { 4095, 2, 8191 }, { 5, 64, 3 }, { 0, 4096, 4096 }, { 4093, 70001, 12345 },
		{ 3, 1 << 20, 1 }, { 17, (2 << 20) + 4099, 100 }, { 0, BYTES, 0 },
	};
	struct iovec buffers[] = { { out, BYTES }, { in, BYTES } };
	long long copied = copied_bytes();
	struct uring ring;

	uring_open(&ring, 4, 0);
	ok(!syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_BUFFERS, buffers, 2));
	for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++) {
		size_t offset = calls[i].offset, bytes = calls[i].bytes;
		int moved;

		fill(out, offset + bytes, i);
		memset(in, GUARD_VALUE, BYTES);
		moved = fixed_call(&ring, IORING_OP_WRITE_FIXED, out + offset, 0, bytes, calls[i].place);
		check(moved == (int)bytes, "write %u: %d", i, moved);
		moved = fixed_call(&ring, IORING_OP_READ_FIXED, in + offset, 1, bytes, calls[i].place);
		check(moved == (int)bytes, "read %u: %d", i, moved);
		check_value(in, GUARD_VALUE, offset, "before");
		check_bytes(in + offset, out + offset, bytes, "fixed");
		check_value(in + offset + bytes, GUARD_VALUE, BYTES - offset - bytes, "after");
	}
	check(copied_bytes() == copied, "%lld bytes were copied", copied_bytes() - copied);
}

static long long vector_call(aio_context_t context, bool writes, struct iovec *pieces, unsigned int count, off_t place)
{
	struct iocb call = { .aio_fildes = fd, .aio_lio_opcode = writes ? IOCB_CMD_PWRITEV : IOCB_CMD_PREADV,
		.aio_buf = (uintptr_t)pieces, .aio_nbytes = count, .aio_offset = place, .aio_rw_flags = RWF_NOWAIT };
	struct io_event event;

	aio_submit(context, &call);
	aio_take(context, 1, 1, &event);
	return event.res;
}

static void vector(void)
{
	/* Each piece is a page at least, at some alignment; 0 ends a row. */
	const size_t page = page_bytes();
	const size_t rows[][6] = {
		{ page, page }, { page, page + 904, page + 1 }, { 100001, page + 3, 65536, 2 * page - 1 },
		{ 1 << 20, page, 1 << 20, page + 904, page },
		{ page, 100 }, /* one short piece at the end is pinned too */
	};
	aio_context_t context = aio_setup(4);
	long long copied = copied_bytes();

	for (unsigned int row = 0; row < ARRAY_SIZE(rows); row++) {
		struct iovec to[6], from[6];
		size_t at = row, whole = 0;
		unsigned int count = 0;

		fill(out, BYTES, row);
		memset(in, GUARD_VALUE, BYTES);
		for (; count < 6 && rows[row][count]; count++) {
			to[count] = (struct iovec){ out + at, rows[row][count] };
			from[count] = (struct iovec){ in + at, rows[row][count] };
			at += rows[row][count] + 333; /* a gap */
			whole += rows[row][count];
		}
		check(vector_call(context, true, to, count, 77) == (long long)whole, "write of row %u", row);
		check(vector_call(context, false, from, count, 77) == (long long)whole, "read of row %u", row);
		for (unsigned int i = 0; i < count; i++) {
			check_bytes(from[i].iov_base, to[i].iov_base, to[i].iov_len, "vector");
			check_value((uint8_t *)from[i].iov_base + from[i].iov_len, GUARD_VALUE, 333, "gap");
		}
	}
	check(copied_bytes() == copied, "%lld bytes were copied", copied_bytes() - copied);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	fd = open_device();
	check(!posix_memalign((void **)&out, 4096, BYTES) && !posix_memalign((void **)&in, 4096, BYTES), "no memory");
	if (!strcmp(how, "fixed"))
		fixed();
	if (!strcmp(how, "vector"))
		vector();
	finish(how);
}
