// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* io_uring on a stream: a read without data does not wait in the call; it ends when a packet comes. */
#include "stream.h"

#include <linux/io_uring.h>
#include <sys/syscall.h>

static struct io_uring_params params;
static unsigned char *rings;

static unsigned int *word(unsigned int offset)
{
	return (unsigned int *)(rings + offset);
}

static void submit(int ring, struct io_uring_sqe *entries, struct io_uring_sqe entry)
{
	unsigned int tail = *word(params.sq_off.tail), place = tail % params.sq_entries;

	entries[place] = entry;
	word(params.sq_off.array)[place] = place;
	__atomic_store_n(word(params.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	check(syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0) == 1, "%s", strerror(errno));
}

static unsigned int completed(void)
{
	return __atomic_load_n(word(params.cq_off.tail), __ATOMIC_ACQUIRE) - *word(params.cq_off.head);
}

static int result(int ring)
{
	unsigned int head = *word(params.cq_off.head);
	struct io_uring_cqe *events = (struct io_uring_cqe *)(rings + params.cq_off.cqes);

	while (!completed())
		check(syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 0, "%s",
		      strerror(errno));
	__atomic_store_n(word(params.cq_off.head), head + 1, __ATOMIC_RELEASE);
	return events[head % params.cq_entries].res;
}

static void uring(char **argv)
{
	static uint8_t got[5000], sent[5000];
	int fd = open_stream(O_RDWR), ring = syscall(SYS_io_uring_setup, 4, &params);
	struct io_uring_sqe reads = { .opcode = IORING_OP_READ, .fd = fd, .addr = (uintptr_t)got,
				      .len = sizeof(got), .off = (uint64_t)-1 };
	struct io_uring_sqe writes = reads, *entries;

	(void)argv;
	check(ring >= 0 && params.features & IORING_FEAT_SINGLE_MMAP, "%s", strerror(errno));
	rings = mmap(NULL, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
		     PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	entries = mmap(NULL, params.sq_entries * sizeof(*entries), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		       IORING_OFF_SQES);
	check(rings != MAP_FAILED && entries != MAP_FAILED, "%s", strerror(errno));
	writes.opcode = IORING_OP_WRITE;
	writes.addr = (uintptr_t)sent;
	for (unsigned int i = 0; i < 20; i++) {
		int results[2];

		writes.len = 1 + i * 137;
		fill(sent, writes.len, i);
		submit(ring, entries, reads);
		check(!completed(), "a read of nothing has ended");
		submit(ring, entries, writes);
		results[0] = result(ring);
		results[1] = result(ring);
		check(results[0] == (int)writes.len && results[1] == (int)writes.len, "%d and %d of %u",
		      results[0], results[1], writes.len);
		check_bytes(got, sent, writes.len, "packet");
	}
}

const struct test uring_tests[] = { { "uring", uring }, { NULL, NULL } };
