// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptors and positions in a ring: pure functions, tested without a card.
 *
 * Counts of descriptors are 32 bits wide and wrap, in the card and here, so
 * only their differences are compared.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "descriptor.h"
#include "litepcie_regs.h"

static_assert(sizeof(struct litepcie_descriptor) == LITEPCIE_DESCRIPTOR_BYTES);

/**
 * litepcie_descriptor_encode() - fill a descriptor
 * @descriptor: the slot in the ring
 * @length: bytes, 1 to LITEPCIE_DESCRIPTOR_LENGTH_MASK
 * @flags: LITEPCIE_DESCRIPTOR_INTERRUPT or 0
 * @endpoint: byte address in the memory of the card
 * @host: bus address of the host memory
 */
void litepcie_descriptor_encode(struct litepcie_descriptor *descriptor,
				u32 length, u32 flags, u32 endpoint, u64 host)
{
	length &= LITEPCIE_DESCRIPTOR_LENGTH_MASK;
	descriptor->control = cpu_to_le32(length | flags);
	descriptor->endpoint = cpu_to_le32(endpoint);
	descriptor->host_lo = cpu_to_le32(lower_32_bits(host));
	descriptor->host_hi = cpu_to_le32(upper_32_bits(host));
}

/**
 * litepcie_ring_room() - descriptors that can be added to a ring
 * @log2: log2 of the number of descriptors in the ring
 * @produced: descriptors made available since the reset
 * @completed: descriptors reported complete since the reset
 *
 * Return: free descriptors, 0 to the size of the ring.
 */
u32 litepcie_ring_room(unsigned int log2, u32 produced, u32 completed)
{
	return BIT(log2) - (produced - completed);
}

/**
 * litepcie_ring_count_valid() - is a count that the card reports possible
 * @completed: the last valid count
 * @reported: the count to check
 * @produced: descriptors made available since the reset
 *
 * Return: true if @reported is in the range from @completed to @produced.
 */
bool litepcie_ring_count_valid(u32 completed, u32 reported, u32 produced)
{
	return reported - completed <= produced - completed;
}

/**
 * litepcie_chunk_bytes() - how much of a buffer one request takes
 * @offset: offset of the first byte in its page
 * @left: bytes left in the buffer
 * @pages: largest number of pages in a request
 * @page_size: bytes of a page
 *
 * Every chunk except the last ends at a page boundary, so every chunk except
 * the first begins at one.
 *
 * Return: bytes, 0 only if @left is 0.
 */
size_t litepcie_chunk_bytes(unsigned long offset, size_t left,
			    unsigned int pages, unsigned long page_size)
{
	return min_t(size_t, left, pages * page_size - offset);
}

static const struct {
	int error;
	const char *name;
} litepcie_reasons[] = {
	[LITEPCIE_REASON_NONE] = { -EIO, "no reason given" },
	[LITEPCIE_REASON_UNSUPPORTED_REQUEST] = { -EIO, "unsupported request" },
	[LITEPCIE_REASON_COMPLETER_ABORT] = { -EIO, "completer abort" },
	[LITEPCIE_REASON_POISONED] = { -EIO, "poisoned completion" },
	[LITEPCIE_REASON_TIMEOUT] = { -ETIMEDOUT, "completion timeout" },
	[LITEPCIE_REASON_BAD_LENGTH] = { -EIO, "wrong completion length" },
	[LITEPCIE_REASON_ZERO_LENGTH] = { -EIO, "descriptor of length 0" },
	[LITEPCIE_REASON_MEMORY_RANGE] = { -EIO, "address past the end of the card's memory" },
	[LITEPCIE_REASON_BAD_LINK] = { -EIO, "bad LINK descriptor" },
	[LITEPCIE_REASON_DOORBELL] = { -EIO, "doorbell beyond the ring or backwards" },
	[LITEPCIE_REASON_BAD_RING] = { -EIO, "ring or status block misaligned" },
	[LITEPCIE_REASON_BUS_MASTER] = { -EIO, "bus mastering is off" },
	[LITEPCIE_REASON_RESERVED] = { -EIO, "reserved bit of a descriptor is set" },
	[LITEPCIE_REASON_MEMORY_ERROR] = { -EIO, "error of the card's memory" },
};

/**
 * litepcie_reason_errno() - errno for the reason why an engine stopped
 * @reason: LITEPCIE_REASON_*, or an unknown one of later gateware
 *
 * Return: negative errno, as the uapi header says.
 */
int litepcie_reason_errno(u8 reason)
{
	if (reason >= ARRAY_SIZE(litepcie_reasons))
		return -EIO;
	return litepcie_reasons[reason].error;
}

/**
 * litepcie_reason_name() - text for the reason why an engine stopped
 * @reason: LITEPCIE_REASON_*, or an unknown one of later gateware
 *
 * Return: a constant string.
 */
const char *litepcie_reason_name(u8 reason)
{
	if (reason >= ARRAY_SIZE(litepcie_reasons))
		return "unknown reason";
	return litepcie_reasons[reason].name;
}
