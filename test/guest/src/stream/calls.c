// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* read(), write() and poll(): packets of every size and their ends, settings, errors. */
#include "stream.h"
#include "../uring.h"

static const unsigned int sizes[] = { 1, 2, 3, 63, 64, 65, 255, 256, 257, 4095, 4096, 4097,
				      65535, 65536, 65537, 131072, 200001, 1 };

static void packets(void)
{
	int fd = opened(STREAM, O_RDWR);

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		loop_packet(fd, sizes[i], i);
	for (unsigned int i = 0; i < 30; i++)
		send_packet(fd, i + 1, 100 + i);
	ok(!fsync(fd));
	for (unsigned int i = 0; i < 30; i++)
		expect_packet(fd, i + 1, 100 + i);
}

/* Each size of a buffer and of the ring that differs, with a packet of exactly one buffer. */
static void shapes(void)
{
	static const struct { unsigned int depth, bytes; } shapes[] = { { 2, 64 }, { 1024, 64 }, { 2, 65 }, { 4, 4096 },
		{ 8, 4097 }, { 2, 1 << 20 }, { 32, 1 << 20 }, { 1024, 16384 } };

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		int fd = opened(STREAM, O_RDWR);

		for (unsigned int d = 0; d < 2; d++)
			set_up(fd, d, shapes[i].depth, shapes[i].bytes, 0);
		loop_packet(fd, 1, 1);
		loop_packet(fd, shapes[i].bytes, 2);
		loop_packet(fd, shapes[i].bytes + 1, 3);
		ok(!close(fd));
	}
}

static ssize_t write_with_header(int fd, const uint8_t *bytes, unsigned int length, unsigned int flags)
{
	struct litepcie_stream_header header = { length, flags };
	struct iovec pieces[2] = { { &header, sizeof(header) }, { (void *)bytes, length } };
	ssize_t n = writev(fd, pieces, 2);

	return n < 0 ? n : n - (ssize_t)sizeof(header);
}

/* usage: stream headers|aio|uring [direct] */
static int own_mode(void)
{
	return O_RDWR | (arguments[0] ? O_DIRECT : 0);
}

static void headers(void)
{
	struct litepcie_stream_header header;
	uint8_t sent[3000], got[3000];
	int fd = opened(STREAM, own_mode());
	size_t have = 0;
	ssize_t n;

	set_up(fd, LITEPCIE_TO_CARD, 0, 0, LITEPCIE_STREAM_HEADERS);
	set_up(fd, LITEPCIE_FROM_CARD, 0, 0, LITEPCIE_STREAM_HEADERS);
	fill(sent, sizeof(sent), 7);
	/* One packet of three writes, then one of one byte. */
	ok(write_with_header(fd, sent, 1000, LITEPCIE_STREAM_MORE) == 1000);
	ok(write_with_header(fd, sent + 1000, 1, LITEPCIE_STREAM_MORE) == 1);
	ok(write_with_header(fd, sent + 1001, 1999, 0) == 1999 && write_with_header(fd, sent, 1, 0) == 1);
	do {
		size_t most = have < 10 ? 5 : sizeof(got) - have;

		n = read_with_header(fd, &header, got + have, most);
		check(n > 0 && n == (ssize_t)header.bytes, "%zd, %u", n, header.bytes);
		have += n;
		check(header.flags == (have < 3000 ? LITEPCIE_STREAM_MORE : 0), "flags %x at %zu", header.flags, have);
	} while (have < 3000);
	check_bytes(got, sent, 3000, "packet");
	check(read_with_header(fd, &header, got, 100) == 1 && !header.flags, "one byte");
	/* Headers that are wrong, with nothing written. */
	check(write_with_header(fd, sent, 0, 0) == -1 && errno == EINVAL, "no bytes");
	check(write_with_header(fd, sent, 1, 2) == -1 && errno == EINVAL, "unknown flag");
	check(write(fd, sent, 4) == -1 && errno == EINVAL, "half a header");
	check(write(fd, sent, 20) == -1 && errno == EINVAL, "wrong bytes");
	ok(write_with_header(fd, sent, 9, 0) == 9);
	check(read(fd, got, 8) == -1 && errno == EINVAL, "no room for bytes");
	check(read_with_header(fd, &header, got, 100) == 9 && !header.flags, "nine bytes");
}

