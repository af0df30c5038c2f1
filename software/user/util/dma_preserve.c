// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* dma_test --preserve: keeps what the test overwrites in host memory, and writes it back. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dma_test.h"

static bool overwritten(const struct dma_test *test, unsigned int direction)
{
	return test->options->preserve && sequence_has(test->options->sequence, direction) &&
	       (direction == LITEPCIE_READER || test->options->sequence == READ_AND_WRITE ||
		!sequence_has(test->options->sequence, LITEPCIE_READER));
}

int dma_preserve(struct dma_test *test)
{
	uint64_t length = test->area;

	for (unsigned int i = 0; i < 2; i++) {
		struct side *side = &test->sides[i];
		ssize_t got;

		if (!overwritten(test, i))
			continue;
		side->kept = malloc(length);
		if (!side->kept)
			return fail(EXIT_FAILED,
				    "not enough memory for buffers of %" PRIu64 " bytes", length);
		got = litepcie_pread(test->card, side->kept, length, side->offset);
		if (got < 0)
			return fail(exit_code_of((int)got),
				    "%s: reading the memory to preserve: %s",
				    test->settings->device, litepcie_strerror((int)got));
	}
	return 0;
}

void dma_restore(struct dma_test *test)
{
	size_t used;

	for (unsigned int i = 0; i < 2; i++) {
		struct side *side = &test->sides[i];
		ssize_t moved = -EINTR;

		/* A signal before the first byte moves nothing. */
		for (int tries = 0; side->kept && moved == -EINTR && tries < 3; tries++)
			moved = litepcie_pwrite(test->card, side->kept, test->area, side->offset);
		if (!side->kept || moved >= 0)
			continue;
		used = strlen(test->error);
		test->failure = (int)moved;
		test->lost = true;
		snprintf(test->error + used, sizeof(test->error) - used,
			 "%sthe memory was not restored, its bytes are lost: %s", used ? "; " : "",
			 litepcie_strerror((int)moved));
	}
}
