// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests as structures: contiguous parts, allocation, mapping, release.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bvec.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "compat.h"
#include "driver.h"
#include "request.h"

/*
 * The scatterlist of a request: its memory as few contiguous parts as possible,
 * because each part becomes a descriptor.
 */

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
static void litepcie_scatter_free(struct litepcie_request *req)
{
	if (req->sgt.sgl != req->small)
		sg_free_table(&req->sgt);
}

/* Allocation of requests, and release of their pages. */

/* Number of callers' pages pinned now, for all cards. */
atomic_t litepcie_pinned_pages = ATOMIC_INIT(0);

/* Requests of a few pages; charged to the caller's memory cgroup. */
static struct kmem_cache *litepcie_request_cache;

/**
 * litepcie_memory_init() - prepare for requests of any card
 *
 * Return: 0 or -ENOMEM.
 */
int litepcie_memory_init(void)
{
	struct litepcie_request *req;

	litepcie_request_cache =
		kmem_cache_create("litepcie_request",
				  struct_size(req, pages, LITEPCIE_SMALL_PAGES), 0,
				  SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT, NULL);
	return litepcie_request_cache ? 0 : -ENOMEM;
}

/**
 * litepcie_memory_exit() - undo litepcie_memory_init()
 */
void litepcie_memory_exit(void)
{
	kmem_cache_destroy(litepcie_request_cache);
}

/**
 * litepcie_request_alloc() - allocate a request
 * @nr_pages: number of pages in it; all are NULL
 *
 * Return: the request, in pinned pages of no caller; or NULL.
 */
struct litepcie_request *litepcie_request_alloc(unsigned int nr_pages)
{
	bool cached = nr_pages <= LITEPCIE_SMALL_PAGES;
	struct litepcie_request *req;

	req = cached ? kmem_cache_zalloc(litepcie_request_cache, GFP_KERNEL) :
		       kzalloc(struct_size(req, pages, nr_pages), GFP_KERNEL_ACCOUNT);
	if (!req)
		return NULL;
	refcount_set(&req->users, 1);
	refcount_set(&req->refs, 1);
	req->cached = cached;
	req->nr_pages = nr_pages;
	return req;
}

/*
 * Pages that the card wrote must be marked dirty, which may sleep. Those that are
 * dirty need no mark: whoever cleans them from now on writes the new data.
 */
static bool litepcie_pages_need_mark(struct litepcie_engine *engine,
				     struct litepcie_request *req)
{
	unsigned int i;

	if (engine->dma != DMA_FROM_DEVICE || req->memory != LITEPCIE_MEMORY_PINNED)
		return false;
	for (i = 0; i < req->nr_pages; i++)
		if (!folio_test_dirty(page_folio(req->pages[i])))
			return true;
	return false;
}

static void litepcie_pages_release(struct litepcie_engine *engine,
				   struct litepcie_request *req)
{
	unsigned int i;

	switch (req->memory) {
	case LITEPCIE_MEMORY_PINNED:
		if (!req->marked && litepcie_pages_need_mark(engine, req))
			unpin_user_pages_dirty_lock(req->pages, req->nr_pages, true);
		else
			unpin_user_pages(req->pages, req->nr_pages);
		atomic_sub(req->nr_pages, &litepcie_pinned_pages);
		break;
	case LITEPCIE_MEMORY_BOUNCED:
		for (i = 0; i < req->nr_pages && req->pages[i]; i++)
			__free_page(req->pages[i]);
		break;
	case LITEPCIE_MEMORY_BORROWED:
	case LITEPCIE_MEMORY_IMPORTED:
		break;
	}
}

/**
 * litepcie_request_put() - drop a reference of litepcie_request.refs
 * @req: the request, freed with the last one
 */
void litepcie_request_put(struct litepcie_request *req)
{
	if (!refcount_dec_and_test(&req->refs))
		return;
	if (req->cached)
		kmem_cache_free(litepcie_request_cache, req);
	else
		kfree(req);
}

/**
 * litepcie_request_free() - release the pages of a request and free the request
 * @engine: the engine of the direction
 * @req: the request; while its memory is kept, litepcie_kept_free() does both
 */
void litepcie_request_free(struct litepcie_engine *engine,
			   struct litepcie_request *req)
{
	if (!refcount_dec_and_test(&req->users))
		return;
	litepcie_scatter_free(req);
	litepcie_pages_release(engine, req);
	litepcie_request_put(req);
}

/* Maps the only part of a request: the functions for lists cost much more. */
static int litepcie_request_map_one(struct device *dma, struct litepcie_request *req,
				    enum dma_data_direction direction, unsigned long attrs)
{
	struct scatterlist *sg = req->sgt.sgl;
	dma_addr_t address;

	address = dma_map_page_attrs(dma, sg_page(sg), sg->offset, sg->length, direction,
				     attrs);
	if (dma_mapping_error(dma, address))
		return -ENOMEM;
	sg_dma_address(sg) = address;
	sg_dma_len(sg) = sg->length;
	return 0;
}