static void nonblock(void)
{
	struct litepcie_stream_setup to_host = { .size = sizeof(to_host), .direction = LITEPCIE_FROM_CARD, .depth = 16,
						 .buffer_bytes = 4096, .flags = LITEPCIE_STREAM_SET_FLUSH };
	struct litepcie_stream_setup to_card = { .size = sizeof(to_card), .direction = LITEPCIE_TO_CARD, .depth = 16,
						 .buffer_bytes = 4096 };
	int fd = opened(STREAM, O_RDWR | O_NONBLOCK);
	struct iovec piece = { malloc(65536), 65536 };
	size_t given = 0, got = 0;
	int ms = arguments[0] ? atoi(arguments[0]) : 1000; /* that a slow card takes for a buffer at most */
	ssize_t n;

	/* A slow link needs longer for a buffer than the flush lets it wait, which would end some half full. */
	check(!ioctl(fd, LITEPCIE_IOC_STREAM_SETUP, &to_host) && !to_host.flush_us, "no flush");
	ok(!ioctl(fd, LITEPCIE_IOC_STREAM_SETUP, &to_card));
	ok(read(fd, piece.iov_base, 1) == -1 && errno == EAGAIN);
	/* No one reads: the ring of the way back and the card fill up, then the ring of the way there. */
	while ((n = write(fd, piece.iov_base, 65536)) > 0 || poll(&(struct pollfd){ fd, POLLOUT, 0 }, 1, ms) == 1)
		given += n > 0 ? n : 0;
	ok(n == -1 && errno == EAGAIN);
	/* Two rings, and the RAM of the card. */
	check(given >= 2 * 65536 && given < 3 * 65536, "%zu bytes fit", given);
	check(counter("writer", "overruns") > 0, "the card waited, and no one counted");
	while (got < given) {
		await(fd, POLLIN);
		n = preadv2(fd, &piece, 1, -1, RWF_NOWAIT);
		check(n > 0, "%zd, %s", n, strerror(errno));
		got += n;
	}
	await(fd, POLLOUT);
	check(preadv2(fd, &piece, 1, -1, RWF_NOWAIT) == -1 && errno == EAGAIN, "empty");
	ok(!fcntl(fd, F_SETFL, 0));
	check(preadv2(fd, &piece, 1, -1, RWF_NOWAIT) == -1 && errno == EAGAIN, "empty");
}

static void exclusive(void)
{
	int reads = opened(STREAM, O_RDONLY), writes = opened(STREAM, O_WRONLY), fd;

	check(open(STREAM, O_RDONLY) == -1 && errno == EBUSY, "a second one that reads");
	check(open(STREAM, O_WRONLY) == -1 && errno == EBUSY, "a second one that writes");
	check(open(STREAM, O_RDWR) == -1 && errno == EBUSY, "a second one that does both");
	send_packet(writes, 100, 1);
	expect_packet(reads, 100, 1);
	close(writes);
	check(open(STREAM, O_RDWR) == -1 && errno == EBUSY, "one direction is in use");
	fd = opened(STREAM, O_WRONLY);
	/* What the first one wrote is not lost by its end, nor what the next one writes. */
	send_packet(fd, 200, 2);
	expect_packet(reads, 200, 2);
	check(lseek(fd, 0, SEEK_SET) == -1 && errno == ESPIPE, "a stream has no position");
	check(read(fd, &fd, 1) == -1 && errno == EBADF, "not open for reading");
}

static int setup_errno(int fd, struct litepcie_stream_setup setup)
{
	setup.size = setup.size ? setup.size : sizeof(setup);
	return ioctl(fd, LITEPCIE_IOC_STREAM_SETUP, &setup) ? errno : 0;
}

static void settings(void)
{
	struct litepcie_stream_setup now;
	int fd = opened(STREAM, O_RDWR), one = -1;

#define S(...) setup_errno(fd, (struct litepcie_stream_setup){ __VA_ARGS__ })
	check(S(.depth = 3) == EINVAL && S(.depth = 1) == EINVAL && S(.depth = 2048) == EINVAL, "depth");
	check(S(.buffer_bytes = 63) == EINVAL && S(.buffer_bytes = (1 << 20) + 1) == EINVAL, "buffer");
	check(S(.depth = 1024, .buffer_bytes = 1 << 20) == EPERM, "root allows less");
	check(S(.mode = 2) == EINVAL && S(.flags = 8) == EINVAL && S(.direction = 2) == EINVAL, "mode");
	check(S(.reserved0 = 1) == EINVAL && S(.reserved = { 1 }) == EINVAL, "reserved");
	check(S(.flush_us = 65536) == EINVAL && S(.moderation_us = 65536) == EINVAL, "16 bits");
	check(S(.size = 40) == EINVAL && S(.size = 5000) == E2BIG, "size");
	check(ioctl(fd, LITEPCIE_IOC_STREAM_SETUP, NULL) == -1 && errno == EFAULT, "no structure");
	check(ioctl(fd, LITEPCIE_IOC_INFO, &one) == -1 && errno == ENOTTY, "of the other device");
	now = set_up(fd, LITEPCIE_FROM_CARD, 8, 1000, 0);
	check(now.depth == 8 && now.buffer_bytes == 1000 && now.flush_us == 100, "what is set");
	check(!S(.direction = LITEPCIE_FROM_CARD, .moderation_count = 4, .moderation_us = 50), "moderation");
	loop_packet(fd, 5000, 1);
	check(S(.direction = LITEPCIE_FROM_CARD, .depth = 16) == EBUSY, "in use");
	check(!S(.direction = LITEPCIE_FROM_CARD, .depth = 8), "no change");
	check(S(.direction = LITEPCIE_TO_CARD, .depth = 16) == EBUSY, "in use");
	close(fd);
	fd = opened(STREAM, O_RDONLY);
	check(S(.direction = LITEPCIE_TO_CARD) == EINVAL, "not open for it");
	now = set_up(fd, LITEPCIE_FROM_CARD, 0, 0, 0);
	check(now.depth == 64 && now.buffer_bytes == 65536 && !now.moderation_count, "anew");
#undef S
}

