// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * The other nodes of the card, and buffers of other devices: each from its open() to its close(). The card is bound,
 * unbound and reset.
 */
#include "fail_nth.h"

#include <linux/litepcie_hostbuf.h>
#include <linux/litepcie_stream.h>
#include "../../exporter/exporter.h"

#define USER_PULSE	0x0c	/* register of the user core (targets/sim.py) */

/* Closes a file; `result` and errno stay. */
static long ended(int file, long result)
{
	int error = errno;

	if (file >= 0)
		close(file);
	errno = error;
	return result;
}

/* A stream from its begin to its end; the card sends back what it gets. */
static long stream_path(int mode)
{
	struct litepcie_stream_setup setup = { .size = sizeof(setup), .depth = 4, .buffer_bytes = 5000 };
	int file = open(STREAM, O_RDWR | mode);
	struct pollfd event = { .fd = file, .events = POLLIN };
	long result = file < 0 ? -1 : 0;

	for (setup.direction = 0; result >= 0 && setup.direction < 2; setup.direction++)
		result = ioctl(file, LITEPCIE_IOC_STREAM_SETUP, &setup);
	if (result >= 0)
		result = write(file, memory, 3000);
	if (result >= 0)
		result = poll(&event, 1, 60000) == 1 ? 0 : -1;
	if (result >= 0)
		result = read(file, memory, MIB);
	return ended(file, result);
}

static long path_stream(void)
{
	return stream_path(O_NONBLOCK);
}

static long path_direct(void)
{
	return stream_path(O_DIRECT);
}

/* The card may still have the packet. */
static void after_direct(void)
{
	int file = opened(STREAM, O_RDWR);

	ok(write(file, memory, 1) == 1);
	while (read(file, memory, MIB) != 1)
		;
	close(file);
}

/* The mapped ring: the fault of a page, and a packet through it. */
static long path_ring(void)
{
	struct litepcie_stream_setup setup = { .size = sizeof(setup), .direction = LITEPCIE_TO_CARD, .depth = 4,
		.buffer_bytes = 5000 };
	struct litepcie_stream_info info = { .size = sizeof(info), .direction = LITEPCIE_TO_CARD };
	struct litepcie_stream_advance advance = { .size = sizeof(advance), .direction = LITEPCIE_TO_CARD, .count = 1 };
	int file = open(STREAM, O_RDWR | O_NONBLOCK);
	long result = file < 0 ? -1 : ioctl(file, LITEPCIE_IOC_STREAM_SETUP, &setup), error;
	struct litepcie_stream_ring *ring = MAP_FAILED;

	if (result >= 0)
		result = ioctl(file, LITEPCIE_IOC_STREAM_INFO, &info);
	if (result >= 0) {
		ring = mmap(NULL, info.map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, info.map_offset);
		result = ring == MAP_FAILED ? -1 : madvise(ring, info.map_bytes, MADV_POPULATE_WRITE);
	}
	if (result >= 0) {
		ring->slots[ring->tail % 4] = 100 | LITEPCIE_STREAM_SLOT_LAST;
		result = ioctl(file, LITEPCIE_IOC_STREAM_ADVANCE, &advance);
	}
	error = errno;
	if (ring != MAP_FAILED)
		unmap(ring, info.map_bytes);
	errno = error;
	return ended(file, result);
}

/* Makes the kernel store into each page, whose mapping may be of memory without struct page. */
static long touch(uint8_t *at, size_t bytes)
{
	int zero = open("/dev/zero", O_RDONLY);
	long result = zero;

	for (size_t i = 0; i < bytes && result >= 0; i += 4096)
		result = read(zero, at + i, 1);
	return ended(zero, result);
}

/* A buffer of the card's user logic, from its begin to its end, with the fault of a page. */
static long path_hostbuf(void)
{
	struct litepcie_hostbuf_create buffer = { .size = sizeof(buffer), .bytes = 100000,
		.flags = LITEPCIE_HOSTBUF_READ | LITEPCIE_HOSTBUF_WRITE };
	struct litepcie_hostbuf_destroy end = { .size = sizeof(end) };
	int file = open(DEVICE, O_RDWR);
	long result = file < 0 ? -1 : ioctl(file, LITEPCIE_IOC_HOSTBUF_CREATE, &buffer), error;
	uint8_t *at = MAP_FAILED;

	if (result >= 0) {
		at = mmap(NULL, buffer.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, buffer.map_offset);
		result = at == MAP_FAILED ? -1 : touch(at, buffer.bytes);
	}
	if (result >= 0) {
		end.handle = buffer.handle;
		result = ioctl(file, LITEPCIE_IOC_HOSTBUF_DESTROY, &end);
	}
	error = errno;
	if (at != MAP_FAILED)
		unmap(at, buffer.bytes);
	errno = error;
	return ended(file, result);
}

