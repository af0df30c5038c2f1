// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Compares the link of a card with what the card and its slot can do. */
#include "link_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_space.h"
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

#define EXPRESS		  0x10
#define DEVICE_CAPABILITY 4
#define DEVICE_CONTROL	  8
#define DEFAULT_MRRS	  512 /* that of a reset: PCIe 4.0 7.5.3.4 */
#define SHORT_TAGS	  32  /* without extended tags */

static unsigned int size_of(uint32_t code)
{
	return code < 6 ? 128U << code : 0;
}

/* The offset of the PCI Express capability; 0 if only the header can be read. */
static unsigned int find_express(const struct config_space *space)
{
	unsigned int at = config_get(space, 0x34, 1) & ~3U;

	for (unsigned int tries = 0; at && tries < CONFIG_ORDINARY / 4; tries++) {
		if (config_get(space, at, 1) == EXPRESS)
			return at;
		at = config_get(space, at + 1, 1) & ~3U;
	}
	return 0;
}

/* @sizes gets what the host has set, and may be NULL. */
static void read_sizes(const char *address, struct sizes *possible, struct sizes *sizes)
{
	struct config_space space;
	unsigned int at;
	uint32_t control;

	if (config_read(&space, address) < 0)
		return;
	at = find_express(&space);
	if (!at || at + DEVICE_CONTROL + 2 > space.readable)
		return;
	possible->mps_bytes = size_of(config_get(&space, at + DEVICE_CAPABILITY, 4) & 7);
	control = config_get(&space, at + DEVICE_CONTROL, 2);
	if (sizes)
		*sizes = (struct sizes){ size_of(control >> 5 & 7), size_of(control >> 12 & 7) };
}

void link_state_read(struct link_state *link, const char *address)
{
	char folder[SYSFS_TEXT], above[SYSFS_TEXT], port[24];

	memset(link, 0, sizeof(*link));
	snprintf(folder, sizeof(folder), "%s/%.24s", SYSFS_DEVICES, address);
	snprintf(above, sizeof(above), "%s/%.24s/..", SYSFS_DEVICES, address);
	link->now = read_width(folder, "current");
	link->card = read_width(folder, "max");
	link->slot = read_width(above, "max");
	snprintf(port, sizeof(port), "%.20s/..", address);
	read_sizes(address, &link->card_sizes, &link->sizes);
	read_sizes(port, &link->slot_sizes, NULL);
}

void link_state_of(struct link_state *link, const struct litepcie_info *info)
{
	link_state_read(link, info->bus_address);
	link->now = (struct width){ info->link_gen, info->link_lanes };
	link->card = (struct width){ info->built_gen, info->built_lanes };
	link->sizes = (struct sizes){ info->max_payload_bytes, info->max_read_request_bytes };
	link->tags = info->tags;
	/* An older driver reports 0: unknown. */
	link->extended_tags_off =
		info->link_status && !(info->link_status & LITEPCIE_LINK_STATUS_EXTENDED_TAG);
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

static void degraded_width(const struct link_state *link, char *text, size_t size)
{
	struct width both = link->card;
	char now[24], card[24], slot[24], possible[24];

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

/* The host has set less than card and slot can do. */
static void degraded_mps(const struct link_state *link, char *text, size_t size)
{
	unsigned int card = link->card_sizes.mps_bytes, slot = link->slot_sizes.mps_bytes;

	if (!card || !slot || !link->sizes.mps_bytes || link->sizes.mps_bytes >= lesser(card, slot))
		return;
	snprintf(text, size,
		 "MPS %u, but the card can do %u and the slot %u bytes: boot with "
		 "pci=pcie_bus_perf",
		 link->sizes.mps_bytes, card, slot);
}

static void degraded_mrrs(const struct link_state *link, char *text, size_t size)
{
	if (!link->sizes.mrrs_bytes || link->sizes.mrrs_bytes >= DEFAULT_MRRS)
		return;
	snprintf(text, size,
		 "MRRS %u, but the card can do 4096 bytes and no slot limits it: the host has set "
		 "less than the %u of a reset",
		 link->sizes.mrrs_bytes, DEFAULT_MRRS);
}

unsigned int link_state_tags(const struct litepcie_info *info)
{
	bool off = info->link_status && !(info->link_status & LITEPCIE_LINK_STATUS_EXTENDED_TAG);

	return off ? lesser(info->tags, SHORT_TAGS) : info->tags;
}

static void degraded_tags(const struct link_state *link, char *text, size_t size)
{
	if (!link->extended_tags_off || link->tags <= SHORT_TAGS)
		return;
	snprintf(text, size,
		 "%u tags, but the card can do %u and every slot can: the host has disabled "
		 "extended tags",
		 SHORT_TAGS, link->tags);
}

void link_state_degraded(const struct link_state *link, char *text, size_t size)
{
	static void (*const parts[])(const struct link_state *link, char *text,
				     size_t size) = { degraded_width, degraded_mps, degraded_mrrs,
						      degraded_tags };
	size_t used = 0;

	text[0] = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char part[LINK_TEXT / 3] = "";

		parts[i](link, part, sizeof(part));
		if (part[0] && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "; " : "",
						 part);
	}
}
