// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Compares the link of a card with what the card and its slot can do. */
#include "link_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "sysfs.h"

/* sysfs has the rate of a lane, such as "5.0 GT/s PCIe". */
static unsigned int gen_of(const char *speed)
{
	static const double rates[] = { 2.5, 5, 8, 16, 32, 64 };
	double rate = strtod(speed, NULL);

	for (unsigned int i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		if (rate == rates[i])
			return i + 1;
	return 0;
}

static struct width read_width(const char *folder, const char *which)
{
	char name[40], speed[SYSFS_TEXT], lanes[SYSFS_TEXT];
	struct width width;

	snprintf(name, sizeof(name), "%s_link_speed", which);
	sysfs_line(folder, name, speed, sizeof(speed));
	snprintf(name, sizeof(name), "%s_link_width", which);
	sysfs_line(folder, name, lanes, sizeof(lanes));
	width.gen = gen_of(speed);
	width.lanes = (unsigned int)strtoul(lanes, NULL, 10);
	/* The kernel says 255 if it does not know the width. */
	if (!width.gen || width.lanes > 32)
		width = (struct width){ 0 };
	return width;
}

void link_state_read(struct link_state *link, const char *address)
{
	char folder[SYSFS_TEXT], above[SYSFS_TEXT];

	snprintf(folder, sizeof(folder), "%s/%.24s", SYSFS_DEVICES, address);
	snprintf(above, sizeof(above), "%s/%.24s/..", SYSFS_DEVICES, address);
	link->now = read_width(folder, "current");
	link->card = read_width(folder, "max");
	link->slot = read_width(above, "max");
}

void link_state_of(struct link_state *link, const struct litepcie_info *info)
{
	link_state_read(link, info->bus_address);
	link->now = (struct width){ info->link_gen, info->link_lanes };
	link->card = (struct width){ info->built_gen, info->built_lanes };
}

void width_text(struct width width, char *text, size_t size)
{
	snprintf(text, size, width.gen ? "Gen%u x%u" : "?", width.gen, width.lanes);
}

static unsigned int lesser(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static bool below(struct width a, struct width b)
{
	return a.gen < b.gen || a.lanes < b.lanes;
}

void link_state_degraded(const struct link_state *link, char *text, size_t size)
{
	struct width both = link->card;
	char now[24], card[24], slot[24], possible[24];

	text[0] = 0;
	if (!link->now.gen || !link->card.gen || !below(link->now, link->card))
		return;
	if (link->slot.gen) {
		both.gen = lesser(link->card.gen, link->slot.gen);
		both.lanes = lesser(link->card.lanes, link->slot.lanes);
	}
	width_text(link->now, now, sizeof(now));
	width_text(link->card, card, sizeof(card));
	width_text(link->slot, slot, sizeof(slot));
	width_text(both, possible, sizeof(possible));
	if (!link->slot.gen)
		snprintf(text, size,
			 "%s, but the card can do %s; what the slot can do is not known: compare "
			 "LnkCap "
			 "of the port (lspci -vv)",
			 now, card);
	else if (below(link->now, both))
		snprintf(text, size,
			 "%s, but the card can do %s and the slot %s: reseat the card, and check "
			 "the clock and the bitstream",
			 now, card, slot);
	else
		snprintf(text, size,
			 "%s, because the slot can do %s; the card can do %s: use a faster slot",
			 now, slot, card);
}
