// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a request: the caller's pages, pinned; or the driver's pages,
 * with a copy from or to the caller's buffer. All that is allocated here is
 * charged to the caller's memory cgroup.
 *
 * The caller's own pages are used if possible. The driver copies
 * - kernel memory: splice, vectors of the kernel, fixed buffers of io_uring;
 * - vector elements smaller than a page: several of them form one request;
 * - buffers that share a cache line with other data, on a machine whose caches
 *   are not coherent with the card.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "driver.h"
#include "request.h"

/* Number of callers' pages pinned now, for all cards. */
atomic_t litepcie_pinned_pages = ATOMIC_INIT(0);

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
	return engine->dma == DMA_FROM_DEVICE ? dma_get_cache_alignment() : 1;
}

/* Bytes of the next request if it must be copied, 0 if it can be pinned. */
static size_t litepcie_bytes_to_copy(struct litepcie_engine *engine,
				     struct iov_iter *iter, size_t left)
{
	size_t segment = min(iov_iter_single_seg_count(iter), left);
	unsigned long lines = litepcie_line_bytes(engine) - 1;
	unsigned long address;
	size_t gathered;

	if (!user_backed_iter(iter))
		return left;
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

static struct litepcie_request *litepcie_request_alloc(unsigned int nr_pages)
{
	struct litepcie_request *req;

	req = kzalloc(struct_size(req, pages, nr_pages), GFP_KERNEL_ACCOUNT);
	if (req)
		req->nr_pages = nr_pages;
	return req;
}

/* Frees or unpins the pages of a request and frees the request. */
static void litepcie_request_free(struct litepcie_engine *engine,
				  struct litepcie_request *req)
{
	unsigned int i;

	if (req->bounced) {
		for (i = 0; i < req->nr_pages && req->pages[i]; i++)
			__free_page(req->pages[i]);
	} else {
		unpin_user_pages_dirty_lock(req->pages, req->nr_pages,
					    engine->dma == DMA_FROM_DEVICE);
		atomic_sub(req->nr_pages, &litepcie_pinned_pages);
	}
	kfree(req);
}

/* Copies the first @bytes of a request. Its data starts at the first page. */
static size_t litepcie_bounce_copy(struct litepcie_request *req,
				   struct iov_iter *iter, size_t bytes,
				   bool to_caller)
{
	size_t copied = 0, part, n;
	unsigned int i;

	for (i = 0; copied < bytes; i++) {
		part = min_t(size_t, bytes - copied, PAGE_SIZE);
		n = to_caller ? copy_page_to_iter(req->pages[i], 0, part, iter) :
				copy_page_from_iter(req->pages[i], 0, part, iter);
		copied += n;
		if (n < part)
			break;
	}
	return copied;
}

/* A request of up to @bytes in the driver's pages. */
static struct litepcie_request *litepcie_bounce(struct litepcie_engine *engine,
						struct iov_iter *iter, size_t bytes)
{
	unsigned int i, nr_pages;
	struct litepcie_request *req;
	int ret = -ENOMEM;

	bytes = litepcie_chunk_bytes(0, min_t(size_t, bytes, LITEPCIE_BOUNCE_BYTES),
				     engine->max_pages, PAGE_SIZE);
	nr_pages = DIV_ROUND_UP(bytes, PAGE_SIZE);
	req = litepcie_request_alloc(nr_pages);
	if (!req)
		return ERR_PTR(-ENOMEM);
	req->bounced = true;
	req->iter = *iter;
	for (i = 0; i < nr_pages; i++) {
		req->pages[i] = alloc_page(GFP_KERNEL_ACCOUNT);
		if (!req->pages[i])
			goto err_free;
	}
	if (engine->dma == DMA_TO_DEVICE) {
		bytes = litepcie_bounce_copy(req, iter, bytes, false);
		ret = -EFAULT;
		if (!bytes)
			goto err_free;
	} else {
		iov_iter_advance(iter, bytes);
	}
	req->bytes = bytes;
	return req;

err_free:
	litepcie_request_free(engine, req);
	return ERR_PTR(ret);
}

/* A request in the caller's pages. */
static struct litepcie_request *litepcie_pin(struct litepcie_engine *engine,
					     struct iov_iter *iter, size_t left)
{
	size_t segment = min(iov_iter_single_seg_count(iter), left);
	unsigned long address = (unsigned long)iter_iov_addr(iter);
	unsigned int offset = offset_in_page(address);
	struct litepcie_request *req;
	unsigned int nr_pages;
	size_t bytes;
	int ret;

