// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Errors that the card counts during dma_test. The data can be right although the card has counted
 * one, such as a completion that no request expects; then the test still fails.
 */
#include <inttypes.h>
#include <stdio.h>

#include "card_errors.h"
#include "dma_test.h"

int card_errors_begin(struct dma_test *test)
{
	int err = litepcie_get_errors(test->card, &test->errors);

	if (err >= 0)
		return 0;
	test->failure = err;
	snprintf(test->error, sizeof(test->error), "error counters: %s", litepcie_strerror(err));
	return -1;
}

int card_errors_check(struct dma_test *test, const struct side *side)
{
	struct litepcie_errors now;

	/* If the card does not answer, the next transfer reports it. */
	if (litepcie_get_errors(test->card, &now) < 0)
		return 0;
	card_errors_since(&test->errors, &now, test->card_errors, sizeof(test->card_errors));
	if (!test->card_errors[0])
		return 0;
	if (!test->error[0])
		snprintf(test->error, sizeof(test->error),
			 "%s, iteration %" PRIu64 ": the data is right, but there were errors",
			 direction_word(side->direction), test->iteration);
	return -1;
}
