// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Buffers in host memory that the card's user logic reads and writes: created, mapped, copied and moved by the card,
 * and destroyed or left to the end of the file, in any order.
 */
#include "storm.h"
#include <linux/litepcie_hostbuf.h>

/* Of the user core (targets/sim.py): the copier's registers, and the mover's, which reaches 16 MiB of the card. */
#define COPIER	0x800
#define MOVER	0x1000
#define LIMIT	(1u << 20)
#define BUFFERS	4

static uint32_t some_card_address(uint32_t last)
{
	return one_in(4) ? (uint32_t)random_bits() : one_in(3) ? (uint32_t)pick(BUFFERS) * LIMIT : last;
}

/* The card copies between buffers, again and again if the last word says so, or moves to or from its memory. */
static void work(uint32_t address, uint32_t bytes)
{
	uint32_t copy[] = { some_card_address(address), some_card_address(address), (uint32_t)pick(bytes / 4 + 2),
		1 | (one_in(4) ? 2 : 0) | (one_in(4) ? (uint32_t)pick(256) << 8 : 0) };
	uint32_t move[] = { some_card_address(address), (uint32_t)random_bits(), (uint32_t)pick(bytes + 2),
		(uint32_t)pick(512) };

	if (one_in(2))
		logic_write(COPIER, copy, sizeof(copy));
	else
		logic_write(MOVER, move, sizeof(move));
}

static void host_buffers(void)
{
	struct litepcie_hostbuf_create create = { .size = sizeof(create), .flags = 1 + pick(3),
		.bytes = 1 + pick(one_in(4) ? LIMIT : 65536) };
	struct litepcie_hostbuf_destroy destroy = { .size = sizeof(destroy) };
	int file = some_file();
	uint8_t *at;

	if (one_in(20))
		create.flags = random_bits() >> pick(32);
	if (one_in(20))
		create.bytes = random_bits() >> pick(64);
	if (counted(ioctl(file, LITEPCIE_IOC_HOSTBUF_CREATE, one_in(20) ? some_memory() : &create)) < 0) {
		destroy.handle = pick(20);
		counted(ioctl(file, LITEPCIE_IOC_HOSTBUF_DESTROY, one_in(20) ? some_memory() : &destroy));
		return;
	}
	at = mmap(NULL, create.bytes, PROT_READ | PROT_WRITE, one_in(10) ? MAP_PRIVATE : MAP_SHARED, file,
		create.map_offset + (one_in(10) ? 4096 * pick(300) : 0));
	for (unsigned int i = pick(6); i; i--) {
		work(create.card_address, (uint32_t)create.bytes);
		if (at != MAP_FAILED) {
			touch(at + pick(create.bytes), (int)pick(2));
			/* Memory that cannot be pinned. */
			pread(some_file(), at + pick(create.bytes), 64, some_offset(64));
		}
	}
	if (at != MAP_FAILED && !one_in(10))
		munmap(at, create.bytes);
	destroy.handle = one_in(10) ? (uint32_t)pick(20) : create.handle;
	if (!one_in(4))
		counted(ioctl(file, LITEPCIE_IOC_HOSTBUF_DESTROY, &destroy));
}

const struct kind hostbuf_kinds[] = { { "host buffers", host_buffers }, { } };
