// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* io_uring on a stream: a read without data does not wait in the call; it ends when a packet comes. */
#include "stream.h"

#include "../uring.h"

static struct uring ring;

static void submit(struct io_uring_sqe entry)
{
	uring_put(&ring, entry);
	uring_enter(&ring, 1, 0);
}

static void uring(void)
{
	static uint8_t got[5000], sent[5000];
	int fd = open_stream(O_RDWR);
	struct io_uring_sqe reads = { .opcode = IORING_OP_READ, .fd = fd, .addr = (uintptr_t)got,
				      .len = sizeof(got), .off = (uint64_t)-1 };
	struct io_uring_sqe writes = reads;

	uring_open(&ring, 4, 0);
	writes.opcode = IORING_OP_WRITE;
	writes.addr = (uintptr_t)sent;
	for (unsigned int i = 0; i < 20; i++) {
		int results[2];

		writes.len = 1 + i * 137;
		fill(sent, writes.len, i);
		submit(reads);
		check(!uring_ended(&ring), "a read of nothing has ended");
		submit(writes);
		results[0] = uring_take(&ring).res;
		results[1] = uring_take(&ring).res;
		check(results[0] == (int)writes.len && results[1] == (int)writes.len, "%d and %d of %u",
		      results[0], results[1], writes.len);
		check_bytes(got, sent, writes.len, "packet");
	}
}

const struct test uring_tests[] = { { "uring", uring }, { NULL, NULL } };
