/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Descriptors and positions in a ring: pure functions, tested without a card.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_DESCRIPTOR_H
#define _LITEPCIE_DESCRIPTOR_H

#include <linux/types.h>

/**
 * struct litepcie_descriptor - one descriptor, as the card reads it
 * @control: length in bytes, LITEPCIE_DESCRIPTOR_* flags
 * @endpoint: byte address in the memory of the card
 * @host_lo: bus address of the host memory, low half
 * @host_hi: bus address of the host memory, high half
 */
struct litepcie_descriptor {
	__le32 control;
	__le32 endpoint;
	__le32 host_lo;
	__le32 host_hi;
};

void litepcie_descriptor_encode(struct litepcie_descriptor *descriptor,
				u32 length, u32 flags, u32 endpoint, u64 host);
u32 litepcie_ring_room(unsigned int log2, u32 produced, u32 completed);
bool litepcie_ring_count_valid(u32 completed, u32 reported, u32 produced);
size_t litepcie_chunk_bytes(unsigned long offset, size_t left,
			    unsigned int pages, unsigned long page_size);
int litepcie_reason_errno(u8 reason);
const char *litepcie_reason_name(u8 reason);

#endif /* _LITEPCIE_DESCRIPTOR_H */
