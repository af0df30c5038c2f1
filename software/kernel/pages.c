// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a request: the caller's pages, pinned; pages that the caller
 * holds itself (fixed buffers of io_uring, splice); a part of a dma-buf, which
 * dmabuf_request.c finds; or the driver's pages, with a copy from or to the caller's
 * buffer. All that is allocated here is charged to the caller's memory cgroup.
 *
 * The caller's own pages are used if possible. The driver copies
 * - memory of the kernel that has no pages of its own;
 * - vector elements smaller than a page: several of them form one request;
 * - buffers that share a cache line with other data, on a machine whose caches
 *   are not coherent with the card.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/mm.h>

#include "compat.h"
#include "dmabuf.h"
#include "driver.h"
#include "request.h"

/* Number of bytes copied from and to callers' buffers, for all cards. */
atomic64_t litepcie_copied_bytes = ATOMIC64_INIT(0);

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
	atomic64_add(copied, &litepcie_copied_bytes);
	return copied;
}

/* A request of up to @bytes in the driver's pages. */
static struct litepcie_request *litepcie_bounce(struct litepcie_engine *engine,
						struct iov_iter *iter, size_t bytes)
{
	gfp_t flags = GFP_KERNEL_ACCOUNT;
	unsigned int i, nr_pages;
	struct litepcie_request *req;
	int ret = -ENOMEM;

	bytes = litepcie_chunk_bytes(0, min_t(size_t, bytes, LITEPCIE_BOUNCE_BYTES),
				     engine->max_pages, PAGE_SIZE);
	nr_pages = DIV_ROUND_UP(bytes, PAGE_SIZE);
	req = litepcie_request_alloc(nr_pages);
	if (!req)
		return ERR_PTR(-ENOMEM);
	req->memory = LITEPCIE_MEMORY_BOUNCED;
	req->iter = *iter;
	/* The caller gets what the card says that it wrote, whether it did or not. */
	if (engine->dma == DMA_FROM_DEVICE)
		flags |= __GFP_ZERO;
	for (i = 0; i < nr_pages; i++) {
		req->pages[i] = alloc_page(flags);
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
	unsigned int flags = engine->dma == DMA_FROM_DEVICE ? FOLL_WRITE : 0;
	unsigned int nr_pages = litepcie_pages_to_pin(engine, *iter, left);
	unsigned int pinned = 0, wanted;
	struct litepcie_request *req;
	size_t bytes;
	int ret;

	req = litepcie_request_alloc(nr_pages);
	if (!req)
		return ERR_PTR(-ENOMEM);
	req->iter = *iter;
	do {
		bytes = litepcie_bytes_to_pin(engine, iter, left - req->bytes,
					      nr_pages - pinned);
		wanted = litepcie_pages_of(iter, bytes);
		ret = pin_user_pages_fast((unsigned long)iter_iov_addr(iter) & PAGE_MASK,
					  wanted, flags, req->pages + pinned);
		if (ret <= 0)
			break;
		pinned += ret;
		bytes = min_t(size_t, bytes, ret * PAGE_SIZE -
			      offset_in_page(iter_iov_addr(iter)));
		req->bytes += bytes;
		iov_iter_advance(iter, bytes);
		/* If fewer pages were pinned, the next request gets the error. */
	} while (ret == wanted && pinned < nr_pages);

	req->nr_pages = pinned;
	if (!pinned) {
		litepcie_request_free(engine, req);
		return ERR_PTR(ret ? ret : -EFAULT);
	}
	atomic_add(pinned, &litepcie_pinned_pages);
	return req;
}

/* A request in pages that the caller holds: at most a descriptor per element. */
static struct litepcie_request *litepcie_borrow(struct litepcie_engine *engine,
						struct iov_iter *iter, size_t left)
{
	size_t most = min(left, (size_t)engine->max_pages * PAGE_SIZE), bytes;
	unsigned int parts = 0;
	struct litepcie_request *req;

	req = litepcie_request_alloc(0);
	if (!req)
		return ERR_PTR(-ENOMEM);
	req->memory = LITEPCIE_MEMORY_BORROWED;
	req->iter = *iter;
	while (req->bytes < most && parts < engine->max_pages) {
		bytes = min3(iov_iter_single_seg_count(iter), most - req->bytes,
			     (size_t)engine->max_segment);
		req->bytes += bytes;
		parts++;
		/* Usually one element is all. */
		if (req->bytes < left)
			iov_iter_advance(iter, bytes);
	}
	return req;
}

/**
 * litepcie_request_create() - make a request of the first part of a buffer
 * @flow: queue of the open file
 * @source: the buffer; advanced past the request if bytes are left after it, else
 *	and on error its position is undefined
 * @left: bytes of the buffer to move, not 0
 *
 * Allocates the request, and pins or copies its memory. May wait for the
 * caller's pages, so it must not be called inside litepcie_device.gate.
 *
 * Return: the request, to be ended with litepcie_request_finish(), or an
 * ERR_PTR().
 */
struct litepcie_request *litepcie_request_create(struct litepcie_flow *flow,
						 struct litepcie_source *source,
						 size_t left)
{
	struct litepcie_engine *engine = flow->engine;
	struct iov_iter *iter = source->iter;
	struct litepcie_request *req;
	size_t copy;
	int ret;

	if (source->dmabuf) {
		req = litepcie_dmabuf_request(engine, source, left);
		if (!IS_ERR(req))
			req->flow = flow;
		return req;
	}
	litepcie_skip_empty(iter);
	copy = litepcie_bytes_to_copy(engine, iter, left);
	if (copy)
		req = litepcie_bounce(engine, iter, copy);
	else if (iov_iter_is_bvec(iter))
		req = litepcie_borrow(engine, iter, left);
	else
		req = litepcie_pin(engine, iter, left);
	if (IS_ERR(req))
		return req;

	req->flow = flow;
	ret = litepcie_scatter(req, engine->max_segment);
	if (!ret)
		return req;
	litepcie_request_free(engine, req);
	return ERR_PTR(ret);
}

/**
 * litepcie_request_finish() - free a request
 * @req: a request that is done or was never submitted; freed
 * @error: set to a negative errno if some bytes were not moved
 *
 * Copies the data to the caller's buffer if it is in the driver's pages. Unless
 * litepcie_request_may_sleep() denies it, may wait for the caller's pages, so it
 * must not be called inside litepcie_device.gate then.
 *
 * Return: bytes that were moved, without a gap from the start.
 */
size_t litepcie_request_finish(struct litepcie_request *req, int *error)
{
	struct litepcie_flow *flow = req->flow;
	size_t moved = req->moved, held = req->held;

	if (req->memory == LITEPCIE_MEMORY_BOUNCED && flow->engine->dma == DMA_FROM_DEVICE)
		moved = litepcie_bounce_copy(req, &req->iter, moved, true);
	if (moved < req->bytes)
		*error = req->error ? req->error : -EFAULT;
	litepcie_request_free(flow->engine, req);
	if (held)
		litepcie_flow_release(flow, held);
	return moved;
}
