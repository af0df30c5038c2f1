// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that move a part of an attached dma-buf.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/minmax.h>
#include <linux/scatterlist.h>

#include "dmabuf.h"
#include "driver.h"
#include "request.h"

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
struct litepcie_request *litepcie_dmabuf_request(struct litepcie_engine *engine,
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
