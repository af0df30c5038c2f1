// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* What ends a stream in the middle: resets, unbinding, signals, closing. All losses are counted. */
#include "../uring.h"
#include "stream.h"

/* Waits for data; says when it does. Prints the errno that ends it. usage: stream waits read|poll|direct */
static void waits(void)
{
	bool polls = !strcmp(arguments[0], "poll");
	int fd = opened(STREAM, O_RDWR | (strcmp(arguments[0], "direct") ? 0 : O_DIRECT));
	struct pollfd p = { fd, POLLIN, 0 };
	uint8_t byte;
	ssize_t n = 0;

	loop_packet(fd, 10, 1);
	printf("waits\n");
	fflush(stdout);
	if (!polls)
		n = read(fd, &byte, 1);
	else
		ok(poll(&p, 1, -1) == 1);
	if (polls) {
		check(p.revents & POLLERR, "events %x", p.revents);
		printf("events:%s%s\n", p.revents & POLLERR ? " error" : "", p.revents & POLLHUP ? " hang-up" : "");
		n = read(fd, &byte, 1);
	}
	printf("ended: %s\n", n < 0 ? strerror(errno) : "bytes");
	fflush(stdout);
	/* A card that is there again works; one that is gone does not. */
	if (errno != ENODEV) {
		n = write(fd, "anew", 4);
		check(n == -1 && errno == ENODATA, "the other direction says so too: %zd", n);
		loop_packet(fd, 100, 2);
	} else {
		ok(write(fd, "x", 1) == -1 && errno == ENODEV);
		ok(fsync(fd) == -1 && errno == ENODEV);
	}
	printf("after\n");
}

/* A program that has the ring mapped gets SIGBUS when the card is gone. */
static void unmapped(void)
{
	struct litepcie_stream_info info;
	struct pollfd p = { .events = POLLIN };
	int status, fd = opened(STREAM, O_RDWR);
	volatile uint8_t *page;

	info = info_of(fd, LITEPCIE_FROM_CARD);
	page = mmap(NULL, info.map_bytes, PROT_READ, MAP_SHARED, fd, info.map_offset);
	ok(page != MAP_FAILED && page[info.buffers_offset] == 0);
	printf("waits\n");
	fflush(stdout);
	p.fd = fd;
	check(poll(&p, 1, -1) == 1 && p.revents & POLLHUP, "events %x", p.revents);
	if (!fork()) {
		check(page[info.buffers_offset] == 0, "no signal");
		exit(0);
	}
	check(wait(&status) > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS, "status %x", status);
}

/* Unread data is dropped by close(), and counted; the next file begins anew. */
static void closing(void)
{
	unsigned long long lost = counter("writer", "lost_bytes"), cuts = counter("writer", "cuts");
	int fd = opened(STREAM, O_RDWR);

	send_packet(fd, 5000, 1);
	await(fd, POLLIN);
	expect_packet(fd, 5000, 1);
	check(counter("writer", "lost_bytes") == lost, "nothing is lost yet");
	send_packet(fd, 1000, 2);
	await(fd, POLLIN);
	ok(!fsync(fd));
	close(fd);
	check(counter("writer", "lost_bytes") == lost + 1000, "%llu", counter("writer", "lost_bytes") - lost);
	check(counter("writer", "cuts") == cuts + 1, "%llu", counter("writer", "cuts") - cuts);
	fd = opened(STREAM, O_RDWR);
	loop_packet(fd, 77, 3);
}

/* Killed in the middle of a packet, with everything full. */
static void killed(void)
{
	unsigned long long lost = counter("reader", "lost_bytes");
	int fd, status;
	pid_t child;

	for (unsigned int i = 0; i < 3; i++) {
		child = fork();
		if (!child) {
			uint8_t *bytes = calloc(1, 32 << 20);

			fd = opened(STREAM, O_RDWR);
			write_all(fd, bytes, 32 << 20);
			exit(0);
		}
		usleep(300000);
		check(!kill(child, SIGKILL) && wait(&status) == child && WIFSIGNALED(status), "status %x", status);
		resync();
		fd = opened(STREAM, O_RDWR);
		loop_packet(fd, 500, i);
		close(fd);
	}
	check(counter("reader", "lost_bytes") > lost, "lost bytes that no one counted");
}

