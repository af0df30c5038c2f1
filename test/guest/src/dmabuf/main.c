// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Moves between buffers of other devices and the card's memory.
 *
 * usage: dmabuf exporter|udmabuf moves|arguments|refused|fence|cancel|close|unbind
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>
#include "dmabuf.h"

#define UNBIND "/sys/bus/pci/drivers/litepcie/unbind"
#define BIND   "/sys/bus/pci/drivers/litepcie/bind"
#define BDF    "0000:01:00.0"

static int fd;

/* Buffer to card and back, at these places; what lies around them keeps its values. */
static void round_trip(struct buffer *b, size_t offset, size_t card_offset, size_t bytes, int async)
{
	static uint32_t pass;
	uint8_t *copy = malloc(bytes), *all = malloc(b->bytes);
	long ticket;

	check(copy && all, "no memory");
	pass += 2;
	buffer_begin(b);
	fill(b->memory, b->bytes, pass);
	buffer_end(b);
	if (async) {
		ticket = start(fd, b, LITEPCIE_READER, offset, card_offset, bytes);
		check(ticket > 0, "%s", strerror(errno));
		check(wait_for(fd, ticket, 0) == (long)bytes, "%s", strerror(errno));
		expect_errno(wait_for(fd, ticket, 0), ENOENT);
	} else {
		check(move(fd, b, LITEPCIE_READER, offset, card_offset, bytes) == (long)bytes, "%s", strerror(errno));
	}
	check(pread(fd, copy, bytes, card_offset) == (ssize_t)bytes, "%s", strerror(errno));
	fill(all, b->bytes, pass);
	check_bytes(copy, all + offset, bytes, "buffer to card");

	fill(copy, bytes, pass + 1);
	check(pwrite(fd, copy, bytes, card_offset) == (ssize_t)bytes, "%s", strerror(errno));
	if (async) {
		ticket = start(fd, b, LITEPCIE_WRITER, offset, card_offset, bytes);
		check(ticket > 0 && wait_for(fd, ticket, 0) == (long)bytes, "%s", strerror(errno));
	} else {
		check(move(fd, b, LITEPCIE_WRITER, offset, card_offset, bytes) == (long)bytes, "%s", strerror(errno));
	}
	memcpy(all + offset, copy, bytes);
	buffer_begin(b);
	check_bytes(b->memory, all, b->bytes, "card to buffer, and around it");
	buffer_end(b);
	free(copy);
	free(all);
}

/* 700 pages, of which no two follow each other, are more than one request takes. */
static void moves(void)
{
	struct buffer b = buffer_new(700 * 4096, EXPORTER_SCATTERED), c = buffer_new(90 * 4096, EXPORTER_SCATTERED);
	static const size_t places[][3] = {
		{ 0, 0, 1 }, { 4095, 3, 2 }, { 1, 4093, 4097 }, { 8191, 77, 12288 }, { 4096, 0, 65536 },
		{ 12345, 54321, 345678 },
	};

	check(!attach(fd, &b) && !attach(fd, &c), "%s", strerror(errno));
	for (unsigned int i = 0; i < sizeof(places) / sizeof(*places); i++)
		for (int async = 0; async < 2; async++)
			round_trip(&c, places[i][0], places[i][1], places[i][2], async);
	round_trip(&b, 0, 5, b.bytes, 0);
	round_trip(&b, 0, 6, b.bytes, 1);
	check(!detach(fd, b.handle), "%s", strerror(errno));
	expect_errno(move(fd, &b, LITEPCIE_READER, 0, 0, 1), ENOENT);
	buffer_free(&b);
	buffer_free(&c);
}

/* The exporter refuses, fails or lies. */
static void refused(void)
{
	static const struct {
		uint32_t flags;
		int code;
	} ways[] = { { EXPORTER_NO_ATTACH, EPERM }, { EXPORTER_NO_MAP, ENOMEM }, { EXPORTER_SHORT, EINVAL } };

	for (unsigned int i = 0; i < 3; i++) {
		struct buffer b = buffer_new(8192, ways[i].flags);

		expect_errno(attach(fd, &b), ways[i].code);
		check(!counted("attached") && !counted("mapped"), "the card holds a buffer");
		buffer_free(&b);
	}
	check(!counted("buffers"), "%d buffers", counted("buffers"));
}

static void nothing(int number)
{
	(void)number;
}

/* A move waits for another device; a signal ends the wait, and O_NONBLOCK does not wait. */
static void fence(void)
{
	struct buffer b = buffer_new(8192, EXPORTER_FENCE);
	int control = open("/dev/exporter", O_RDWR), nonblock = open(DEVICE, O_RDWR | O_NONBLOCK), status;
	struct buffer same = b;
	pid_t child;

	check(!attach(fd, &b) && !attach(nonblock, &same), "%s", strerror(errno));
	expect_errno(move(nonblock, &same, LITEPCIE_WRITER, 0, 0, 100), EAGAIN);
	expect_errno(start(nonblock, &same, LITEPCIE_READER, 0, 0, 100), EAGAIN);
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = nothing }, NULL);
	alarm(1);
	expect_errno(move(fd, &b, LITEPCIE_WRITER, 0, 0, 100), EINTR);
	child = fork();
	if (!child)
		_exit(move(fd, &b, LITEPCIE_WRITER, 0, 0, 100) != 100);
	usleep(200000);
	check(!waitpid(child, &status, WNOHANG), "the move did not wait for the fence");
	check(!ioctl(control, EXPORTER_SIGNAL), "%s", strerror(errno));
	wait_child(child);
	check(move(nonblock, &same, LITEPCIE_WRITER, 0, 0, 100) == 100, "%s", strerror(errno));
	close(nonblock);
	close(control);
	buffer_free(&b);
}

