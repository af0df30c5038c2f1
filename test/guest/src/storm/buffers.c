// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Buffers of another device, a module of the tests: attached, moved, waited for and detached, in any order. */
#include "storm.h"
#include "../../exporter/exporter.h"

#define PAGES	64

static int exporter_file;

void exporter_open(void)
{
	exporter_file = open("/dev/exporter", O_RDWR | O_CLOEXEC);
}

/* Returns the size of a new buffer in bytes and its file in `fd`, or 0. */
static size_t buffer_new(int *fd)
{
	static const uint32_t flags[] = { 0, 0, 0, EXPORTER_SCATTERED, EXPORTER_SCATTERED, EXPORTER_SHORT,
		EXPORTER_NO_ATTACH, EXPORTER_NO_MAP };
	struct exporter_new new = { .pages = 1 + pick(PAGES), .flags = flags[pick(ARRAY_SIZE(flags))] };

	if (ioctl(exporter_file, EXPORTER_NEW, &new))
		return 0;
	*fd = new.fd;
	return 4096ul * new.pages;
}

/* A handle or ticket: of the last call, or of another hand's or thread's. */
static uint32_t number(uint32_t last)
{
	return !one_in(4) ? last : one_in(2) ? 1 + pick(20) : random_bits() >> pick(64);
}

static void waits(int file, uint32_t ticket)
{
	struct litepcie_dmabuf_wait wait = { .size = sizeof(wait), .ticket = number(ticket), .flags = pick(4) };

	if (one_in(20))
		wait.flags = random_bits();
	counted(ioctl(file, LITEPCIE_IOC_DMABUF_WAIT, one_in(20) ? some_memory() : &wait));
}

static void moves(int file, uint32_t handle, size_t size)
{
	uint64_t offset = pick(size), bytes = pick(size - offset + 1);
	struct litepcie_dmabuf_move move = { .size = sizeof(move), .handle = number(handle),
		.direction = pick(2), .offset = offset, .card_offset = some_offset(bytes), .bytes = bytes,
		.flags = one_in(2) ? LITEPCIE_DMABUF_ASYNC : 0 };

	/* More than the buffer has is refused, so that no move reaches the memory of the witnesses. */
	if (one_in(20))
		move.bytes = random_bits() >> pick(64);
	if (one_in(20))
		move.offset = random_bits() >> pick(64);
	if (counted(ioctl(file, LITEPCIE_IOC_DMABUF_MOVE, one_in(20) ? some_memory() : &move)) < 0)
		return;
	if (move.ticket && !one_in(4))
		waits(file, move.ticket);
}

static void buffers(void)
{
	struct litepcie_dmabuf_attach attach = { .size = sizeof(attach) };
	struct litepcie_dmabuf_detach detach = { .size = sizeof(detach) };
	int fd = -1, file = some_file();
	size_t size = buffer_new(&fd);
	uint8_t *at = MAP_FAILED;

	if (!size)
		return;
	attach.fd = one_in(20) ? (int)pick(100) : fd;
	counted(ioctl(file, LITEPCIE_IOC_DMABUF_ATTACH, one_in(20) ? some_memory() : &attach));
	if (one_in(2))
		close(fd);
	else
		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (unsigned int i = pick(6); i; i--)
		moves(file, attach.handle, size);
	if (at != MAP_FAILED) {
		touch(at + pick(size), (int)pick(2));
		pread(some_file(), at, pick(size), some_offset(size));
		munmap(at, size);
		close(fd);
	}
	detach.handle = number(attach.handle);
	if (!one_in(4))
		counted(ioctl(file, LITEPCIE_IOC_DMABUF_DETACH, &detach));
}

const struct kind buffer_kinds[] = { { "buffers of a device", buffers }, { } };