/* A program ends in the middle of a packet; the one that receives stays, and sees that. */
static void forwarded(void)
{
	unsigned long long cuts = counter("writer", "cuts");
	struct litepcie_stream_header header;
	struct iovec pieces[2] = { { &header, sizeof(header) } };
	int sender, receiver = opened(STREAM, O_RDONLY);
	uint8_t bytes[1000];
	ssize_t n;

	set_up(receiver, LITEPCIE_FROM_CARD, 0, 0, LITEPCIE_STREAM_HEADERS);
	for (unsigned int i = 0; i < 3; i++) {
		size_t have = 0;

		sender = opened(STREAM, O_WRONLY);
		set_up(sender, LITEPCIE_TO_CARD, 0, 0, LITEPCIE_STREAM_HEADERS);
		header = (struct litepcie_stream_header){ 160 + 16 * i, LITEPCIE_STREAM_MORE };
		pieces[1] = (struct iovec){ bytes, header.bytes };
		fill(bytes, header.bytes, i);
		ok(writev(sender, pieces, 2) > 0 && !close(sender));
		sender = opened(STREAM, O_WRONLY);
		send_packet(sender, 77, i);
		while ((n = read_with_header(receiver, &header, bytes, sizeof(bytes))) > 0) {
			check(header.flags == LITEPCIE_STREAM_MORE, "a cut packet looks whole");
			have += n;
		}
		check(errno == ENODATA && have == 160 + 16 * i, "%s after %zu bytes", strerror(errno), have);
		check(counter("writer", "cuts") == cuts + i + 1, "%llu", counter("writer", "cuts"));
		n = read_with_header(receiver, &header, bytes, sizeof(bytes));
		check(n == 77 && !header.flags, "%zd bytes, flags %x", n, header.flags);
		ok(!close(sender));
	}
}

static void signals(void)
{
	int fd = opened(STREAM, O_RDWR), end;
	static uint8_t full[1 << 16];
	uint8_t byte;

	alarm_ends_calls();
	alarm(1);
	ok(read(fd, &byte, 1) == -1 && errno == EINTR);
	loop_packet(fd, 5, 5);
	ok(!fcntl(fd, F_SETFL, O_NONBLOCK));
	while (write(fd, full, sizeof(full)) > 0)
		;
	ok(!fcntl(fd, F_SETFL, 0));
	end = uring_cancelled((struct io_uring_sqe){ .opcode = IORING_OP_FSYNC, .fd = fd });
	check(end == -EINTR, "fsync: %d", end);
	/* close() does not wait for the full loop. */
	ok(!fcntl(fd, F_SETFL, O_NONBLOCK));
}

/* Sends and checks packets until an error that a fault of the link causes; prints it. usage: until_error [direct] */
static void until_error(void)
{
	uint8_t bytes[20000];
	/* With O_DIRECT, each call waits: one packet at a time, which the card can hold. */
	size_t most = arguments[0] ? 1000 : sizeof(bytes), have;
	int fd = opened(STREAM, O_RDWR | (arguments[0] ? O_DIRECT : O_NONBLOCK)), error = 0;
	ssize_t n;

	fill(bytes, sizeof(bytes), 1);
	for (unsigned int i = 0; i < 100000 && !error; i++) {
		struct pollfd p = { fd, POLLIN | POLLOUT, 0 };

		check(poll(&p, 1, 60000) == 1, "no event in a minute");
		if ((p.revents & POLLOUT) && write(fd, bytes, most) < 0 && errno != EAGAIN)
			error = errno;
		for (have = 0; !error && (p.revents & POLLIN) && have < most; have += n) {
			n = read(fd, bytes, most);
			if (n < 0 && errno != EAGAIN)
				error = errno;
			if (n < 0 || !arguments[0])
				break;
		}
	}
	printf("error: %s\n", strerror(error));
	ok(close(fd) == 0);
	resync();
	fd = opened(STREAM, O_RDWR);
	loop_packet(fd, 500, 3);
}

const struct test loss_tests[] = {
	{ "waits", waits }, { "mapped", unmapped }, { "closing", closing }, { "killed", killed },
	{ "forwarded", forwarded }, { "signals", signals }, { "until_error", until_error }, { }
};
