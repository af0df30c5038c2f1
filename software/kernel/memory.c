// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation of requests, and release of their pages.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "dmabuf.h"
#include "driver.h"
#include "request.h"

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
		litepcie_dmabuf_put(req->dmabuf);
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
