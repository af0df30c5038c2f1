// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Processes that check what the others must not change: the data of calls that report success, and memory that no call
 * was ever given. A card that goes on after the driver unpinned a page writes into such memory.
 */

#include "storm.h"

/* Moves all of a buffer at the witness's place. Returns whether the card did it: unbind and faults may end it. */
static int move(int file, uint8_t *bytes, size_t length, off_t at, int write)
{
	ssize_t n = write ? pwrite(file, bytes, length, at) : pread(file, bytes, length, at);

	return n == (ssize_t)length;
}

void witness_data(uint64_t seed)
{
	unsigned long passed = 0;
	uint32_t pass = 0;
	int file = -1;

	random_seed(seed, 1000, 0);
	end_when_told();
	while (!over) {
		size_t length = 1 + pick(one_in(4) ? 1 << 20 : 9000);
		off_t at = WITNESS_AT + (off_t)pick(WITNESS_BYTES - (1 << 20));
		struct guarded out = guarded_alloc(length, pick(64)), in = guarded_alloc(length, pick(64));

		if (file < 0 || one_in(100)) {
			if (file >= 0)
				close(file);
			file = device_open("", O_RDWR);
		}
		fill(out.bytes, length, ++pass);
		if (file >= 0 && move(file, out.bytes, length, at, 1) && move(file, in.bytes, length, at, 0)) {
			check_bytes(in.bytes, out.bytes, length, "witness");
			passed++;
		} else {
			if (file >= 0)
				close(file);
			file = -1;
			usleep(10000);
		}
		guarded_check(&in, "guard of the witness");
		guarded_check(&out, "guard of the witness");
		free(in.whole);
		free(out.whole);
	}
	counters->calls[DATA_AT] = pass;
	counters->succeeded[DATA_AT] = passed;
	exit(0);
}

void witness_pages(uint64_t seed)
{
	random_seed(seed, 1001, 0);
	end_when_told();
	while (!over) {
		size_t length = 4096 * (1 + pick(1024));
		uint8_t *pages = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		ok(pages != MAP_FAILED);
		memset(pages, 0xc3, length);
		usleep(pick(50000));
		check_value(pages, 0xc3, length, "a page that no call was given");
		munmap(pages, length);
		counters->calls[PAGES_AT]++;
		counters->succeeded[PAGES_AT]++;
	}
	exit(0);
}
