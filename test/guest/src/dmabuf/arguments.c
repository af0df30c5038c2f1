// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The errno of each bad argument. */
#include <sys/mman.h>
#include "dmabuf.h"

/* A call with these arguments ends with `code`; 0: it succeeds. */
struct call {
	unsigned long command;
	size_t size;
	const void *arguments;
	uint32_t flags; /* that are allowed */
	int code;
};

static void expect(int fd, unsigned long command, void *argument, int code)
{
	int result;

	errno = 0;
	result = ioctl(fd, command, argument);
	check(code ? result == -1 && errno == code : !result, "ioctl %#lx: %d, %s, expected %s", command, result,
	      strerror(errno), strerror(code));
}

/* Sizes, unknown bytes, flags and pointers. */
static void structure(int fd, const struct call *call)
{
	union {
		struct {
			uint32_t size, flags;
		};
		uint8_t bytes[8192];
	} arg = { 0 };

	for (size_t given = 0; given <= 4097; given += given <= call->size ? 4 : 1) {
		memset(&arg, 0, sizeof(arg));
		memcpy(&arg, call->arguments, call->size);
		arg.size = given;
		expect(fd, call->command, &arg, given < call->size ? EINVAL : given > 4096 ? E2BIG : call->code);
		if (given <= call->size || given > 4096)
			continue;
		memcpy(&arg, call->arguments, call->size);
		arg.size = given;
		arg.bytes[given - 1] = 1;
		expect(fd, call->command, &arg, E2BIG);
		given += 311;
	}
	for (int bit = 0; bit < 32; bit++) {
		memcpy(&arg, call->arguments, call->size);
		arg.flags = 1u << bit;
		if (!(arg.flags & call->flags))
			expect(fd, call->command, &arg, EINVAL);
	}
	expect(fd, call->command, NULL, EFAULT);
	expect(fd, call->command, (void *)16, EFAULT);
}

static void reserved(int fd, unsigned long command, const void *arguments, size_t size, size_t from, size_t bytes)
{
	uint8_t arg[256];

	for (size_t at = from; at < from + bytes; at++) {
		memcpy(arg, arguments, size);
		arg[at] = 1;
		expect(fd, command, arg, EINVAL);
	}
}

static void structures(int fd, struct buffer *b)
{
	struct litepcie_dmabuf_attach bad = { .size = sizeof(bad), .fd = -1 };
	struct litepcie_dmabuf_detach none = { .size = sizeof(none), .handle = 77777 };
	struct litepcie_dmabuf_wait late = { .size = sizeof(late), .ticket = 77777 };
	struct litepcie_dmabuf_move empty = move_of(b, LITEPCIE_READER, 0, 0, 0);

	structure(fd, &(struct call){ LITEPCIE_IOC_DMABUF_ATTACH, sizeof(bad), &bad, 0, EBADF });
	structure(fd, &(struct call){ LITEPCIE_IOC_DMABUF_DETACH, sizeof(none), &none, 0, ENOENT });
	structure(fd, &(struct call){ LITEPCIE_IOC_DMABUF_MOVE, sizeof(empty), &empty, LITEPCIE_DMABUF_ASYNC, 0 });
	structure(fd, &(struct call){ LITEPCIE_IOC_DMABUF_WAIT, sizeof(late), &late,
				      LITEPCIE_DMABUF_NOWAIT | LITEPCIE_DMABUF_CANCEL, ENOENT });
	reserved(fd, LITEPCIE_IOC_DMABUF_ATTACH, &bad, sizeof(bad), offsetof(struct litepcie_dmabuf_attach, reserved),
		 16);
	reserved(fd, LITEPCIE_IOC_DMABUF_DETACH, &none, sizeof(none),
		 offsetof(struct litepcie_dmabuf_detach, reserved0), 4);
	reserved(fd, LITEPCIE_IOC_DMABUF_MOVE, &empty, sizeof(empty), offsetof(struct litepcie_dmabuf_move, reserved0),
		 20);
	reserved(fd, LITEPCIE_IOC_DMABUF_WAIT, &late, sizeof(late), offsetof(struct litepcie_dmabuf_wait, reserved0),
		 4);
	reserved(fd, LITEPCIE_IOC_DMABUF_WAIT, &late, sizeof(late), offsetof(struct litepcie_dmabuf_wait, reserved), 8);
}

