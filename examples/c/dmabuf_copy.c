// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Moves a buffer of another device to the card and back, without a copy by the processor.
 *
 *	dmabuf_copy [DEVICE]
 *
 * A camera or GPU gives its buffers as dma-bufs too; this one is memory of the program, from
 * /dev/udmabuf.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <liblitepcie.h>
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES (64 << 10)

static void must(int ok, const char *what, int error)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, litepcie_strerror(error));
	exit(1);
}

/* A dma-buf of BYTES bytes. */
static int new_buffer(void)
{
	int device = open("/dev/udmabuf", O_RDWR), fd;
	int memory = memfd_create("buffer", MFD_ALLOW_SEALING);
	struct udmabuf_create create = { .memfd = memory, .size = BYTES };

	must(device >= 0, "/dev/udmabuf", -errno);
	must(memory >= 0 && !ftruncate(memory, BYTES), "memfd", -errno);
	must(!fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK), "memfd", -errno);
	fd = ioctl(device, UDMABUF_CREATE, &create);
	must(fd >= 0, "/dev/udmabuf", -errno);
	close(device);
	close(memory);
	return fd;
}

/* The processor may access the buffer only between two of these. */
static void sync_buffer(int fd, unsigned long flags)
{
	struct dma_buf_sync arg = { .flags = flags | DMA_BUF_SYNC_RW };

	must(!ioctl(fd, DMA_BUF_IOCTL_SYNC, &arg), "DMA_BUF_IOCTL_SYNC", -errno);
}

int main(int argc, char **argv)
{
	int fd = new_buffer(), err, equal = 1;
	unsigned char *bytes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct litepcie *card;
	uint32_t handle, ticket;
	ssize_t moved;

	must(bytes != MAP_FAILED, "mmap", -errno);
	err = litepcie_open(&card, argc > 1 ? argv[1] : "/dev/litepcie0");
	must(!err, "cannot open the card", err);
	err = litepcie_dmabuf_attach(card, fd, &handle);
	must(!err, "cannot attach the buffer", err);

	sync_buffer(fd, DMA_BUF_SYNC_START);
	for (int i = 0; i < BYTES; i++)
		bytes[i] = i * 7;
	sync_buffer(fd, DMA_BUF_SYNC_END);
	moved = litepcie_dmabuf_move(card, handle, LITEPCIE_TO_CARD, 0, 0, BYTES);
	must(moved == BYTES, "buffer to card", moved);

	sync_buffer(fd, DMA_BUF_SYNC_START);
	memset(bytes, 0, BYTES);
	sync_buffer(fd, DMA_BUF_SYNC_END);
	/* This one goes on while the program does something else. */
	err = litepcie_dmabuf_start(card, handle, LITEPCIE_FROM_CARD, 0, 0, BYTES, &ticket);
	must(!err, "card to buffer", err);
	moved = litepcie_dmabuf_wait(card, ticket, 0);
	must(moved == BYTES, "card to buffer", moved);

	sync_buffer(fd, DMA_BUF_SYNC_START);
	for (int i = 0; i < BYTES; i++)
		equal &= bytes[i] == (unsigned char)(i * 7);
	sync_buffer(fd, DMA_BUF_SYNC_END);
	litepcie_close(card);
	printf("%d bytes moved to the card and back: %s\n", BYTES, equal ? "equal" : "DIFFERENT");
	return !equal;
}