/* The user's registers, from open() to close(). */
static long path_user(void)
{
	int file = open(USER, O_RDWR);
	volatile uint32_t *page;
	long result = file;
	uint32_t word = 5;

	if (result >= 0)
		result = pwrite(file, &word, 4, 0);
	if (result >= 0)
		result = pread(file, &word, 4, 4);
	if (result >= 0) {
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		result = page == MAP_FAILED ? -1 : (long)page[1];
		if (page != MAP_FAILED)
			unmap((void *)page, 4096);
	}
	return ended(file, result);
}

/* An interrupt that the card's logic raises. */
static long path_interrupt(void)
{
	int file = open("/dev/litepcie0_interrupt1", O_RDWR), user = helper;
	struct pollfd event = { .fd = file, .events = POLLIN };
	long result = file;
	uint32_t word = 1;

	if (result >= 0)
		result = write(file, &word, 4);
	if (result >= 0)
		result = pwrite(user, &word, 4, USER_PULSE);
	if (result >= 0)
		result = poll(&event, 1, 60000) == 1 ? 0 : -1;
	if (result >= 0)
		result = read(file, &word, 4);
	return ended(file, result);
}

static void before_interrupt(void)
{
	helper = opened(USER, O_RDWR);
}

static void after_helper(void)
{
	close(helper);
}

static struct litepcie_dmabuf_move move_of(uint32_t handle, uint32_t direction, uint32_t flags)
{
	return (struct litepcie_dmabuf_move){ .size = sizeof(struct litepcie_dmabuf_move), .handle = handle,
		.direction = direction, .flags = flags, .offset = 100, .card_offset = 5, .bytes = 60000 };
}

/* A buffer of another device goes to the card, and comes back while the program waits for a ticket. */
static long path_buffer(void)
{
	struct litepcie_dmabuf_attach attach = { .size = sizeof(attach), .fd = helper };
	struct litepcie_dmabuf_detach detach = { .size = sizeof(detach) };
	struct litepcie_dmabuf_wait wait = { .size = sizeof(wait) };
	struct litepcie_dmabuf_move out, back;
	int file = open(DEVICE, O_RDWR);
	long result = file < 0 ? -1 : ioctl(file, LITEPCIE_IOC_DMABUF_ATTACH, &attach);

	out = move_of(attach.handle, LITEPCIE_TO_CARD, 0);
	back = move_of(attach.handle, LITEPCIE_FROM_CARD, LITEPCIE_DMABUF_ASYNC);
	if (result >= 0)
		result = ioctl(file, LITEPCIE_IOC_DMABUF_MOVE, &out);
	if (result >= 0)
		result = ioctl(file, LITEPCIE_IOC_DMABUF_MOVE, &back);
	wait.ticket = back.ticket;
	if (result >= 0)
		result = ioctl(file, LITEPCIE_IOC_DMABUF_WAIT, &wait);
	detach.handle = attach.handle;
	if (result >= 0)
		result = ioctl(file, LITEPCIE_IOC_DMABUF_DETACH, &detach);
	return ended(file, result);
}

static void before_buffer(void)
{
	struct exporter_new new = { .pages = 16, .flags = EXPORTER_SCATTERED };
	int file = open("/dev/exporter", O_RDWR);

	ok(file >= 0 && !ioctl(file, EXPORTER_NEW, &new));
	close(file);
	helper = new.fd;
}

#define DEVICES	"/sys/bus/pci/devices/" CARD "/"

static void before_probe(void)
{
	set(DRIVER, "unbind", CARD);
	helper = opened(DRIVER "bind", O_WRONLY);
}

static long path_probe(void)
{
	return write(helper, CARD, strlen(CARD));
}

/* If a failure was not fatal, the driver is bound now, and unbind takes it back. */
static void after_probe(void)
{
	close(helper);
	if (access(DRIVER CARD, F_OK))
		set(DRIVER, "bind", CARD);
}

static void before_remove(void)
{
	helper = opened(DRIVER "unbind", O_WRONLY);
}

static void before_reset(void)
{
	helper = opened(DEVICES "reset", O_WRONLY);
}

static long path_reset(void)
{
	return write(helper, "1", 1);
}

const struct path node_paths[] = {
	{ "probe", before_probe, path_probe, after_probe },
	{ "remove", before_remove, path_probe, after_probe },
	{ "reset", before_reset, path_reset, after_helper },
	{ "stream", nothing, path_stream, nothing },
	{ "direct", nothing, path_direct, after_direct },
	{ "ring", nothing, path_ring, nothing },
	{ "user", nothing, path_user, nothing },
	{ "hostbuf", nothing, path_hostbuf, nothing },
	{ "interrupt", before_interrupt, path_interrupt, after_helper },
	{ "buffer", before_buffer, path_buffer, after_helper },
	{ }
};
