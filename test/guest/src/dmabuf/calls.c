// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Buffers of /dev/exporter or of udmabuf; one function per ioctl. */
#define _GNU_SOURCE
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <sys/mman.h>
#include "dmabuf.h"

int exporter;

static int exported(size_t bytes, uint32_t flags)
{
	struct exporter_new new = { .pages = bytes / page_bytes(), .flags = flags };
	int fd = open("/dev/exporter", O_RDWR);

	check(fd >= 0 && !ioctl(fd, EXPORTER_NEW, &new), "%s", strerror(errno));
	close(fd);
	return new.fd;
}

static int of_memory(size_t bytes)
{
	int fd = open("/dev/udmabuf", O_RDWR), memory = memfd_create("buffer", MFD_ALLOW_SEALING), made;
	struct udmabuf_create create = { .memfd = memory, .size = bytes };

	check(fd >= 0 && memory >= 0, "%s", strerror(errno));
	check(!ftruncate(memory, bytes) && !fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK), "%s", strerror(errno));
	made = ioctl(fd, UDMABUF_CREATE, &create);
	check(made >= 0, "%s", strerror(errno));
	close(fd);
	close(memory);
	return made;
}

struct buffer buffer_new(size_t bytes, uint32_t flags)
{
	struct buffer b = { .bytes = (bytes + page_bytes() - 1) / page_bytes() * page_bytes() };

	b.fd = exporter ? exported(b.bytes, flags) : of_memory(b.bytes);
	b.memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b.fd, 0);
	check(b.memory != MAP_FAILED, "%s", strerror(errno));
	return b;
}

void buffer_free(struct buffer *b)
{
	check(!munmap(b->memory, b->bytes) && !close(b->fd), "%s", strerror(errno));
}

static void sync_buffer(struct buffer *b, uint64_t flags)
{
	struct dma_buf_sync arg = { .flags = flags | DMA_BUF_SYNC_RW };

	check(!ioctl(b->fd, DMA_BUF_IOCTL_SYNC, &arg), "%s", strerror(errno));
}

void buffer_begin(struct buffer *b)
{
	sync_buffer(b, DMA_BUF_SYNC_START);
}

void buffer_end(struct buffer *b)
{
	sync_buffer(b, DMA_BUF_SYNC_END);
}

int counted(const char *what)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/module/exporter/parameters/%s", what);
	return number_in(path);
}

int attach(int fd, struct buffer *b)
{
	struct litepcie_dmabuf_attach arg = { .size = sizeof(arg), .fd = b->fd };

	if (ioctl(fd, LITEPCIE_IOC_DMABUF_ATTACH, &arg))
		return -1;
	check(arg.handle && arg.bytes == b->bytes, "handle %u, %llu bytes", arg.handle, arg.bytes);
	b->handle = arg.handle;
	return 0;
}

int detach(int fd, uint32_t handle)
{
	struct litepcie_dmabuf_detach arg = { .size = sizeof(arg), .handle = handle };

	return ioctl(fd, LITEPCIE_IOC_DMABUF_DETACH, &arg);
}

struct litepcie_dmabuf_move move_of(struct buffer *b, unsigned int direction, uint64_t offset, uint64_t card_offset,
				    uint64_t bytes)
{
	return (struct litepcie_dmabuf_move){ .size = sizeof(struct litepcie_dmabuf_move), .handle = b->handle,
		.direction = direction, .offset = offset, .card_offset = card_offset, .bytes = bytes };
}

long move(int fd, struct buffer *b, unsigned int direction, uint64_t offset, uint64_t card_offset, uint64_t bytes)
{
	struct litepcie_dmabuf_move arg = move_of(b, direction, offset, card_offset, bytes);

	if (ioctl(fd, LITEPCIE_IOC_DMABUF_MOVE, &arg))
		return -1;
	check(!arg.ticket, "ticket %u", arg.ticket);
	return arg.moved;
}

long start(int fd, struct buffer *b, unsigned int direction, uint64_t offset, uint64_t card_offset, uint64_t bytes)
{
	struct litepcie_dmabuf_move arg = move_of(b, direction, offset, card_offset, bytes);

	arg.flags = LITEPCIE_DMABUF_ASYNC;
	if (ioctl(fd, LITEPCIE_IOC_DMABUF_MOVE, &arg))
		return -1;
	check(arg.ticket && !arg.moved, "ticket %u", arg.ticket);
	return arg.ticket;
}

long wait_for(int fd, uint32_t ticket, uint32_t flags)
{
	struct litepcie_dmabuf_wait arg = { .size = sizeof(arg), .ticket = ticket, .flags = flags };

	return ioctl(fd, LITEPCIE_IOC_DMABUF_WAIT, &arg) ? -1 : (long)arg.moved;
}
