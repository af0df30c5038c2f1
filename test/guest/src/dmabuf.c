// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Moves between buffers of other devices and the card's memory.
 * usage: dmabuf exporter|udmabuf moves|arguments|refused|fence|cancel|close|unbind
 */
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include "../exporter/exporter.h"
#include "check.h"

struct buffer {
	int fd;
	size_t bytes;
	uint8_t *memory;
	uint32_t handle; /* in the file that attached it last */
};

static int fd;
/* Where buffers come from: /dev/exporter, or else udmabuf. */
static int exporter;

static int exported(size_t bytes, uint32_t flags)
{
	struct exporter_new new = { .pages = bytes / page_bytes(), .flags = flags };
	int fd = open("/dev/exporter", O_RDWR);

	ok(fd >= 0 && !ioctl(fd, EXPORTER_NEW, &new));
	close(fd);
	return new.fd;
}

static int of_memory(size_t bytes)
{
	int fd = open("/dev/udmabuf", O_RDWR), memory = memfd_create("buffer", MFD_ALLOW_SEALING), made;
	struct udmabuf_create create = { .memfd = memory, .size = bytes };

	ok(fd >= 0 && memory >= 0 && !ftruncate(memory, bytes) && !fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK));
	made = ioctl(fd, UDMABUF_CREATE, &create);
	ok(made >= 0);
	close(fd);
	close(memory);
	return made;
}

static struct buffer buffer_new(size_t bytes, uint32_t flags)
{
	struct buffer b = { .bytes = (bytes + page_bytes() - 1) / page_bytes() * page_bytes() };

	b.fd = exporter ? exported(b.bytes, flags) : of_memory(b.bytes);
	b.memory = mapped(b.fd, 0, bytes);
	return b;
}

static void buffer_free(struct buffer *b)
{
	ok(!munmap(b->memory, b->bytes) && !close(b->fd));
}

static void sync_buffer(struct buffer *b, uint64_t flags)
{
	struct dma_buf_sync arg = { .flags = flags | DMA_BUF_SYNC_RW };

	ok(!ioctl(b->fd, DMA_BUF_IOCTL_SYNC, &arg));
}

/* The processor begins to access the buffer, or has ended. */
static void buffer_begin(struct buffer *b)
{
	sync_buffer(b, DMA_BUF_SYNC_START);
}

static void buffer_end(struct buffer *b)
{
	sync_buffer(b, DMA_BUF_SYNC_END);
}

/* What the exporter counts: attached, mapped or buffers. */
static int counted(const char *what)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/module/exporter/parameters/%s", what);
	return number_in(path);
}

static int attach(int fd, struct buffer *b)
{
	struct litepcie_dmabuf_attach arg = { .size = sizeof(arg), .fd = b->fd };

	if (ioctl(fd, LITEPCIE_IOC_DMABUF_ATTACH, &arg))
		return -1;
	check(arg.handle && arg.bytes == b->bytes, "handle %u, %llu bytes", arg.handle, arg.bytes);
	b->handle = arg.handle;
	return 0;
}

static int detach(int fd, uint32_t handle)
{
	struct litepcie_dmabuf_detach arg = { .size = sizeof(arg), .handle = handle };

	return ioctl(fd, LITEPCIE_IOC_DMABUF_DETACH, &arg);
}

static struct litepcie_dmabuf_move move_of(struct buffer *b, unsigned int direction, uint64_t offset,
					   uint64_t card_offset, uint64_t bytes)
{
	return (struct litepcie_dmabuf_move){ .size = sizeof(struct litepcie_dmabuf_move), .handle = b->handle,
		.direction = direction, .offset = offset, .card_offset = card_offset, .bytes = bytes };
}

/* Bytes moved, or -1. */
static long move(int fd, struct buffer *b, unsigned int direction, uint64_t offset, uint64_t card_offset,
		 uint64_t bytes)
{
	struct litepcie_dmabuf_move arg = move_of(b, direction, offset, card_offset, bytes);

	if (ioctl(fd, LITEPCIE_IOC_DMABUF_MOVE, &arg))
		return -1;
	check(!arg.ticket, "ticket %u", arg.ticket);
	return arg.moved;
}

