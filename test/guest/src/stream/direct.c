// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* O_DIRECT: the card moves the data from and to the memory of each call, and gets this back whatever ends the call. */
#include "stream.h"
#include "../uring.h"

#define MOST (2u << 20)

/* A short packet, one that needs a table, more than one request, and what no page aligns. */
static const unsigned int sizes[] = { 4096, 1, 8192, 12345, 65536, 1 << 20, (1 << 20) + 4096, 100, MOST };

unsigned long long copied(void)
{
	return number_in("/sys/kernel/debug/litepcie/copied_bytes");
}

long long pinned(void)
{
	return number_in("/sys/kernel/debug/litepcie/pinned_pages");
}

void await_pinned(void)
{
	while (!pinned())
		usleep(1000);
}

static void *sends(void *fd)
{
	uint8_t *memory = zeroed(MOST + 4096);

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint8_t *from = memory + i % 2 * 100;

		fill(from, sizes[i], i);
		write_all(*(int *)fd, from, sizes[i]);
	}
	return NULL;
}

static void direct(void)
{
	int fd = opened(STREAM, O_RDWR | O_DIRECT), plain;
	struct litepcie_stream_advance advance = { .size = sizeof(advance) };
	unsigned long long before = copied();
	struct guarded to = guarded_alloc(MOST + 4096, 0);
	uint8_t *expected = malloc(MOST), small[200];
	struct iovec pieces[] = { { small, 100 }, { small + 100, 100 } };
	pthread_t thread;

	check(!pthread_create(&thread, NULL, sends, &fd), "thread");
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		ssize_t have = 0, n;

		memset(to.bytes, GUARD_VALUE, to.length);
		for (; have < (ssize_t)sizes[i]; have += n) {
			n = read(fd, to.bytes + have, to.length - have);
			check(n > 0, "packet %u after %zd: %s", i, have, strerror(errno));
		}
		fill(expected, sizes[i], i);
		check(have == sizes[i], "%zd bytes of %u", have, sizes[i]);
		check_bytes(to.bytes, expected, have, "packet");
		check_value(to.bytes + have, GUARD_VALUE, to.length - have, "after the packet");
		guarded_check(&to, "guard");
	}
	check(!pthread_join(thread, NULL), "join");
	/* Pieces smaller than a page are copied. */
	ok(writev(fd, pieces, 2) == 200 && readv(fd, pieces, 2) == 200);
	check(copied() == before + 400 && !pinned(), "%llu copied, %lld pinned", copied() - before, pinned());
	/* What needs a ring, or memory that the card has between calls. */
	expect_errno(ioctl(fd, LITEPCIE_IOC_STREAM_ADVANCE, &advance), EOPNOTSUPP);
	expect_errno(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0), ENODEV);
	ok(!fcntl(fd, F_SETFL, O_NONBLOCK | O_DIRECT));
	expect_errno(read(fd, small, 100), EOPNOTSUPP);
	close(fd);
	plain = opened(STREAM, O_RDWR);
	expect_errno(fcntl(plain, F_SETFL, O_DIRECT), EINVAL);
	loop_packet(plain, 5000, 1);
}

static void put_fixed(struct uring *u, int fd, int opcode, void *memory, unsigned int bytes)
{
	uring_put(u, (struct io_uring_sqe){ .opcode = opcode, .fd = fd, .addr = (uintptr_t)memory, .len = bytes,
		.off = (uint64_t)-1, .user_data = opcode, .buf_index = opcode == IORING_OP_WRITE_FIXED });
	uring_enter(u, 1, 0);
}

