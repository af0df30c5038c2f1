// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Every byte alignment of host and endpoint address, with sizes at which DMA engines often fail. Guard bytes surround
 * the host buffer and the area in the card's memory.
 * usage: alignments [largest size in bytes [N]]: of all pairs of alignments, each N-th
 */
#include "check.h"

static const size_t sizes[] = { 1, 2, 3, 4, 63, 64, 65, 4095, 4096, 4097, (1 << 20) + 1 };

/* Offsets in a page: each alignment of a 256-bit word, and both sides of a page's end. */
static size_t endpoint_offset(unsigned int step)
{
	return step < 32 ? step : 4096 - 36 + step - 32;
}

static uint8_t *before, *after;

/* Writes, reads back into another buffer, compares, and checks the guard bytes of both. */
static void one(int fd, size_t size, off_t at, size_t misalign, uint32_t pass)
{
	static size_t last_size;
	static off_t last_at;
	struct guarded out = guarded_alloc(size, misalign);
	struct guarded in = guarded_alloc(size, (misalign * 7 + pass) % 64);
	size_t around = size + 2 * GUARD_BYTES;

	/* The last call left this very place in `after`. */
	if (size == last_size && at == last_at)
		memcpy(before, after, around);
	else
		ok(pread(fd, before, around, at - GUARD_BYTES) == (ssize_t)around);
	fill(out.bytes, size, pass);
	check(pwrite(fd, out.bytes, size, at) == (ssize_t)size, "size %zu at %lld: %s", size,
	      (long long)at, strerror(errno));
	guarded_check(&out, "guard of the written buffer");

	check(pread(fd, in.bytes, size, at) == (ssize_t)size, "size %zu at %lld: %s", size,
	      (long long)at, strerror(errno));
	guarded_check(&in, "guard of the read buffer");
	check_bytes(in.bytes, out.bytes, size, "read back");

	ok(pread(fd, after, around, at - GUARD_BYTES) == (ssize_t)around);
	check_bytes(after, before, GUARD_BYTES, "card memory before the place written");
	check_bytes(after + GUARD_BYTES, out.bytes, size, "card memory");
	check_bytes(after + GUARD_BYTES + size, before + GUARD_BYTES + size, GUARD_BYTES,
		    "card memory after the area written");
	last_size = size;
	last_at = at;
	free(out.whole);
	free(in.whole);
}

int main(int argc, char **argv)
{
	size_t largest = argc > 1 ? strtoul(argv[1], NULL, 0) : sizes[10];
	uint32_t step = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	int fd = open_device();
	uint32_t pass = 0;

	before = malloc((2 << 20) + 2 * GUARD_BYTES);
	after = malloc((2 << 20) + 2 * GUARD_BYTES);
	check(before && after, "no memory");
	for (unsigned int s = 0; s < ARRAY_SIZE(sizes); s++) {
		/* Long transfers have every alignment too, but not every pair of them. */
		unsigned int stride = sizes[s] > 65536 ? 13 : sizes[s] > 64 ? 5 : 1;

		if (sizes[s] > largest)
			break;
		for (unsigned int e = 0; e < 72; e += sizes[s] > 65536 ? 3 : 1)
			for (unsigned int h = e % stride; h < 16; h += stride, pass++)
				if (pass % step == 0)
					one(fd, sizes[s], 65536 + endpoint_offset(e), h, pass);
		printf("size %zu: %u transfers each way\n", sizes[s], pass);
	}
	finish("alignments");
}