/* Without an end and without a full buffer, data comes after the time of the flush. */
static void flush(void)
{
	struct litepcie_stream_header header;
	uint8_t bytes[8] = "goes on", got[100];
	int fd = opened(STREAM, O_RDWR);

	set_up(fd, LITEPCIE_TO_CARD, 0, 0, LITEPCIE_STREAM_HEADERS);
	set_up(fd, LITEPCIE_FROM_CARD, 0, 0, LITEPCIE_STREAM_HEADERS);
	/* A beat of 16 bytes leaves the card's reader when it is whole. */
	for (unsigned int i = 0; i < 4; i++)
		ok(write_with_header(fd, bytes, 8, LITEPCIE_STREAM_MORE) == 8);
	for (ssize_t have = 0, n; have < 16; have += n) {
		n = read_with_header(fd, &header, got + have, sizeof(got) - have);
		check(n > 0 && header.flags == LITEPCIE_STREAM_MORE, "%zd", n);
	}
	check_bytes(got + 8, bytes, 8, "flushed");
	ok(write_with_header(fd, bytes, 1, 0) == 1);
	do
		ok(read_with_header(fd, &header, got, sizeof(got)) > 0);
	while (header.flags);
}

/* A page that is not there: nothing is lost, and nothing is written. */
static void fault(void)
{
	uint8_t *page = zeroed(8192);
	int fd = opened(STREAM, O_RDWR);

	ok(page != MAP_FAILED && !munmap(page + 4096, 4096) && write(fd, page, 8192) == -1 && errno == EFAULT);
	check(read(fd, NULL, 0) == 0 && write(fd, NULL, 0) == 0, "no bytes");
	send_packet(fd, 100, 3);
	ok(read(fd, page + 4096, 100) == -1 && errno == EFAULT && read(fd, page + 4096 - 40, 100) == 40);
	check(page[4056] == pattern(0, 3) && page[4095] == pattern(39, 3), "the first 40 bytes");
	check(read(fd, page, 100) == 60 && page[0] == pattern(40, 3), "the rest");
}

static void *writer(void *fd)
{
	uint32_t seed = 1;

	for (unsigned int i = 0; i < 300; i++) {
		seed = seed * 1664525 + 1013904223;
		send_packet(*(int *)fd, 1 + (seed >> 8) % (i % 10 ? 5000 : 150000), i);
		if (seed >> 29 == 7)
			usleep(seed >> 24);
	}
	return NULL;
}

/* Random sizes, and stalls on both sides. */
static void random_sizes(void)
{
	uint32_t seed = 1, stall = 7;
	int fd = opened(STREAM, O_RDWR);
	pthread_t thread;

	set_up(fd, LITEPCIE_FROM_CARD, 16, 8192, 0);
	set_up(fd, LITEPCIE_TO_CARD, 16, 3000, 0);
	check(!pthread_create(&thread, NULL, writer, &fd), "thread");
	for (unsigned int i = 0; i < 300; i++) {
		seed = seed * 1664525 + 1013904223;
		stall = stall * 22695477 + 1;
		if (stall >> 29 == 3)
			usleep(stall >> 20);
		expect_packet(fd, 1 + (seed >> 8) % (i % 10 ? 5000 : 150000), i);
	}
	check(!pthread_join(thread, NULL), "join");
}

static void aio(void)
{
	static uint8_t bytes[4][5000], got[4][5000];
	struct iocb blocks[8], *list[8];
	struct io_event events[8];
	aio_context_t context = aio_setup(8);
	int fd = opened(STREAM, own_mode());

	for (unsigned int i = 0; i < 8; i++) {
		unsigned int n = i % 4;

		fill(bytes[n], 5000, n);
		blocks[i] = (struct iocb){ .aio_fildes = fd, .aio_nbytes = 1000 + n,
					   .aio_lio_opcode = i < 4 ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
					   .aio_buf = (uintptr_t)(i < 4 ? bytes[n] : got[n]) };
		list[i] = &blocks[i];
	}
	ok(syscall(SYS_io_submit, context, 8, list) == 8);
	aio_take(context, 8, 8, events);
	for (unsigned int n = 0; n < 4; n++)
		check_bytes(got[n], bytes[n], 1000 + n, "packet");
}

static struct uring ring;

static void submit(struct io_uring_sqe entry)
{
	uring_put(&ring, entry);
	uring_enter(&ring, 1, 0);
}

/* A read without data does not wait in the call; it ends when a packet comes. */
static void uring(void)
{
	static uint8_t got[5000], sent[5000];
	int fd = opened(STREAM, own_mode());
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

const struct test call_tests[] = {
	{ "packets", packets }, { "shapes", shapes }, { "headers", headers }, { "nonblock", nonblock },
	{ "exclusive", exclusive }, { "settings", settings }, { "flush", flush }, { "fault", fault },
	{ "random", random_sizes }, { "aio", aio }, { "uring", uring }, { }
};
