/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* The error counters of a card by name. */
#ifndef LITEPCIE_UTIL_CARD_ERRORS_H
#define LITEPCIE_UTIL_CARD_ERRORS_H

#include "util.h"

struct card_error {
	const char *key;  /* in JSON */
	const char *text; /* in text output */
	size_t where;	  /* in struct litepcie_errors */
};

extern const struct card_error card_errors[]; /* ends with a NULL key */

uint32_t card_error_count(const struct litepcie_errors *errors, const struct card_error *which);

/* "timeout 1, refused 2": what was counted between @before and @now; empty if nothing. */
void card_errors_since(const struct litepcie_errors *before, const struct litepcie_errors *now,
		       char *text, size_t size);

#endif /* LITEPCIE_UTIL_CARD_ERRORS_H */