/* Fixed buffers, and a process that ends while io_uring reads for it. */
static void direct_uring(void)
{
	uint8_t *sent = zeroed(MOST), *got = zeroed(MOST);
	struct iovec buffers[2] = { { got, MOST }, { sent, MOST } };
	unsigned long long before = copied();
	int fd = opened(STREAM, O_RDWR | O_DIRECT);
	struct io_uring_cqe end;
	struct uring ring;
	pid_t child;

	uring_open(&ring, 4, 0);
	ok(!syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_BUFFERS, buffers, 2));
	for (unsigned int bytes = 4096; bytes <= 1 << 20; bytes <<= 4) {
		unsigned int have = 0;

		fill(sent, bytes, bytes);
		put_fixed(&ring, fd, IORING_OP_WRITE_FIXED, sent, bytes);
		put_fixed(&ring, fd, IORING_OP_READ_FIXED, got, MOST);
		for (unsigned int left = 2; left; left--) {
			end = uring_take(&ring);
			check(end.res > 0, "%s", strerror(-end.res));
			if (end.user_data == IORING_OP_WRITE_FIXED) {
				check(end.res == (int)bytes, "%d of %u", end.res, bytes);
				continue;
			}
			have += end.res;
			if (have < bytes) {
				put_fixed(&ring, fd, IORING_OP_READ_FIXED, got + have, MOST - have);
				left++;
			}
		}
		check(have == bytes, "%u of %u", have, bytes);
		check_bytes(got, sent, bytes, "packet");
	}
	check(copied() == before, "%llu bytes were copied", copied() - before);
	close(fd);
	child = forked();
	if (!child) {
		struct uring own;

		fd = opened(STREAM, O_RDONLY | O_DIRECT);
		uring_open(&own, 4, 0);
		uring_put(&own, (struct io_uring_sqe){ .opcode = IORING_OP_READ, .fd = fd, .len = MOST,
			.addr = (uintptr_t)got, .off = (uint64_t)-1 });
		uring_enter(&own, 1, 0);
		await_pinned();
		_exit(0);
	}
	wait_child(child);
	/* The kernel closes an io_uring after its process has ended. */
	while ((fd = open(STREAM, O_RDWR | O_DIRECT)) < 0)
		ok(errno == EBUSY);
	check(!pinned(), "%lld", pinned());
	loop_packet(fd, 3000, 1);
}

/* A signal with nothing under way: it costs nothing, and what comes then is for the next call. */
static void direct_signal(void)
{
	unsigned long long cuts = counter("writer", "cuts"), lost = counter("writer", "lost_bytes");
	int fd = opened(STREAM, O_RDWR | O_DIRECT);
	uint8_t *memory = zeroed(4096);

	alarm_ends_calls();
	alarm(1);
	ok(read(fd, memory, 4096) == -1 && errno == EINTR);
	check(!pinned() && counter("writer", "cuts") == cuts && counter("writer", "lost_bytes") == lost,
	      "a signal costs something");
	send_packet(fd, 1000, 3);
	alarm(20);
	expect_packet(fd, 1000, 3);
	alarm(0);
	check_value(memory, 0, 4096, "of the call that ended");
}

/* A kill while memory is posted, of one that reads and one that writes; a signal in a packet. */
static void direct_ends(void)
{
	static const struct litepcie_stream_header more = { 4096, LITEPCIE_STREAM_MORE };
	unsigned long long lost = counter("reader", "lost_bytes");
	uint8_t *memory = zeroed(MOST);
	int fd, status;
	pid_t child;

	for (int writes = 0; writes < 2; writes++) {
		child = forked();
		if (!child) {
			fd = opened(STREAM, (writes ? O_WRONLY : O_RDONLY) | O_DIRECT);
			if (writes)
				write_all(fd, memory, MOST);
			exit(read(fd, memory, MOST) > 0);
		}
		await_pinned();
		check(!kill(child, SIGKILL) && wait(&status) == child && WIFSIGNALED(status), "status %x", status);
		check(!pinned(), "%lld", pinned());
	}
	check(counter("reader", "lost_bytes") > lost, "lost bytes that no one counted");
	resync();
	/* The bytes of a packet that goes on: the card may have some of them, so a reset would cut it. */
	fd = opened(STREAM, O_RDWR | O_DIRECT);
	set_up(fd, LITEPCIE_TO_CARD, 0, 0, LITEPCIE_STREAM_HEADERS);
	ok(writev(fd, (struct iovec[]){ { (void *)&more, sizeof(more) }, { memory, 4096 } }, 2) == 4104);
	for (ssize_t n, have = 0; have < 4096; have += n)
		ok((n = read(fd, memory, 8192)) > 0);
	alarm_ends_calls();
	alarm(1);
	ok(read(fd, memory, 4096) == -1 && errno == ENODATA && !pinned());
	close(fd);
	resync();
}

const struct test direct_tests[] = {
	{ "direct", direct }, { "direct_uring", direct_uring }, { "direct_signal", direct_signal },
	{ "direct_ends", direct_ends }, { }
};
