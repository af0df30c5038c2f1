// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which part of a caller's buffer the next request takes, and how.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>

#include "compat.h"
#include "driver.h"
#include "request.h"

/**
 * litepcie_skip_empty() - move a buffer past empty parts
 * @iter: the buffer
 *
 * Buffers rarely have any, so this asks first: it is called several times per call.
 */
void litepcie_skip_empty(struct iov_iter *iter)
{
	if (!iov_iter_single_seg_count(iter))
		iov_iter_advance(iter, 0);
}

/* Bytes at the start of a buffer that are in elements smaller than a page. */
static size_t litepcie_bytes_to_gather(const struct iov_iter *iter, size_t left)
{
	struct iov_iter part = *iter;
	size_t gathered = 0, bytes;

	left = min_t(size_t, left, LITEPCIE_BOUNCE_BYTES);
	while (gathered < left) {
		bytes = min(iov_iter_single_seg_count(&part), left - gathered);
		if (bytes >= PAGE_SIZE)
			break;
		gathered += bytes;
		iov_iter_advance(&part, bytes);
	}
	return gathered;
}

/* Alignment that a pinned buffer needs to share no cache line. */
static unsigned long litepcie_line_bytes(struct litepcie_engine *engine)
{
	if (engine->dma != DMA_FROM_DEVICE || dev_is_dma_coherent(&engine->ld->pdev->dev))
		return 1;
	return dma_get_cache_alignment();
}

/**
 * litepcie_bytes_to_copy() - must the driver copy
 * @engine: the engine of the direction
 * @iter: the buffer, at a byte
 * @left: bytes of the buffer to move, not 0
 *
 * Return: bytes of the next request if it must be copied, 0 if it need not be.
 */
size_t litepcie_bytes_to_copy(struct litepcie_engine *engine, struct iov_iter *iter,
			      size_t left)
{
	unsigned long lines = litepcie_line_bytes(engine) - 1;
	unsigned long address;
	size_t gathered, segment;

	if (iov_iter_is_bvec(iter))
		return lines ? left : 0;
	if (!user_backed_iter(iter))
		return left;
	segment = min(iov_iter_single_seg_count(iter), left);
	gathered = litepcie_bytes_to_gather(iter, left);
	if (gathered > segment)
		return gathered;
	address = (unsigned long)iter_iov_addr(iter);
	if (address & lines)
		return min_t(size_t, segment, PAGE_SIZE - offset_in_page(address));
	if (segment < PAGE_SIZE && segment & lines)
		return segment;
	return 0;
}

/**
 * litepcie_pages_of() - number of pages of the start of a buffer
 * @iter: the buffer, of user memory
 * @bytes: bytes of its first element
 *
 * Return: pages that these bytes are in.
 */
unsigned int litepcie_pages_of(const struct iov_iter *iter, size_t bytes)
{
	return DIV_ROUND_UP(offset_in_page(iter_iov_addr(iter)) + bytes, PAGE_SIZE);
}

/**
 * litepcie_bytes_to_pin() - part of the first element of a buffer
 * @engine: the engine of the direction
 * @iter: the buffer, of user memory, not to be copied
 * @left: bytes of the buffer to move, not 0
 * @room: pages that the request may have, not 0
 *
 * Return: bytes of the first element that the request takes.
 */
size_t litepcie_bytes_to_pin(struct litepcie_engine *engine,
			     const struct iov_iter *iter, size_t left,
			     unsigned int room)
{
	size_t segment = min(iov_iter_single_seg_count(iter), left);

	return litepcie_chunk_bytes(offset_in_page(iter_iov_addr(iter)),
				    round_down(segment, litepcie_line_bytes(engine)),
				    room, PAGE_SIZE);
}

/**
 * litepcie_pages_to_pin() - size of the next request
 * @engine: the engine of the direction
 * @part: the buffer, of user memory, not to be copied
 * @left: bytes of the buffer to move, not 0
 *
 * The request takes elements until one must be copied or it has enough pages.
 *
 * Return: number of its pages.
 */
unsigned int litepcie_pages_to_pin(struct litepcie_engine *engine,
				   struct iov_iter part, size_t left)
{
	unsigned int pages = 0;
	size_t bytes;

	do {
		bytes = litepcie_bytes_to_pin(engine, &part, left,
					      engine->max_pages - pages);
		pages += litepcie_pages_of(&part, bytes);
		left -= bytes;
		if (!left || pages == engine->max_pages)
			break;
		iov_iter_advance(&part, bytes);
	} while (!litepcie_bytes_to_copy(engine, &part, left));
	return pages;
}

/**
 * litepcie_buffer_can_leave() - may a call go on without its caller
 * @engine: the engine of the direction
 * @iter: the buffer
 * @left: bytes of the buffer to move
 *
 * What is copied to the caller's buffer needs the caller's address space. What is
 * copied from it does not, after it was submitted.
 *
 * Return: true if the requests of the buffer can be finished anywhere.
 */
bool litepcie_buffer_can_leave(struct litepcie_engine *engine,
			       struct iov_iter *iter, size_t left)
{
	struct iov_iter part;
	size_t bytes;

	if (engine->dma != DMA_FROM_DEVICE)
		return true;
	if (iov_iter_is_bvec(iter))
		return litepcie_line_bytes(engine) == 1;
	litepcie_skip_empty(iter);
	part = *iter;
	while (!litepcie_bytes_to_copy(engine, &part, left)) {
		bytes = min(iov_iter_single_seg_count(&part), left);
		left -= bytes;
		if (!left)
			return !(bytes & (litepcie_line_bytes(engine) - 1));
		iov_iter_advance(&part, bytes);
	}
	return false;
}
