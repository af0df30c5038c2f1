// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The error counters of a card by name. */
#include "card_errors.h"

#include <inttypes.h>
#include <stdio.h>

#define WHERE(name) offsetof(struct litepcie_errors, name)

/* clang-format off */
const struct card_error card_errors[] = {
	{ "unsupported_request", "unsupported request", WHERE(unsupported_request) },
	{ "completer_abort", "completer abort", WHERE(completer_abort) },
	{ "poisoned", "poisoned", WHERE(poisoned) },
	{ "unexpected", "unexpected", WHERE(unexpected) },
	{ "timeout", "timeout", WHERE(timeout) },
	{ "bad_length", "bad length", WHERE(bad_length) },
	{ "refused", "refused", WHERE(refused) },
	{ 0 },
};
/* clang-format on */

uint32_t card_error_count(const struct litepcie_errors *errors, const struct card_error *which)
{
	return *(const uint32_t *)((const char *)errors + which->where);
}

void card_errors_since(const struct litepcie_errors *before, const struct litepcie_errors *now,
		       char *text, size_t size)
{
	size_t used = 0;

	text[0] = 0;
	for (const struct card_error *e = card_errors; e->key && used < size; e++) {
		uint32_t more = card_error_count(now, e) - card_error_count(before, e);

		if (more)
			used += snprintf(text + used, size - used, "%s%s %" PRIu32,
					 used ? ", " : "", e->text, more);
	}
}
