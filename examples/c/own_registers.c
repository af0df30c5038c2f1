// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Writes COUNT words into a memory on the card's bus, lets the card add them
 *up, and compares the sum (examples/gateware/own_registers.py).
 *
 *	own_registers [COUNT]
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Places in /dev/litepcie0_user; csr.h of the board has those of registers. */
enum { COUNT = 0x0, SUM = 0x4, BUSY = 0x8, MEMORY = 0x10000, WORDS = 1024 };

static uint32_t get(int user, off_t offset)
{
	uint32_t value = 0;

	if (pread(user, &value, sizeof(value), offset) != sizeof(value)) {
		perror("/dev/litepcie0_user");
		exit(1);
	}
	return value;
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? strtoul(argv[1], NULL, 0) : WORDS, words[WORDS], sum = 0;
	int user = open("/dev/litepcie0_user", O_RDWR);

	if (user < 0)
		return perror("/dev/litepcie0_user"), 1;
	if (count > WORDS)
		return fprintf(stderr, "own_registers: give up to %d words\n", WORDS), 1;
	for (uint32_t i = 0; i < count; i++)
		sum += words[i] = random();
	/* Words arrive in order, before the register that follows them. */
	if (pwrite(user, words, 4 * count, MEMORY) != 4 * (ssize_t)count ||
	    pwrite(user, &count, sizeof(count), COUNT) != sizeof(count))
		return perror("/dev/litepcie0_user"), 1;
	while (get(user, BUSY))
		;
	if (get(user, SUM) != sum)
		return fprintf(stderr, "the sum of %u words is wrong\n", count), 1;
	printf("%u words: the card's sum is right\n", count);
	return 0;
}
