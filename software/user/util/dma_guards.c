// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The bytes before and after an area of the card's memory, which no transfer may change. */
#include <errno.h>

#include "dma_test.h"

static int read_guard(struct dma_test *test, const struct card_guard *guard, uint8_t *bytes)
{
	ssize_t moved = litepcie_pread(test->card, bytes, guard->bytes, guard->offset);

	if (moved < 0)
		return (int)moved;
	return (size_t)moved == guard->bytes ? 0 : -ENOSPC;
}

int card_guards_save(struct dma_test *test, struct side *side)
{
	uint64_t end = side->offset + test->area, left = test->info.memory_bytes - end;
	struct card_guard *before = &side->guards[0], *after = &side->guards[1];
	int err;

	before->bytes = side->offset < CARD_GUARD ? side->offset : CARD_GUARD;
	before->offset = side->offset - before->bytes;
	after->bytes = left < CARD_GUARD ? left : CARD_GUARD;
	after->offset = end;
	err = read_guard(test, before, before->saved);
	if (err >= 0)
		err = read_guard(test, after, after->saved);
	return dma_failed(test, side, "reading the guard bytes", err);
}

int card_guards_check(struct dma_test *test, const struct side *side)
{
	uint8_t bytes[CARD_GUARD];

	for (int i = 0; i < 2; i++) {
		int err;

		/* If bytes do not arrive, the buffer must not contain the right ones. */
		fill_inverse(bytes, side->guards[i].saved, side->guards[i].bytes);
		err = read_guard(test, &side->guards[i], bytes);
		if (dma_failed(test, side, "reading the guard bytes", err))
			return -1;
		if (!card_guard_is_right(test, side, &side->guards[i], bytes))
			return -1;
	}
	return 0;
}
