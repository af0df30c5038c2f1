/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* The link of a card: what it is, and what card and slot can do. */
#ifndef LITEPCIE_UTIL_LINK_STATE_H
#define LITEPCIE_UTIL_LINK_STATE_H

#include "util.h"

struct width {
	unsigned int gen, lanes; /* 0: not known */
};

struct link_state {
	struct width now, card, slot;
};

/* Reads what sysfs has of the card at @address; the rest is not known. */
void link_state_read(struct link_state *link, const char *address);

/* The same with the link of @info, and what the card was built for. */
void link_state_of(struct link_state *link, const struct litepcie_info *info);

/* "Gen2 x4", or "?" if it is not known */
void width_text(struct width width, char *text, size_t size);

/* Writes one line that says what is slower than the card and why; empty if nothing is. */
void link_state_degraded(const struct link_state *link, char *text, size_t size);

#endif /* LITEPCIE_UTIL_LINK_STATE_H */
