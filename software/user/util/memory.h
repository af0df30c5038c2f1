/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* The card's memory for the command mem: a range of it, by DMA or by the CPU. */
#ifndef LITEPCIE_UTIL_MEMORY_H
#define LITEPCIE_UTIL_MEMORY_H

#include "util.h"

#define MEMORY_CHUNK (UINT64_C(1) << 20) /* bytes moved at once */

struct memory {
	const struct settings *settings;
	struct litepcie *card;
	struct litepcie_info info;
	uint8_t *window; /* mapped for --pio, NULL: DMA */
	uint64_t offset, bytes;
	uint8_t *chunk, *other; /* MEMORY_CHUNK bytes each */
};

/* Maps the window. 0, or the exit code after one line on stderr. */
int memory_map(struct memory *memory);

/* Move @bytes at @offset of the card's memory. The same results. */
int memory_read(const struct memory *memory, void *data, uint64_t bytes, uint64_t offset);
int memory_write(const struct memory *memory, const void *data, uint64_t bytes, uint64_t offset);

/*
 * Locks a range of the card's memory for this process, until it ends. 0, or the exit code after one
 * line on stderr if another process of this tool uses it.
 */
int memory_lock(const struct settings *settings, const struct litepcie *card, uint64_t start,
		uint64_t bytes);

#endif /* LITEPCIE_UTIL_MEMORY_H */