/* Ticket, or -1. */
static long start(int fd, struct buffer *b, unsigned int direction, uint64_t offset, uint64_t card_offset,
		  uint64_t bytes)
{
	struct litepcie_dmabuf_move arg = move_of(b, direction, offset, card_offset, bytes);

	arg.flags = LITEPCIE_DMABUF_ASYNC;
	if (ioctl(fd, LITEPCIE_IOC_DMABUF_MOVE, &arg))
		return -1;
	check(arg.ticket && !arg.moved, "ticket %u", arg.ticket);
	return arg.ticket;
}

static long wait_for(int fd, uint32_t ticket, uint32_t flags)
{
	struct litepcie_dmabuf_wait arg = { .size = sizeof(arg), .ticket = ticket, .flags = flags };

	return ioctl(fd, LITEPCIE_IOC_DMABUF_WAIT, &arg) ? -1 : (long)arg.moved;
}

/* Sizes, flags and pointers of these ioctls are in errors.c. */
static void reserved(struct buffer *b)
{
	size_t first = offsetof(struct litepcie_dmabuf_move, reserved0);
	struct litepcie_dmabuf_move arg;

	for (size_t at = first; at < first + 20; at++) {
		arg = move_of(b, LITEPCIE_TO_CARD, 0, 0, 0);
		((uint8_t *)&arg)[at] = 1;
		expect_errno(ioctl(fd, LITEPCIE_IOC_DMABUF_MOVE, &arg), EINVAL);
	}
}

static void ranges(struct buffer *b)
{
	uint64_t end = lseek(fd, 0, SEEK_END), most = ~0ull;

	for (unsigned int direction = 0; direction < 2; direction++) {
		expect_errno(move(fd, b, direction, b->bytes - 10, 0, 11), EINVAL);
		expect_errno(move(fd, b, direction, b->bytes + 1, 0, 0), EINVAL);
		expect_errno(move(fd, b, direction, most, 0, 2), EINVAL);
		expect_errno(move(fd, b, direction, 2, 0, most), EINVAL);
		expect_errno(move(fd, b, direction, 0, end - 10, 11), EINVAL);
		expect_errno(move(fd, b, direction, 0, end + 1, 0), EINVAL);
		expect_errno(move(fd, b, direction, 0, most, 2), EINVAL);
		expect_errno(move(fd, b, direction, 0, 2, most), EINVAL);
		expect_errno(start(fd, b, direction, 0, 0, 0), EINVAL);
		expect_errno(start(fd, b, direction, 0, 0, (4 << 20) + 1), EINVAL);
		ok(move(fd, b, direction, b->bytes, end, 0) == 0);
		ok(move(fd, b, direction, b->bytes - 10, end - 10, 10) == 10);
	}
	expect_errno(move(fd, b, 2, 0, 0, 1), EINVAL);
}

static void descriptors(struct buffer *b)
{
	int readable = open(DEVICE, O_RDONLY), writable = open(DEVICE, O_WRONLY);
	struct buffer other = { .fd = fd, .bytes = 1 }, same = *b;

	expect_errno(attach(fd, &other), EINVAL);	/* no dma-buf */
	other.fd = 999;
	expect_errno(attach(fd, &other), EBADF);
	expect_errno(move(readable, b, LITEPCIE_FROM_CARD, 0, 0, 1), ENOENT);	/* another file's handle */
	ok(!attach(readable, &same) && move(readable, &same, LITEPCIE_FROM_CARD, 0, 0, 1) == 1);
	expect_errno(move(readable, &same, LITEPCIE_TO_CARD, 0, 0, 1), EBADF);
	ok(!attach(writable, &same) && move(writable, &same, LITEPCIE_TO_CARD, 0, 0, 1) == 1);
	expect_errno(move(writable, &same, LITEPCIE_FROM_CARD, 0, 0, 1), EBADF);
	ok(!close(readable) && !close(writable));
}

/* 64 buffers are attached to a file, at most; handles of those that are gone are none. */
static void handles(struct buffer *b)
{
	uint32_t all[64];
	struct buffer same = *b;
	int other = open_device();

	for (int i = 0; i < 64; i++) {
		check(!attach(other, &same), "%d: %s", i, strerror(errno));
		all[i] = same.handle;
	}
	expect_errno(attach(other, &same), EMFILE);
	for (int i = 0; i < 64; i += 2)
		ok(!detach(other, all[i]));
	expect_errno(detach(other, all[0]), ENOENT);
	expect_errno(detach(other, 0), ENOENT);
	ok(!close(other) && move(fd, b, LITEPCIE_TO_CARD, 0, 0, 1) == 1);
}

