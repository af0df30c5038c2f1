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
 * litepcie_request_free() - release the pages of a request and free the request
 * @engine: the engine of the direction
 * @req: the request
 */
void litepcie_request_free(struct litepcie_engine *engine,
			   struct litepcie_request *req)
{
	litepcie_scatter_free(req);
	litepcie_pages_release(engine, req);
	if (req->cached)
		kmem_cache_free(litepcie_request_cache, req);
	else
		kfree(req);
}

/**
 * litepcie_request_map() - let the card access the memory of a request
 * @engine: the engine of the direction
 * @req: the request, with its scatterlist
 *
 * Return: 0 or negative errno.
 */
int litepcie_request_map(struct litepcie_engine *engine, struct litepcie_request *req)
{
	int ret;

	if (req->memory == LITEPCIE_MEMORY_IMPORTED)
		return 0;
	ret = dma_map_sgtable(&engine->ld->pdev->dev, &req->sgt, engine->dma,
			      DMA_ATTR_DEBUGGING_IGNORE_CACHELINES);
	/* The machine's resources: -EIO means an error of the card. */
	return ret == -EIO ? -ENOMEM : ret;
}

/**
 * litepcie_request_unmap() - undo litepcie_request_map()
 * @engine: the engine of the direction
 * @req: the request, which the card no longer has
 */
void litepcie_request_unmap(struct litepcie_engine *engine, struct litepcie_request *req)
{
	if (req->memory != LITEPCIE_MEMORY_IMPORTED)
		dma_unmap_sgtable(&engine->ld->pdev->dev, &req->sgt, engine->dma,
				  DMA_ATTR_DEBUGGING_IGNORE_CACHELINES);
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
