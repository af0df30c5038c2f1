/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* A card: its error counters, and the processes that have it open. */
#ifndef LITEPCIE_UTIL_CARD_H
#define LITEPCIE_UTIL_CARD_H

#include <stddef.h>

#include "util.h"

/* The error counters of a card by name. */

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

/* The processes that have a card open. */

struct card_user {
	int pid;
	char name[24];
};

/*
 * Fills @users with the other processes that have @device or one of its streams open, as far as
 * this user may see them. Returns their number, at most @most.
 */
size_t card_users(const char *device, struct card_user *users, size_t most);

#endif /* LITEPCIE_UTIL_CARD_H */
