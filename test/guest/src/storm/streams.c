// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Calls on the streams of the card, which hands of the storm take from each other: each direction has one user. */
#include "storm.h"
#include <linux/litepcie_stream.h>

#define STREAMS	2

/* Shared by the threads of a hand. */
static int files[2];

static int open_as(unsigned int which)
{
	static const int flags[] = { O_RDWR, O_RDONLY, O_WRONLY };
	int old, file;
	char name[48];

	/* The end of a file gives the direction to others. */
	old = __atomic_exchange_n(&files[which], 0, __ATOMIC_RELAXED);
	if (old > 0)
		close(old);
	snprintf(name, sizeof(name), "_stream%u", (unsigned int)pick(STREAMS));
	file = device_open(name, flags[pick(3)] | (!one_in(4) ? O_NONBLOCK : one_in(2) ? O_DIRECT : 0));
	if (file >= 0) {
		old = __atomic_exchange_n(&files[which], file, __ATOMIC_RELAXED);
		if (old > 0)
			close(old);
	}
	return file;
}

static void opens(void)
{
	counted(open_as(pick(2)));
}

void streams_open(void)
{
	open_as(0);
	open_as(1);
}

static int stream(void)
{
	int file = files[pick(2)];

	if (file <= 0)
		opens();
	return one_in(200) ? (int)random_bits() : file;
}

static void moves(void)
{
	static const long numbers[] = { SYS_read, SYS_write };
	struct litepcie_stream_header header = { pick(100), pick(3) };
	struct iovec pieces[2] = { { &header, sizeof(header) }, { private_memory(), header.bytes } };
	int file = stream();

	if (one_in(4))
		counted(writev(file, pieces, 2));
	else
		counted(syscall(numbers[pick(2)], file, some_memory(),
			one_in(3) ? pick(300) : some_length() % (1 << 20)));
}

static void settings(void)
{
	struct litepcie_stream_setup setup = { .size = sizeof(setup), .direction = pick(2) };

	if (one_in(2))
		setup.depth = 1 << pick(11);
	if (one_in(2))
		setup.buffer_bytes = one_in(2) ? 64 + pick(5000) : 1ul << pick(21);
	setup.mode = pick(2);
	setup.flush_us = pick(200);
	setup.moderation_count = pick(5);
	setup.moderation_us = pick(50);
	if (one_in(20))
		setup.reserved[pick(4)] = random_bits();
	counted(ioctl(stream(), LITEPCIE_IOC_STREAM_SETUP, one_in(10) ? some_memory() : &setup));
}

static void asks(void)
{
	struct litepcie_stream_info info = { .size = sizeof(info), .direction = pick(2) };
	struct pollfd p = { .fd = stream(), .events = POLLIN | POLLOUT };

	counted(poll(&p, 1, pick(50)));
	ioctl(p.fd, LITEPCIE_IOC_STREAM_INFO, one_in(10) ? some_memory() : &info);
	if (one_in(10))
		fsync(p.fd);
}

/* Maps a ring, writes rubbish into it, and gives buffers to the card. */
static void rings(void)
{
	unsigned int direction = pick(2);
	struct litepcie_stream_info info = { .size = sizeof(info), .direction = direction };
	struct litepcie_stream_advance advance = { .size = sizeof(advance), .direction = direction };
	int file = stream();
	uint8_t *ring;

	if (ioctl(file, LITEPCIE_IOC_STREAM_INFO, &info))
		return;
	ring = mmap(NULL, info.map_bytes, PROT_READ | (direction == LITEPCIE_TO_CARD ? PROT_WRITE : 0), MAP_SHARED,
		file, info.map_offset);
	counted(ring == MAP_FAILED ? -1 : 0);
	for (unsigned int i = pick(100); i; i--) {
		advance.count = one_in(20) ? random_bits() : pick(4);
		if (ring != MAP_FAILED) {
			touch(ring + pick(info.map_bytes), direction == LITEPCIE_TO_CARD);
			touch(ring + 64 + pick(256), direction == LITEPCIE_TO_CARD);
		}
		ioctl(file, LITEPCIE_IOC_STREAM_ADVANCE, &advance);
	}
	if (ring != MAP_FAILED && !one_in(10))
		munmap(ring, info.map_bytes);
}

const struct kind stream_kinds[] = {
	{ "stream open", opens },	  { "stream read, write", moves }, { "stream read, write", moves },
	{ "stream settings", settings }, { "stream poll", asks },	   { "stream ring", rings },
	{ }
};
