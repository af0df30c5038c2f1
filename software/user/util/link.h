/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* The link of a card: what it is, and what card and slot can do. */
#ifndef LITEPCIE_UTIL_LINK_H
#define LITEPCIE_UTIL_LINK_H

#include "util.h"

struct width {
	unsigned int gen, lanes; /* 0: not known */
};

/* What the host has set, and what card and slot can do; 0: not known. */
struct sizes {
	unsigned int mps_bytes, mrrs_bytes;
};

struct link_state {
	struct width now, card, slot;
	struct sizes sizes, card_sizes, slot_sizes; /* MRRS: of the host only */
	unsigned int tags;			    /* that the card has */
	bool extended_tags_off;
};

#define LINK_TEXT 768 /* most characters of a line about the link */

/* Tags that the card may use now. */
unsigned int link_state_tags(const struct litepcie_info *info);

/* Reads what sysfs has of the card at @address; the rest is not known. */
void link_state_read(struct link_state *link, const char *address);

/* The same with the link of @info, and what the card was built for. */
void link_state_of(struct link_state *link, const struct litepcie_info *info);

/* "Gen2 x4", or "?" if it is not known */
void width_text(struct width width, char *text, size_t size);

/*
 * Writes one line that says what is slower than the card and why; empty if nothing is. MPS of card
 * and slot are known to root only.
 */
void link_state_degraded(const struct link_state *link, char *text, size_t size);

#endif /* LITEPCIE_UTIL_LINK_H */
