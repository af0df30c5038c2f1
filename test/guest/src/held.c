// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Makes one open file hold all that it may, and compares what the memory cgroup of this process was charged, and how
 * much memory the machine has less.
 *
 * usage: held CGROUP rings|buffers
 */
#include <linux/litepcie_hostbuf.h>
#include <linux/litepcie_stream.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include "held.h"

#define MIB (1 << 20)
#define RING 16 /* MiB of each direction of a stream */

/* The program has its own page tables of them, which it is charged for too. */
static void touch(int fd, size_t bytes, off_t offset)
{
	volatile uint8_t *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, offset);

	check(map != MAP_FAILED, "%s", strerror(errno));
	for (size_t at = 0; at < bytes; at += 4096)
		(void)map[at];
}

/* The largest rings of a stream; returns their bytes. */
static long long rings(void)
{
	int fd = open("/dev/litepcie0_stream0", O_RDWR);

	check(fd >= 0, "%s", strerror(errno));
	for (unsigned int direction = 0; direction < 2; direction++) {
		struct litepcie_stream_setup setup = { .size = sizeof(setup), .direction = direction, .depth = RING,
			.buffer_bytes = MIB };
		struct litepcie_stream_info info = { .size = sizeof(info), .direction = direction };

		check(!ioctl(fd, LITEPCIE_IOC_STREAM_SETUP, &setup), "%s", strerror(errno));
		check(!ioctl(fd, LITEPCIE_IOC_STREAM_INFO, &info), "%s", strerror(errno));
		touch(fd, info.map_bytes, info.map_offset);
	}
	return 2ll * RING * MIB;
}

/* All buffers that the card has for the user's logic; returns their bytes. */
static long long buffers(void)
{
	int fd = open_device(), count = 0;

	while (1) {
		struct litepcie_hostbuf_create create = { .size = sizeof(create), .bytes = MIB,
			.flags = LITEPCIE_HOSTBUF_READ | LITEPCIE_HOSTBUF_WRITE };

		if (ioctl(fd, LITEPCIE_IOC_HOSTBUF_CREATE, &create))
			break;
		touch(fd, create.bytes, create.map_offset);
		count++;
	}
	check(errno == ENOSPC && count, "%d buffers: %s", count, strerror(errno));
	return (long long)count * MIB;
}

int main(int argc, char **argv)
{
	struct held held;
	long long bytes;

	check(argc == 3, "usage: held CGROUP rings|buffers");
	held = held_begin(argv[1]);
	bytes = !strcmp(argv[2], "rings") ? rings() : buffers();
	held_end(&held);
	printf("%lld bytes, %lld charged, %lld beside\n", bytes, held.charged, held.beside);
	held_check(&held, bytes);
	finish("held");
}
