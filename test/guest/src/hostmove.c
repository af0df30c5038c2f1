// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Descriptors of the simulated board's user logic: between buffers in host memory and the card's memory. */
#include "hostbuf.h"

/* Of the mover, in USER. */
enum { ADDRESS = 0x1000, ENDPOINT = 0x1004, LENGTH = 0x1008, SUBMIT = 0x100c, ENDED = 0x1010, LAST = 0x1014 };
enum { TO_HOST = 1 << 8, TAG = 0x5a };

#define BYTES (256 << 10)

/* Gives the card's logic a descriptor between a buffer and the card's memory. */
static uint32_t submit(uint32_t address, uint32_t endpoint, uint32_t bytes, uint32_t write)
{
	uint32_t ended = load(ENDED);

	store(ADDRESS, address);
	store(ENDPOINT, endpoint);
	store(LENGTH, bytes);
	store(SUBMIT, TAG | write);
	return ended + 1;
}

/* Returns the reason of the end. */
static uint32_t move(uint32_t address, uint32_t endpoint, uint32_t bytes, uint32_t write)
{
	uint32_t last, ended = submit(address, endpoint, bytes, write);

	while (load(ENDED) != ended)
		;
	last = load(LAST);
	check(last >> 8 == (TAG | write), "%#x", last);
	return last & 0xff;
}

/* The logic moves between buffers and the card's memory, which this program reads and writes as a file. */
static void through_the_card(void)
{
	struct buffer a = buffer(fd, BYTES, READ), b = buffer(fd, BYTES, WRITE);
	uint8_t *bytes = malloc(BYTES);

	for (uint32_t pass = 0; pass < 8; pass++) {
		uint32_t from = pass * 77, to = pass * 13, at = pass * 4099;
		uint32_t length = pass < 7 ? 1 + pass * 5003 : BYTES / 2;

		fill(a.bytes, BYTES, pass);
		check(!move(a.is.card_address + from, at, length, 0), "%#x", load(LAST));
		check(pread(fd, bytes, length, at) == length, "%s", strerror(errno));
		check_bytes(bytes, a.bytes + from, length, "moved to the card");
		fill(bytes, length, ~pass);
		check(pwrite(fd, bytes, length, at) == length, "%s", strerror(errno));
		memset(b.bytes, 0x5a, BYTES);
		check(!move(b.is.card_address + to, at, length, TO_HOST), "%#x", load(LAST));
		check_bytes(b.bytes + to, bytes, length, "moved to the host");
		check_value(b.bytes, 0x5a, to, "before");
		check_value(b.bytes + to + length, 0x5a, BYTES - to - length, "after");
	}
	check(move(b.is.card_address, 0, 4, 0) == 0x11, "against the direction: %#x", load(LAST));
	check(move(a.is.card_address + BYTES - 3, 0, 4, 0) == 7, "beyond the end: %#x", load(LAST));
	release(fd, &a);
	check(move(a.is.card_address, 0, 4, 0) == 0x10, "of no buffer: %#x", load(LAST));
	release(fd, &b);
	free(bytes);
}

/* The file is closed while the card moves a buffer: it ends before the memory goes to others. */
static void close_while_moving(void)
{
	for (uint32_t pass = 0; pass < 2; pass++) {
		int other = open_device();
		struct buffer b = buffer(other, LIMIT, WRITE);
		uint8_t *mine;

		for (int times = 0; times < 2; times++)
			submit(b.is.card_address, 0, LIMIT, TO_HOST);
		munmap(b.bytes, b.is.bytes);
		close(other);
		mine = mmap(NULL, 2 * LIMIT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		check(mine != MAP_FAILED, "%s", strerror(errno));
		fill(mine, 2 * LIMIT, pass);
		usleep(20000);
		check_pattern(mine, 2 * LIMIT, pass);
		munmap(mine, 2 * LIMIT);
	}
}

int main(void)
{
	user = open(USER, O_RDWR);
	check(user >= 0, "%s", strerror(errno));
	fd = open_device();
	through_the_card();
	close_while_moving();
	through_the_card();
	finish("hostmove");
}
