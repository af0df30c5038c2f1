// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Errors the card saw during dma_test. A transfer that was cut short by one and went on without it
 * is whole in the end; the test fails all the same.
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
	snprintf(test->error, sizeof(test->error), "error counters: %s", litepcie_strerror(err));
	return -1;
}

int card_errors_check(struct dma_test *test, const struct side *side)
{
	struct litepcie_errors now;

	/* Without an answer the next transfer says why. */
	if (litepcie_get_errors(test->card, &now) < 0)
		return 0;
	card_errors_since(&test->errors, &now, test->card_errors, sizeof(test->card_errors));
	if (!test->card_errors[0])
		return 0;
	if (!test->error[0])
		snprintf(test->error, sizeof(test->error),
			 "%s, iteration %" PRIu64 ": an error the driver could get over",
			 direction_word(side->direction), test->iteration);
	return -1;
}
