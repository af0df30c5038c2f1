// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Measures one write to the card with the card's own counters. Uses liblitepcie.
 *
 *	rate [BYTES]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <liblitepcie.h>

static int fail(const char *what, int error)
{
	fprintf(stderr, "%s: %s\n", what, litepcie_strerror(error));
	return 1;
}

/* Cycles in which readers were active: the driver may spread a write over all channels. */
static int active_cycles(struct litepcie *card, unsigned int channels, uint64_t *cycles)
{
	struct litepcie_counters counters;
	int error = 0;

	*cycles = 0;
	for (unsigned int i = 0; i < channels && error >= 0; i++) {
		error = litepcie_get_counters(card, i, LITEPCIE_TO_CARD, &counters);
		*cycles += counters.active_cycles;
	}
	return error;
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 1 ? strtoull(argv[1], NULL, 0) : 1 << 20;
	uint64_t before, after;
	char *buffer;
	struct litepcie_info info;
	struct litepcie *card;
	uint64_t cycles;
	ssize_t moved;
	int error;

	error = litepcie_open_index(&card, 0);
	if (error < 0)
		return fail("/dev/litepcie0", error);
	error = litepcie_get_info(card, &info);
	if (error < 0)
		return fail("info", error);
	if (argc < 2 && bytes > info.memory_bytes)
		bytes = info.memory_bytes;
	buffer = calloc(bytes, 1);
	printf("%s, Gen%" PRIu32 " x%" PRIu32 ", %" PRIu64 " bytes of memory\n", info.target,
	       info.link_gen, info.link_lanes, (uint64_t)info.memory_bytes);

	/* write(2) moves host memory to the card: the card's reader. */
	error = active_cycles(card, info.channels, &before);
	if (error < 0)
		return fail("counters", error);
	moved = litepcie_pwrite(card, buffer, bytes, 0);
	if (moved < 0)
		return fail("transfer", (int)moved);
	error = active_cycles(card, info.channels, &after);
	if (error < 0)
		return fail("counters", error);

	cycles = after - before;
	printf("%zd bytes in %" PRIu64 " cycles of %.0f MHz: %.1f MB/s\n", moved, cycles,
	       info.clock_hz / 1e6, (double)moved * info.clock_hz / (double)cycles / 1e6);
	litepcie_close(card);
	free(buffer);
	return 0;
}
