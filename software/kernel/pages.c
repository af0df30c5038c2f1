// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a request gets its memory: a part of the caller's buffer, or of a dma-buf.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/dma-mapping.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>

#include "compat.h"
#include "driver.h"
#include "request.h"

/* Which part of a caller's buffer the next request takes, and how. */

/**
 * litepcie_skip_empty() - move a buffer past empty parts
 * @iter: the buffer
 *
 * Buffers rarely have any, so this asks first: it is called several times per call.
 */
static void litepcie_skip_empty(struct iov_iter *iter)
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
	if (engine->dma != DMA_FROM_DEVICE || engine->ld->coherent)
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
static size_t litepcie_bytes_to_copy(struct litepcie_engine *engine,
				     struct iov_iter *iter, size_t left)
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
static unsigned int litepcie_pages_of(const struct iov_iter *iter, size_t bytes)
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
static size_t litepcie_bytes_to_pin(struct litepcie_engine *engine,
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
static unsigned int litepcie_pages_to_pin(struct litepcie_engine *engine,
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

/* Requests that move a part of an attached dma-buf. */

/*
 * Finds the parts of a request of up to @left bytes, joining those that the card
 * sees next to each other. Writes them to @sg unless that is NULL. Sets @bytes and
 * returns the number of parts.
 */
static unsigned int litepcie_dmabuf_parts(struct litepcie_engine *engine,
					  struct litepcie_source *source, size_t left,
					  struct scatterlist *sg, size_t *bytes)
{
	size_t taken = 0, part = 0, room;
	u64 skip = source->offset;
	unsigned int parts = 0, i;
	dma_addr_t start, end = 0;
	struct scatterlist *from;

	for_each_sgtable_dma_sg(source->dmabuf->sgt, from, i) {
		room = sg_dma_len(from);
		if (skip >= room) {
			skip -= room;
			continue;
		}
		start = sg_dma_address(from) + skip;
		room = min_t(size_t, room - skip, left - taken);
		skip = 0;
		while (room) {
			bool joined = parts && start == end && part < engine->max_segment;
			size_t more = engine->max_segment - (joined ? part : 0);

			if (!joined && parts == engine->max_pages)
				goto full;
			more = min(room, more);
			part = joined ? part + more : more;
			if (!joined && parts++ && sg)
				sg = sg_next(sg);
			if (sg && !joined)
				sg_dma_address(sg) = start;
			if (sg)
				sg_dma_len(sg) = part;
			start += more;
			end = start;
			taken += more;
			room -= more;
		}
		if (taken == left)
			break;
	}
full:
	*bytes = taken;
	return parts;
}

/* The request, inside litepcie_device.gate. */
static int litepcie_dmabuf_fill(struct litepcie_engine *engine, struct litepcie_request *req,
				struct litepcie_source *source, size_t left)
{
	unsigned int parts;
	int ret;

	if (!source->dmabuf->sgt)
		return -ENODEV;
	left = min_t(size_t, left, LITEPCIE_CHUNK_BYTES);
	parts = litepcie_dmabuf_parts(engine, source, left, NULL, &req->bytes);
	ret = litepcie_scatter_alloc(req, parts);
	if (ret)
		return ret;
	litepcie_dmabuf_parts(engine, source, left, req->sgt.sgl, &req->bytes);
	return 0;
}

/**
 * litepcie_dmabuf_request() - make a request of a part of a buffer
 * @engine: the engine of the direction
 * @source: the buffer; advanced past the request
 * @left: bytes to move, not 0, all of them inside the buffer
 *
 * Return: the request, or an ERR_PTR().
 */
static struct litepcie_request *litepcie_dmabuf_request(struct litepcie_engine *engine,
							struct litepcie_source *source,
							size_t left)
{
	struct litepcie_request *req = litepcie_request_alloc(0);
	int idx, ret;

	if (!req)
		return ERR_PTR(-ENOMEM);
	req->memory = LITEPCIE_MEMORY_IMPORTED;
	req->dmabuf = source->dmabuf;
	idx = srcu_read_lock(&engine->ld->gate);
	ret = litepcie_dmabuf_fill(engine, req, source, left);
	srcu_read_unlock(&engine->ld->gate, idx);
	if (ret) {
		litepcie_request_free(engine, req);
		return ERR_PTR(ret);
	}
	source->offset += req->bytes;
	return req;
}

/*
 * The memory of a request: the caller's pages, pinned; pages that the caller
 * holds itself (fixed buffers of io_uring, splice); a part of a dma-buf; or the
 * driver's pages, with a copy from or to the caller's buffer. All that is allocated
 * here is charged to the caller's memory cgroup.
 *
 * The caller's own pages are used if possible. The driver copies
 * - memory of the kernel that has no pages of its own;
 * - vector elements smaller than a page: several of them form one request;
 * - buffers that share a cache line with other data, on a machine whose caches
 *   are not coherent with the card.
 */

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
