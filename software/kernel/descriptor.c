// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptors and positions in a ring: functions of their arguments alone.
 *
 * Counts of descriptors are 32 bits wide and wrap, in the card and here: only
 * differences of them mean something.
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
 * @descriptor: where, in the ring
 * @length: bytes, 1 to LITEPCIE_DESCRIPTOR_LENGTH_MASK
 * @flags: LITEPCIE_DESCRIPTOR_INTERRUPT or 0
 * @endpoint: byte address in the memory of the card
 * @host: byte address in host memory, as the card sees it
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
 * @log2: logarithm of the size of the ring
 * @produced: descriptors ever made available
 * @completed: descriptors ever reported complete
 *
 * Return: 0 to the size of the ring.
 */
u32 litepcie_ring_room(unsigned int log2, u32 produced, u32 completed)
{
	return BIT(log2) - (produced - completed);
}

/**
 * litepcie_ring_count_valid() - can a count the card reports be true
 * @completed: the last count that was believed
 * @reported: the count in question
 * @produced: descriptors ever made available
 *
 * Return: true if @reported is not behind @completed nor past @produced.
 */
bool litepcie_ring_count_valid(u32 completed, u32 reported, u32 produced)
{
	return reported - completed <= produced - completed;
}

/**
 * litepcie_chunk_bytes() - how much of a buffer one request takes
 * @offset: of the first byte in its page
 * @left: bytes the buffer still has
 * @pages: pages a request may have
 * @page_size: bytes of a page
 *
 * All but the last chunk of a buffer end with a page, so that all but the
 * first begin with one.
 *
 * Return: bytes, not 0 unless @left is.
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
	[LITEPCIE_REASON_NONE] = { -EIO, "no reason" },
	[LITEPCIE_REASON_UNSUPPORTED_REQUEST] = { -EIO, "unsupported request" },
	[LITEPCIE_REASON_COMPLETER_ABORT] = { -EIO, "completer abort" },
	[LITEPCIE_REASON_POISONED] = { -EIO, "poisoned completion" },
	[LITEPCIE_REASON_TIMEOUT] = { -ETIMEDOUT, "completion timeout" },
	[LITEPCIE_REASON_BAD_LENGTH] = { -EIO, "wrong completion length" },
	[LITEPCIE_REASON_ZERO_LENGTH] = { -EIO, "descriptor of length 0" },
	[LITEPCIE_REASON_MEMORY_RANGE] = { -EIO, "past the memory of the card" },
	[LITEPCIE_REASON_BAD_LINK] = { -EIO, "bad link" },
	[LITEPCIE_REASON_DOORBELL] = { -EIO, "doorbell past the ring" },
	[LITEPCIE_REASON_BAD_RING] = { -EIO, "bad ring" },
	[LITEPCIE_REASON_BUS_MASTER] = { -EIO, "bus mastering is off" },
};

/**
 * litepcie_reason_errno() - why an engine stopped, as its caller is told
 * @reason: LITEPCIE_REASON_*, or one of a later gateware
 *
 * Return: negative errno of the uapi header.
 */
int litepcie_reason_errno(u8 reason)
{
	if (reason >= ARRAY_SIZE(litepcie_reasons))
		return -EIO;
	return litepcie_reasons[reason].error;
}

/**
 * litepcie_reason_name() - why an engine stopped, in words
 * @reason: LITEPCIE_REASON_*, or one of a later gateware
 *
 * Return: a constant string.
 */
const char *litepcie_reason_name(u8 reason)
{
	if (reason >= ARRAY_SIZE(litepcie_reasons))
		return "unknown reason";
	return litepcie_reasons[reason].name;
}