/**
 * litepcie_request_map() - let the card access the memory of a request
 * @engine: the engine of the direction
 * @req: the request, with its scatterlist
 *
 * Does nothing if it may. Does not sleep. If the kernel has no room for the mapping,
 * the caller tries again.
 *
 * Return: 0 or negative errno.
 */
int litepcie_request_map(struct litepcie_engine *engine, struct litepcie_request *req)
{
	unsigned long attrs = DMA_ATTR_DEBUGGING_IGNORE_CACHELINES | DMA_ATTR_NO_WARN;
	struct device *dma = &engine->ld->pdev->dev;
	int ret;

	if (req->mapped || req->memory == LITEPCIE_MEMORY_IMPORTED)
		return 0;
	if (req->sgt.orig_nents == 1)
		ret = litepcie_request_map_one(dma, req, engine->dma, attrs);
	else
		ret = dma_map_sgtable(dma, &req->sgt, engine->dma, attrs);
	req->mapped = !ret;
	return ret;
}

/**
 * litepcie_request_unmap() - undo litepcie_request_map()
 * @engine: the engine of the direction
 * @req: the request, which the card no longer has
 */
void litepcie_request_unmap(struct litepcie_engine *engine, struct litepcie_request *req)
{
	struct device *dma = &engine->ld->pdev->dev;
	struct scatterlist *sg = req->sgt.sgl;

	if (!req->mapped)
		return;
	req->mapped = false;
	if (req->sgt.orig_nents == 1)
		dma_unmap_page_attrs(dma, sg_dma_address(sg), sg_dma_len(sg), engine->dma,
				     DMA_ATTR_DEBUGGING_IGNORE_CACHELINES);
	else
		dma_unmap_sgtable(dma, &req->sgt, engine->dma,
				  DMA_ATTR_DEBUGGING_IGNORE_CACHELINES);
}

/* The caller lets go of memory that is not the driver's: hold or release it here. */
static void litepcie_request_hold(struct litepcie_request *req, bool hold)
{
	struct scatterlist *sg;
	struct page *page;
	unsigned int i, n;

	if (req->memory == LITEPCIE_MEMORY_IMPORTED && hold)
		kref_get(&req->dmabuf->ref);
	else if (req->memory == LITEPCIE_MEMORY_IMPORTED)
		kref_put(&req->dmabuf->ref, req->dmabuf->free);
	if (req->memory != LITEPCIE_MEMORY_BORROWED)
		return;
	for_each_sgtable_sg(&req->sgt, sg, i) {
		for (n = 0; n < PFN_UP(sg->offset + sg->length); n++) {
			page = pfn_to_page(page_to_pfn(sg_page(sg)) + n);
			if (hold)
				get_page(page);
			else
				put_page(page);
		}
	}
}

/**
 * litepcie_request_keep() - keep the memory of a request that the card had
 * @engine: the engine that had it
 * @req: the request, which is done and in no list
 *
 * Return: true if the card may still write; false if it is known to be quiet, and
 * the request is to be unmapped.
 */
bool litepcie_request_keep(struct litepcie_engine *engine, struct litepcie_request *req)
{
	struct litepcie_device *ld = engine->ld;
	unsigned long flags;
	bool keep;

	spin_lock_irqsave(&ld->kept_lock, flags);
	keep = ld->loud;
	if (keep) {
		litepcie_request_hold(req, true);
		req->engine = engine;
		refcount_inc(&req->users);
		ld->kept_bytes += req->bytes;
		list_add_tail(&req->node, &ld->kept);
	}
	spin_unlock_irqrestore(&ld->kept_lock, flags);
	return keep;
}

/**
 * litepcie_kept_free() - release the memory of requests that have ended
 * @ld: the device, which is quiet or being unbound; may sleep
 */
void litepcie_kept_free(struct litepcie_device *ld)
{
	struct litepcie_request *req, *next;
	LIST_HEAD(kept);

	spin_lock_irq(&ld->kept_lock);
	list_splice_init(&ld->kept, &kept);
	spin_unlock_irq(&ld->kept_lock);
	list_for_each_entry_safe(req, next, &kept, node) {
		struct litepcie_engine *engine = req->engine;

		list_del_init(&req->node);
		litepcie_request_unmap(engine, req);
		litepcie_request_hold(req, false);
		spin_lock_irq(&ld->kept_lock);
		ld->kept_bytes -= req->bytes;
		spin_unlock_irq(&ld->kept_lock);
		litepcie_request_free(engine, req);
	}
}

/**
 * litepcie_request_may_sleep() - does litepcie_request_finish() need a process
 * @req: a request that is done
 *
 * Return: false if the request may be finished in an interrupt, also if its pages
 * change meanwhile.
 */
bool litepcie_request_may_sleep(struct litepcie_request *req)
{
	struct litepcie_engine *engine = req->flow->engine;

	if (req->memory == LITEPCIE_MEMORY_BOUNCED)
		return engine->dma == DMA_FROM_DEVICE;
	/* What is found here counts: another processor may clean a page at any time. */
	req->marked = !litepcie_pages_need_mark(engine, req);
	return !req->marked;
}