static void ranges(int fd, struct buffer *b)
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
		check(move(fd, b, direction, b->bytes, end, 0) == 0, "%s", strerror(errno));
		check(move(fd, b, direction, b->bytes - 10, end - 10, 10) == 10, "%s", strerror(errno));
	}
	expect_errno(move(fd, b, 2, 0, 0, 1), EINVAL);
}

static void descriptors(int fd, struct buffer *b)
{
	int readable = open(DEVICE, O_RDONLY), writable = open(DEVICE, O_WRONLY);
	struct buffer other = { .fd = fd, .bytes = 1 }, same = *b;

	expect_errno(attach(fd, &other), EINVAL);	/* no dma-buf */
	other.fd = 999;
	expect_errno(attach(fd, &other), EBADF);
	expect_errno(move(readable, b, LITEPCIE_WRITER, 0, 0, 1), ENOENT);	/* another file's handle */
	check(!attach(readable, &same), "%s", strerror(errno));
	check(move(readable, &same, LITEPCIE_WRITER, 0, 0, 1) == 1, "%s", strerror(errno));
	expect_errno(move(readable, &same, LITEPCIE_READER, 0, 0, 1), EBADF);
	check(!attach(writable, &same), "%s", strerror(errno));
	check(move(writable, &same, LITEPCIE_READER, 0, 0, 1) == 1, "%s", strerror(errno));
	expect_errno(move(writable, &same, LITEPCIE_WRITER, 0, 0, 1), EBADF);
	check(!close(readable) && !close(writable), "%s", strerror(errno));
}

/* 64 buffers are attached to a file, at most; handles of those that are gone are none. */
static void handles(int fd, struct buffer *b)
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
		check(!detach(other, all[i]), "%s", strerror(errno));
	expect_errno(detach(other, all[0]), ENOENT);
	expect_errno(detach(other, 0), ENOENT);
	check(!close(other), "%s", strerror(errno));
	check(move(fd, b, LITEPCIE_READER, 0, 0, 1) == 1, "%s", strerror(errno));
}

/* A structure to which the answer cannot be written leaves nothing behind. */
static void no_answer(int fd, struct buffer *b)
{
	int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
	struct litepcie_dmabuf_attach *arg = mmap(NULL, 4096, PROT_READ | PROT_WRITE, anonymous, -1, 0);
	int before = exporter ? counted("attached") : 0;

	check(arg != MAP_FAILED, "%s", strerror(errno));
	*arg = (struct litepcie_dmabuf_attach){ .size = sizeof(*arg), .fd = b->fd };
	check(!mprotect(arg, 4096, PROT_READ), "%s", strerror(errno));
	expect_errno(ioctl(fd, LITEPCIE_IOC_DMABUF_ATTACH, arg), EFAULT);
	check(!exporter || counted("attached") == before, "%d", counted("attached"));
	check(!mprotect(arg, 4096, PROT_READ | PROT_WRITE), "%s", strerror(errno));
	*(struct litepcie_dmabuf_move *)arg = move_of(b, LITEPCIE_READER, 0, 0, 100);
	arg->flags = LITEPCIE_DMABUF_ASYNC;
	check(!mprotect(arg, 4096, PROT_READ), "%s", strerror(errno));
	expect_errno(ioctl(fd, LITEPCIE_IOC_DMABUF_MOVE, arg), EFAULT);
	for (uint32_t ticket = 1; ticket <= 256; ticket++)
		expect_errno(wait_for(fd, ticket, 0), ENOENT);
	munmap(arg, 4096);
}

void bad_arguments(int fd)
{
	struct buffer b = buffer_new(64 << 10, 0);

	check(!attach(fd, &b), "%s", strerror(errno));
	structures(fd, &b);
	ranges(fd, &b);
	descriptors(fd, &b);
	handles(fd, &b);
	no_answer(fd, &b);
	check(!detach(fd, b.handle), "%s", strerror(errno));
	buffer_free(&b);
}
