// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Runs in the guest: moves bytes of a stream, with marks for the emulator (count.c) around the part that is measured.
 * The data is not looked at: what is counted is the cost of getting it. Up to 16 buffers of 64 KiB share an interrupt.
 *
 * usage: stream FILE read|write call|ring|direct MEBIBYTES
 *
 *   call   read() and write() of 64 KiB
 *   ring   the mapped ring: poll() where it is empty or full, and an ioctl for all buffers that are there
 *   direct read() and write() of 64 KiB, with O_DIRECT
 *
 * Prints the interrupts of the card during the measured part, the bytes that were moved, and those that the driver
 * copied.
 */
#define _GNU_SOURCE
#include "mark.h"

#include <fcntl.h>
#include <linux/litepcie_stream.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES (64u << 10)
#define WARM_UP (4u << 20)

static int fd, writes, maps;
static uint8_t bytes[BYTES] __attribute__((aligned(4096)));
static struct litepcie_stream_ring *ring;

static uint64_t by_call(uint64_t wanted)
{
	uint64_t moved = 0;

	while (moved < wanted) {
		ssize_t now = writes ? write(fd, bytes, BYTES) : read(fd, bytes, BYTES);

		must(now > 0);
		moved += now;
	}
	return moved;
}

/* Takes or fills all buffers that are there; returns their bytes. */
static uint64_t by_ring(uint64_t wanted)
{
	struct litepcie_stream_advance advance = { .size = sizeof(advance),
						   .direction = writes ? LITEPCIE_TO_CARD : LITEPCIE_FROM_CARD };
	struct pollfd wait = { .fd = fd, .events = writes ? POLLOUT : POLLIN };
	uint64_t moved = 0;

	while (moved < wanted) {
		uint32_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), tail = ring->tail;
		uint32_t count = writes ? ring->depth - (tail - head) : head - tail;

		if (!count) {
			must(poll(&wait, 1, -1) == 1);
			continue;
		}
		for (uint32_t i = 0; i < count; i++) {
			uint32_t *slot = &ring->slots[(tail + i) & (ring->depth - 1)];

			if (writes)
				*slot = BYTES | LITEPCIE_STREAM_SLOT_LAST;
			moved += *slot & LITEPCIE_STREAM_SLOT_BYTES;
		}
		advance.count = count;
		must(!ioctl(fd, LITEPCIE_IOC_STREAM_ADVANCE, &advance));
	}
	return moved;
}

static unsigned long long copied(void)
{
	FILE *file = fopen("/sys/kernel/debug/litepcie/copied_bytes", "r");
	unsigned long long copies;

	must(file && fscanf(file, "%llu", &copies) == 1 && !fclose(file));
	return copies;
}

static uint64_t move(uint64_t wanted)
{
	return maps ? by_ring(wanted) : by_call(wanted);
}

int main(int argc, char **argv)
{
	struct litepcie_stream_setup setup = { .size = sizeof(setup), .moderation_count = 16, .moderation_us = 1000 };
	struct litepcie_stream_info info = { .size = sizeof(info) };
	unsigned long long copies;
	unsigned long before;
	int direct;
	uint64_t moved;

	if (argc != 5) {
		fprintf(stderr, "usage: stream FILE read|write call|ring|direct MEBIBYTES\n");
		return 2;
	}
	writes = *argv[2] == 'w';
	maps = *argv[3] == 'r';
	direct = *argv[3] == 'd' ? O_DIRECT : 0;
	info.direction = setup.direction = writes ? LITEPCIE_TO_CARD : LITEPCIE_FROM_CARD;
	/* A mapping needs a file that is open for reading. */
	fd = open(argv[1], (maps ? O_RDWR : writes ? O_WRONLY : O_RDONLY) | direct);
	must(fd >= 0);
	must(!ioctl(fd, LITEPCIE_IOC_STREAM_SETUP, &setup));
	must(!ioctl(fd, LITEPCIE_IOC_STREAM_INFO, &info));
	if (maps) {
		ring = mmap(NULL, info.map_bytes, writes ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd,
			    info.map_offset);
		must(ring != MAP_FAILED);
	}
	/* A program sends what it has written: pages of zeroes that all programs share cost more to pin. */
	memset(bytes, 1, BYTES);
	move(WARM_UP);
	copies = copied();
	before = interrupts();
	MARK(0);
	moved = move(strtoull(argv[4], NULL, 0) << 20);
	MARK(1);
	printf("%lu %llu %llu\n", interrupts() - before, (unsigned long long)moved, copied() - copies);
	return 0;
}