/* A file has at most 8 MiB in calls; what the card does not have yet can be cancelled. */
static void cancel(void)
{
	struct buffer b = buffer_new(4 << 20, 0);
	int nonblock = open(DEVICE, O_RDWR | O_NONBLOCK);
	long first, second, tickets[256];

	check(!attach(nonblock, &b), "%s", strerror(errno));
	first = start(nonblock, &b, LITEPCIE_READER, 0, 0, 4 << 20);
	second = start(nonblock, &b, LITEPCIE_READER, 0, 0, 4 << 20);
	check(first > 0 && second > 0, "%s", strerror(errno));
	expect_errno(start(nonblock, &b, LITEPCIE_READER, 0, 0, 4096), EAGAIN);
	expect_errno(wait_for(nonblock, first, LITEPCIE_DMABUF_NOWAIT), EAGAIN);
	expect_errno(wait_for(nonblock, second, LITEPCIE_DMABUF_CANCEL), ECANCELED);
	check(wait_for(nonblock, first, 0) == 4 << 20, "%s", strerror(errno));
	/* 256 moves without a wait, at most. */
	for (int i = 0; i < 256; i++) {
		tickets[i] = start(nonblock, &b, LITEPCIE_WRITER, i * 10, i * 10, 10);
		check(tickets[i] > 0, "%d: %s", i, strerror(errno));
	}
	expect_errno(start(nonblock, &b, LITEPCIE_WRITER, 0, 0, 10), EBUSY);
	check(!detach(nonblock, b.handle), "%s", strerror(errno));
	for (int i = 0; i < 256; i++)
		check(wait_for(nonblock, tickets[i], 0) == 10, "%d: %s", i, strerror(errno));
	check(!exporter || !counted("attached"), "the card holds a buffer");
	close(nonblock);
	buffer_free(&b);
}

/* What is under way when a file is closed, or its process killed, ends; nothing stays attached. */
static void closed(void)
{
	for (int way = 0; way < 4; way++) {
		pid_t child = fork();
		int status;

		if (!child) {
			struct buffer b = buffer_new(4 << 20, 0);
			int file = open_device();

			check(!attach(file, &b), "%s", strerror(errno));
			for (int i = 0; i < 2; i++)
				check(start(file, &b, way % 2, 0, 0, 4 << 20) > 0, "%s", strerror(errno));
			if (way < 2)
				kill(getpid(), SIGKILL);
			check(!close(file), "%s", strerror(errno));
			check(!counted("attached") && !counted("mapped"), "the card holds a buffer");
			_exit(0);
		}
		check(waitpid(child, &status, 0) == child && status == (way < 2 ? SIGKILL : 0), "status %#x", status);
		for (int i = 0; i < 100 && counted("buffers"); i++)
			usleep(10000);
		check(!counted("buffers") && !counted("attached") && !counted("mapped"), "the card holds a buffer");
	}
}

static void put(const char *path)
{
	int file = open(path, O_WRONLY);

	check(file >= 0 && write(file, BDF, strlen(BDF)) > 0, "%s: %s", path, strerror(errno));
	close(file);
}

/* The driver lets go of the buffers of open files when it is unbound, and ends the moves. */
static void unbind(void)
{
	struct buffer b = buffer_new(4 << 20, 0);
	long tickets[2], moved;

	check(!attach(fd, &b), "%s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		tickets[i] = start(fd, &b, LITEPCIE_WRITER, 0, 0, 4 << 20);
		check(tickets[i] > 0, "%s", strerror(errno));
	}
	put(UNBIND);
	check(!counted("attached") && !counted("mapped"), "a card that is gone holds a buffer");
	for (int i = 0; i < 2; i++) {
		errno = 0;
		moved = wait_for(fd, tickets[i], 0);
		check(moved > 0 || (moved < 0 && errno == ENODEV), "%ld, %s", moved, strerror(errno));
	}
	expect_errno(move(fd, &b, LITEPCIE_WRITER, 0, 0, 1), ENODEV);
	expect_errno(attach(fd, &b), ENODEV);
	check(!detach(fd, b.handle), "%s", strerror(errno));
	buffer_free(&b);
	check(!counted("buffers"), "%d buffers", counted("buffers"));
	close(fd);
	put(BIND);
}

int main(int argc, char **argv)
{
	static const struct test parts[] = { { "moves", moves },   { "refused", refused }, { "fence", fence },
					     { "cancel", cancel }, { "close", closed },	   { "unbind", unbind } };

	check(argc == 3, "usage: dmabuf exporter|udmabuf PART");
	exporter = !strcmp(argv[1], "exporter");
	fd = open_device();
	for (unsigned int i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(argv[2], parts[i].name))
			parts[i].run();
	if (!strcmp(argv[2], "arguments"))
		bad_arguments(fd);
	check(checks > 1, "no part %s", argv[2]);
	finish("dmabuf");
}