/* A structure to which the answer cannot be written leaves nothing behind. */
static void no_answer(struct buffer *b)
{
	struct litepcie_dmabuf_attach *arg = zeroed(4096);
	int before = exporter ? counted("attached") : 0;

	*arg = (struct litepcie_dmabuf_attach){ .size = sizeof(*arg), .fd = b->fd };
	ok(!mprotect(arg, 4096, PROT_READ));
	expect_errno(ioctl(fd, LITEPCIE_IOC_DMABUF_ATTACH, arg), EFAULT);
	check(!exporter || counted("attached") == before, "%d", counted("attached"));
	ok(!mprotect(arg, 4096, PROT_READ | PROT_WRITE));
	*(struct litepcie_dmabuf_move *)arg = move_of(b, LITEPCIE_TO_CARD, 0, 0, 100);
	arg->flags = LITEPCIE_DMABUF_ASYNC;
	ok(!mprotect(arg, 4096, PROT_READ));
	expect_errno(ioctl(fd, LITEPCIE_IOC_DMABUF_MOVE, arg), EFAULT);
	for (uint32_t ticket = 1; ticket <= 256; ticket++)
		expect_errno(wait_for(fd, ticket, 0), ENOENT);
	munmap(arg, 4096);
}

static void bad_arguments(void)
{
	struct buffer b = buffer_new(64 << 10, 0);

	ok(!attach(fd, &b));
	reserved(&b);
	ranges(&b);
	descriptors(&b);
	handles(&b);
	no_answer(&b);
	ok(!detach(fd, b.handle));
	buffer_free(&b);
}

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
		ticket = start(fd, b, LITEPCIE_TO_CARD, offset, card_offset, bytes);
		ok(ticket > 0 && wait_for(fd, ticket, 0) == (long)bytes);
		expect_errno(wait_for(fd, ticket, 0), ENOENT);
	} else {
		ok(move(fd, b, LITEPCIE_TO_CARD, offset, card_offset, bytes) == (long)bytes);
	}
	ok(pread(fd, copy, bytes, card_offset) == (ssize_t)bytes);
	fill(all, b->bytes, pass);
	check_bytes(copy, all + offset, bytes, "buffer to card");

	fill(copy, bytes, pass + 1);
	ok(pwrite(fd, copy, bytes, card_offset) == (ssize_t)bytes);
	if (async) {
		ticket = start(fd, b, LITEPCIE_FROM_CARD, offset, card_offset, bytes);
		ok(ticket > 0 && wait_for(fd, ticket, 0) == (long)bytes);
	} else {
		ok(move(fd, b, LITEPCIE_FROM_CARD, offset, card_offset, bytes) == (long)bytes);
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

	ok(!attach(fd, &b) && !attach(fd, &c));
	for (unsigned int i = 0; i < ARRAY_SIZE(places); i++)
		for (int async = 0; async < 2; async++)
			round_trip(&c, places[i][0], places[i][1], places[i][2], async);
	round_trip(&b, 0, 5, b.bytes, 0);
	round_trip(&b, 0, 6, b.bytes, 1);
	ok(!detach(fd, b.handle));
	expect_errno(move(fd, &b, LITEPCIE_TO_CARD, 0, 0, 1), ENOENT);
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

/* A move waits for another device; a signal ends the wait, and O_NONBLOCK does not wait. */
static void fence(void)
{
	struct buffer b = buffer_new(8192, EXPORTER_FENCE);
	int control = open("/dev/exporter", O_RDWR), nonblock = open(DEVICE, O_RDWR | O_NONBLOCK), status;
	struct buffer same = b;
	pid_t child;

	ok(!attach(fd, &b) && !attach(nonblock, &same));
	expect_errno(move(nonblock, &same, LITEPCIE_FROM_CARD, 0, 0, 100), EAGAIN);
	expect_errno(start(nonblock, &same, LITEPCIE_TO_CARD, 0, 0, 100), EAGAIN);
	alarm_ends_calls();
	alarm(1);
	expect_errno(move(fd, &b, LITEPCIE_FROM_CARD, 0, 0, 100), EINTR);
	child = fork();
	if (!child)
		_exit(move(fd, &b, LITEPCIE_FROM_CARD, 0, 0, 100) != 100);
	usleep(200000);
	check(!waitpid(child, &status, WNOHANG), "the move did not wait for the fence");
	ok(!ioctl(control, EXPORTER_SIGNAL));
	wait_child(child);
	ok(move(nonblock, &same, LITEPCIE_FROM_CARD, 0, 0, 100) == 100);
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

	ok(!attach(nonblock, &b));
	first = start(nonblock, &b, LITEPCIE_TO_CARD, 0, 0, 4 << 20);
	second = start(nonblock, &b, LITEPCIE_TO_CARD, 0, 0, 4 << 20);
	ok(first > 0 && second > 0);
	expect_errno(start(nonblock, &b, LITEPCIE_TO_CARD, 0, 0, 4096), EAGAIN);
	expect_errno(wait_for(nonblock, first, LITEPCIE_DMABUF_NOWAIT), EAGAIN);
	expect_errno(wait_for(nonblock, second, LITEPCIE_DMABUF_CANCEL), ECANCELED);
	ok(wait_for(nonblock, first, 0) == 4 << 20);
	/* 256 moves without a wait, at most. */
	for (int i = 0; i < 256; i++) {
		tickets[i] = start(nonblock, &b, LITEPCIE_FROM_CARD, i * 10, i * 10, 10);
		check(tickets[i] > 0, "%d: %s", i, strerror(errno));
	}
	expect_errno(start(nonblock, &b, LITEPCIE_FROM_CARD, 0, 0, 10), EBUSY);
	ok(!detach(nonblock, b.handle));
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

			ok(!attach(file, &b));
			for (int i = 0; i < 2; i++)
				ok(start(file, &b, way % 2, 0, 0, 4 << 20) > 0);
			if (way < 2)
				kill(getpid(), SIGKILL);
			ok(!close(file));
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

	check(file >= 0 && write(file, CARD, strlen(CARD)) > 0, "%s: %s", path, strerror(errno));
	close(file);
}

/*
 * The driver lets go of the buffers of open files when it is unbound, also of one
 * that a call is just attaching, and ends the moves.
 */
static void unbind(void)
{
	struct buffer b = buffer_new(4 << 20, 0), slow = buffer_new(4096, EXPORTER_SLOW);
	long tickets[2], moved;
	pid_t child;

	ok(!attach(fd, &b));
	for (int i = 0; i < 2; i++) {
		tickets[i] = start(fd, &b, LITEPCIE_FROM_CARD, 0, 0, 4 << 20);
		ok(tickets[i] > 0);
	}
	child = forked();
	if (!child) {
		ok(!attach(fd, &slow) || errno == ENODEV);
		_exit(0);
	}
	while (counted("attached") < 2)
		usleep(1000);
	put(DRIVER "unbind");
	wait_child(child);
	check(!counted("attached") && !counted("mapped"), "a card that is gone holds a buffer");
	for (int i = 0; i < 2; i++) {
		errno = 0;
		moved = wait_for(fd, tickets[i], 0);
		check(moved > 0 || (moved < 0 && errno == ENODEV), "%ld, %s", moved, strerror(errno));
	}
	expect_errno(move(fd, &b, LITEPCIE_FROM_CARD, 0, 0, 1), ENODEV);
	expect_errno(attach(fd, &b), ENODEV);
	ok(!detach(fd, b.handle));
	buffer_free(&b);
	buffer_free(&slow);
	close(fd);
	check(!counted("buffers"), "%d buffers", counted("buffers"));
	put(DRIVER "bind");
}

int main(int argc, char **argv)
{
	static const struct test parts[] = { { "moves", moves },   { "refused", refused }, { "fence", fence },
					     { "cancel", cancel }, { "close", closed },	   { "unbind", unbind },
					     { "arguments", bad_arguments } };

	check(argc == 3, "usage: dmabuf exporter|udmabuf PART");
	exporter = !strcmp(argv[1], "exporter");
	fd = open_device();
	for (unsigned int i = 0; i < ARRAY_SIZE(parts); i++)
		if (!strcmp(argv[2], parts[i].name))
			parts[i].run();
	check(checks > 1, "no part %s", argv[2]);
	finish("dmabuf");
}
