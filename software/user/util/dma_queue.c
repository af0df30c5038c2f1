// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* dma_test --depth: the transfers of an iteration are in flight together. */
#include <errno.h>
#include <sys/uio.h>

#include "dma_test.h"

int queue_begin(struct dma_test *test, struct side *side)
{
	struct iovec buffers[] = { { side->source.data, test->area },
				   { side->landing.data, test->area } };
	int err = litepcie_queue_open(&side->queue, test->card, (unsigned int)test->options->depth);

	/* Without registered buffers, the kernel pins the pages of each transfer. */
	if (!err)
		litepcie_queue_register(side->queue, buffers, 2);
	return err;
}

/* Starts what is left of a transfer; its number is the tag. */
static int start(struct dma_test *test, struct side *side, unsigned int slot, uint64_t moved)
{
	uint64_t at = slot * test->length + moved, bytes = test->length - moved;

	if (side->direction == LITEPCIE_READER)
		return litepcie_queue_write(side->queue, side->source.data + at, bytes,
					    side->offset + at, slot);
	return litepcie_queue_read(side->queue, side->landing.data + at, bytes, side->offset + at,
				   slot);
}

/* Takes the result of a transfer; starts the rest of one that was cut short. */
static int finish(struct dma_test *test, struct side *side, const struct litepcie_done *done,
		  uint64_t *moved, const double *began)
{
	unsigned int slot = (unsigned int)done->tag;

	if (done->result <= 0)
		return done->result ? (int)done->result : -ENOSPC;
	moved[slot] += (uint64_t)done->result;
	if (moved[slot] < test->length)
		return dma_caught() ? -EINTR : start(test, side, slot, moved[slot]);
	side->seconds[slot] = dma_now() - began[slot];
	return 0;
}

int queue_move(struct dma_test *test, struct side *side)
{
	uint64_t moved[LITEPCIE_QUEUE_MOST] = { 0 };
	double began[LITEPCIE_QUEUE_MOST];
	int err = 0;

	for (unsigned int slot = 0; slot < test->options->depth && !err; slot++) {
		began[slot] = dma_now();
		err = start(test, side, slot, 0);
	}
	while (litepcie_queue_in_flight(side->queue)) {
		struct litepcie_done done;
		int n = litepcie_queue_wait(side->queue, &done, 1, -1), failed;

		if (n > 0) {
			failed = finish(test, side, &done, moved, began);
			err = err ? err : failed;
		} else if (n < 0 && n != -EINTR) {
			return n;
		}
		/*
		 * What the card does not have need not be waited for. After each result, a
		 * transfer that waited for room takes its place in the driver's queue.
		 */
		if (err || dma_caught())
			litepcie_cancel(test->card);
	}
	return dma_caught() ? -EINTR : err;
}
