// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scatterlist of a request: its memory as few contiguous parts as possible,
 * because each part becomes a descriptor.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>

#include "compat.h"
#include "driver.h"
#include "request.h"

/**
 * struct litepcie_walk - a position in the memory of a request
 * @req: the request
 * @iter: the caller's buffer, at the first byte of an element
 * @left: bytes of the request from the position on
 * @element: of them, bytes in the element
 * @taken: bytes of the element before and after the position
 * @at: of the position in the element: address, or offset from the bvec's page
 * @nr: index in litepcie_request.pages
 */
struct litepcie_walk {
	struct litepcie_request *req;
	struct iov_iter iter;
	size_t left;
	size_t element;
	size_t taken;
	unsigned long at;
	unsigned int nr;
};

static void litepcie_walk_element(struct litepcie_walk *walk)
{
	struct iov_iter *iter = &walk->iter;

	iov_iter_advance(iter, walk->taken);	/* also past empty elements */
	walk->element = min(iov_iter_single_seg_count(iter), walk->left);
	walk->taken = walk->element;
	if (walk->req->memory == LITEPCIE_MEMORY_BORROWED)
		walk->at = iter->bvec->bv_offset + iter->iov_offset;
	else
		walk->at = (unsigned long)iter_iov_addr(iter);
}

/* The next part of at most @most bytes, which is contiguous. */
static size_t litepcie_walk_next(struct litepcie_walk *walk, size_t most,
				 phys_addr_t *start)
{
	struct litepcie_request *req = walk->req;
	unsigned int offset;
	struct page *page;
	size_t bytes;

	if (req->memory == LITEPCIE_MEMORY_BOUNCED) {
		*start = page_to_phys(req->pages[walk->nr++]);
		bytes = min_t(size_t, walk->left, PAGE_SIZE);
		walk->left -= bytes;
		return bytes;
	}
	if (!walk->element)
		litepcie_walk_element(walk);
	offset = offset_in_page(walk->at);
	if (req->memory == LITEPCIE_MEMORY_BORROWED) {
		page = walk->iter.bvec->bv_page;
		*start = page_to_phys(page) + walk->at;
		bytes = min(walk->element, most);
	} else {
		*start = page_to_phys(req->pages[walk->nr++]) + offset;
		bytes = min_t(size_t, walk->element, PAGE_SIZE - offset);
	}
	walk->at += bytes;
	walk->element -= bytes;
	walk->left -= bytes;
	return bytes;
}

/*
 * Finds the parts of a request, none longer than @most bytes, and writes them to
 * @sg unless that is NULL. Returns their number.
 */
static unsigned int litepcie_scatter_parts(struct litepcie_request *req,
					   size_t most, struct scatterlist *sg)
{
	struct litepcie_walk walk = { .req = req, .iter = req->iter, .left = req->bytes };
	phys_addr_t start, end = 0;
	unsigned int parts = 0;
	size_t bytes, part = 0;

	while (walk.left) {
		bytes = litepcie_walk_next(&walk, most, &start);
		if (parts && start == end && part + bytes <= most) {
			part += bytes;
			if (sg)
				sg->length = part;
		} else {
			part = bytes;
			if (sg) {
				sg = parts ? sg_next(sg) : sg;
				sg_set_page(sg, pfn_to_page(PHYS_PFN(start)), part,
					    offset_in_page(start));
			}
			parts++;
		}
		end = start + bytes;
	}
	return parts;
}

/* Finds out whether a request is one contiguous part, and where. */
static bool litepcie_scatter_is_one(struct litepcie_request *req, size_t most,
				    phys_addr_t *start)
{
	const struct iov_iter *iter = &req->iter;

	if (req->memory == LITEPCIE_MEMORY_BORROWED) {
		*start = page_to_phys(iter->bvec->bv_page) + iter->bvec->bv_offset +
			 iter->iov_offset;
		return req->bytes <= min(iov_iter_single_seg_count(iter), most);
	}
	if (req->nr_pages != 1)
		return false;
	*start = page_to_phys(req->pages[0]);
	if (req->memory == LITEPCIE_MEMORY_PINNED)
		*start += offset_in_page(iter_iov_addr(iter));
	return true;
}

/* Is a request in many pages of one element, for which the kernel has a function? */
static bool litepcie_scatter_is_plain(struct litepcie_request *req)
{
	return req->memory == LITEPCIE_MEMORY_PINNED &&
	       req->nr_pages > LITEPCIE_SMALL_PAGES &&
	       iov_iter_single_seg_count(&req->iter) >= req->bytes;
}

/**
 * litepcie_scatter_alloc() - allocate the scatterlist of a request
 * @req: the request
 * @parts: number of entries, not 0
 *
 * Return: 0 or -ENOMEM.
 */
int litepcie_scatter_alloc(struct litepcie_request *req, unsigned int parts)
{
	if (parts > LITEPCIE_SMALL_PAGES)
		return sg_alloc_table(&req->sgt, parts, GFP_KERNEL_ACCOUNT);
	sg_init_marker(req->small, parts);	/* the request was zeroed */
	req->sgt = (struct sg_table) {
		.sgl = req->small, .nents = parts, .orig_nents = parts,
	};
	return 0;
}

/**
 * litepcie_scatter() - make the scatterlist of a request
 * @req: the request, with its memory
 * @most: most bytes of a part, at least a page
 *
 * Return: 0 or -ENOMEM.
 */
int litepcie_scatter(struct litepcie_request *req, size_t most)
{
	phys_addr_t start;
	unsigned int parts;
	int ret;

	if (litepcie_scatter_is_one(req, most, &start)) {
		ret = litepcie_scatter_alloc(req, 1);
		if (!ret)
			sg_set_page(req->sgt.sgl, pfn_to_page(PHYS_PFN(start)),
				    req->bytes, offset_in_page(start));
		return ret;
	}
	if (litepcie_scatter_is_plain(req))
		return sg_alloc_table_from_pages_segment(&req->sgt, req->pages, req->nr_pages,
							 offset_in_page(iter_iov_addr(&req->iter)),
							 req->bytes, most, GFP_KERNEL_ACCOUNT);
	parts = litepcie_scatter_parts(req, most, NULL);
	ret = litepcie_scatter_alloc(req, parts);
	if (ret)
		return ret;
	litepcie_scatter_parts(req, most, req->sgt.sgl);
	return 0;
}

/**
 * litepcie_scatter_free() - undo litepcie_scatter()
 * @req: the request; it need not have a scatterlist
 */
void litepcie_scatter_free(struct litepcie_request *req)
{
	if (req->sgt.sgl != req->small)
		sg_free_table(&req->sgt);
}