	segment = round_down(segment, litepcie_line_bytes(engine));
	bytes = litepcie_chunk_bytes(offset, segment, engine->max_pages,
				     PAGE_SIZE);
	nr_pages = DIV_ROUND_UP(offset + bytes, PAGE_SIZE);
	req = litepcie_request_alloc(nr_pages);
	if (!req)
		return ERR_PTR(-ENOMEM);
	req->iter = *iter;
	ret = pin_user_pages_fast(address & PAGE_MASK, nr_pages,
				  engine->dma == DMA_FROM_DEVICE ? FOLL_WRITE : 0,
				  req->pages);
	if (ret <= 0) {
		kfree(req);
		return ERR_PTR(ret ? ret : -EFAULT);
	}
	atomic_add(ret, &litepcie_pinned_pages);
	/* If fewer pages were pinned, the next request gets the error. */
	req->nr_pages = ret;
	req->bytes = min_t(size_t, bytes, ret * PAGE_SIZE - offset);
	iov_iter_advance(iter, req->bytes);
	return req;
}

/**
 * litepcie_request_create() - make a request of the first part of a buffer
 * @flow: queue of the open file
 * @iter: the buffer; advanced past the request, position undefined on error
 * @left: bytes of the buffer to move, not 0
 *
 * Allocates the request, and pins or copies its memory. May wait for the
 * caller's pages, so it must not be called inside litepcie_device.gate.
 *
 * Return: the request, to be ended with litepcie_request_finish(), or an
 * ERR_PTR().
 */
struct litepcie_request *litepcie_request_create(struct litepcie_flow *flow,
						 struct iov_iter *iter, size_t left)
{
	struct litepcie_engine *engine = flow->engine;
	unsigned int offset = 0;
	struct litepcie_request *req;
	size_t copy;
	int ret;

	iov_iter_advance(iter, 0);	/* past empty parts */
	copy = litepcie_bytes_to_copy(engine, iter, left);
	if (copy) {
		req = litepcie_bounce(engine, iter, copy);
	} else {
		offset = offset_in_page(iter_iov_addr(iter));
		req = litepcie_pin(engine, iter, left);
	}
	if (IS_ERR(req))
		return req;

	req->flow = flow;
	ret = sg_alloc_table_from_pages_segment(&req->sgt, req->pages,
						DIV_ROUND_UP(offset + req->bytes,
							     PAGE_SIZE),
						offset, req->bytes,
						engine->max_segment,
						GFP_KERNEL_ACCOUNT);
	if (!ret)
		return req;
	litepcie_request_free(engine, req);
	return ERR_PTR(ret);
}

/**
 * litepcie_request_can_pin() - is a buffer contiguous and needs no copy
 * @engine: the engine of the direction
 * @iter: the buffer
 * @left: bytes of the buffer to move
 *
 * Return: true if its requests can be finished outside the caller's address
 * space.
 */
bool litepcie_request_can_pin(struct litepcie_engine *engine,
			      struct iov_iter *iter, size_t left)
{
	unsigned long lines = litepcie_line_bytes(engine) - 1;

	iov_iter_advance(iter, 0);	/* past empty parts */
	return user_backed_iter(iter) &&
	       iov_iter_single_seg_count(iter) >= left &&
	       !(((unsigned long)iter_iov_addr(iter) | left) & lines);
}

/**
 * litepcie_request_finish() - free a request
 * @req: a request that is done or was never submitted; freed
 * @error: set to a negative errno if some bytes were not moved
 *
 * Copies the data to the caller's buffer if it is in the driver's pages. May
 * wait for the caller's pages, so it must not be called inside
 * litepcie_device.gate.
 *
 * Return: bytes that were moved, without a gap from the start.
 */
size_t litepcie_request_finish(struct litepcie_request *req, int *error)
{
	struct litepcie_flow *flow = req->flow;
	size_t moved = req->moved, held = req->held;

	sg_free_table(&req->sgt);
	if (req->bounced && flow->engine->dma == DMA_FROM_DEVICE)
		moved = litepcie_bounce_copy(req, &req->iter, moved, true);
	if (moved < req->bytes)
		*error = req->error ? req->error : -EFAULT;
	litepcie_request_free(flow->engine, req);
	if (held)
		litepcie_flow_release(flow, held);
	return moved;
}
