/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a card is.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_IDENTITY_H
#define _LITEPCIE_IDENTITY_H

#include <linux/bitfield.h>
#include <linux/sizes.h>
#include <linux/types.h>

#include "litepcie_regs.h"

/* End of the registers in BAR0 that only the driver may write. */
#define LITEPCIE_DRIVER_BYTES	SZ_512K

/**
 * struct litepcie_identity - what the card is, read once at probe
 * @version: version of the gateware, major << 16 | minor
 * @capabilities: LITEPCIE_CAPABILITY_*
 * @geometry: register GEOMETRY
 * @memory_bytes: size of the memory of the card
 * @window_start: physical address of the window onto that memory
 * @window_bytes: size of the window, a multiple of the page size; 0: none
 * @user_start: physical address of the user's registers
 * @user_offset: their offset in BAR0
 * @user_bytes: their size; 0: none
 * @user_origin: address of the first one on the bus of the card's SoC
 * @clock_hz: clock of the data path
 * @built_link: register BUILT_LINK
 * @streams: number of stream channels
 * @stream_lacks: those without an engine for a direction, by bit; by direction
 * @interrupts: number of interrupts of the user's logic
 * @interrupt_pulses: those that latch pulses, by bit
 * @interrupt_names: their names
 * @host_buffers: most buffers of the user logic; 0: it has no port
 * @host_limit: bytes of the largest of them
 * @target: name the gateware was built with
 */
struct litepcie_identity {
	u32 version;
	u32 capabilities;
	u32 geometry;
	u64 memory_bytes;
	phys_addr_t window_start;
	u32 window_bytes;
	phys_addr_t user_start;
	u32 user_offset;
	u32 user_bytes;
	u32 user_origin;
	u32 clock_hz;
	u32 built_link;
	u32 streams;
	u32 stream_lacks[2];
	u32 interrupts;
	u32 interrupt_pulses;
	char interrupt_names[LITEPCIE_MAX_INTERRUPTS][LITEPCIE_INTERRUPT_NAME_BYTES];
	u32 host_buffers;
	u32 host_limit;
	char target[LITEPCIE_TARGET_BYTES];
};

/*
 * Number of memory channels, which have banks 0, 1, ...; streams come after them. 0 on a
 * card that has streams only.
 */
static inline unsigned int litepcie_channels(const struct litepcie_identity *id)
{
	return FIELD_GET(LITEPCIE_GEOMETRY_CHANNELS_MASK, id->geometry);
}

/* Banks of engines that a card can have: at least one, of memory or of a stream. */
static inline bool litepcie_channels_fit(u32 channels, u32 streams)
{
	return channels + streams >= 1 && channels + streams <= LITEPCIE_MAX_CHANNELS;
}

/* Has stream @number an engine for @direction? All have both in gateware before 1.8. */
static inline bool litepcie_has_stream_end(const struct litepcie_identity *id,
					   unsigned int number, unsigned int direction)
{
	return !(id->stream_lacks[direction] >> number & 1);
}

/* Gateware since 1.3: each engine has a vector and reports the last completion at once. */
static inline bool litepcie_has_interrupt(const struct litepcie_identity *id)
{
	return FIELD_GET(LITEPCIE_VERSION_MINOR_MASK, id->version) >= 3;
}

/* Gateware since 1.7: the engines of streams count what passes between card and logic. */
static inline bool litepcie_counts_passed(const struct litepcie_identity *id)
{
	return FIELD_GET(LITEPCIE_VERSION_MINOR_MASK, id->version) >= 7;
}

#endif /* _LITEPCIE_IDENTITY_H */
