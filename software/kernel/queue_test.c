// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of requests: descriptors and positions in a ring, the order in which open
 * files get an engine, and how requests enter the rings of several engines.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <kunit/test.h>

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "driver.h"
#include "request.h"

/* Descriptors and positions in a ring. */

static void descriptor_has_its_layout(struct kunit *test)
{
	struct litepcie_descriptor d;
	const u8 *bytes = (const u8 *)&d;
	static const u8 expected[] = {
		0x03, 0x02, 0x01, 0x01,		/* length, INTERRUPT */
		0x78, 0x56, 0x34, 0x12,
		0xdd, 0xcc, 0xbb, 0xaa,
		0x44, 0x33, 0x22, 0x11,
	};
	unsigned int i;

	litepcie_descriptor_encode(&d, 0x010203, LITEPCIE_DESCRIPTOR_INTERRUPT,
				   0x12345678, 0x11223344aabbccddull);
	for (i = 0; i < sizeof(expected); i++)
		KUNIT_EXPECT_EQ(test, bytes[i], expected[i]);
}

static void descriptor_length_does_not_reach_flags(struct kunit *test)
{
	struct litepcie_descriptor d;

	litepcie_descriptor_encode(&d, LITEPCIE_DESCRIPTOR_LENGTH_MASK, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(d.control), 0x00ffffffu);
	litepcie_descriptor_encode(&d, 0xff000001, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(d.control), 1u);
}

static void ring_room_wraps(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, litepcie_ring_room(4, 0, 0), 16u);
	KUNIT_EXPECT_EQ(test, litepcie_ring_room(4, 16, 0), 0u);
	KUNIT_EXPECT_EQ(test, litepcie_ring_room(4, 17, 1), 0u);
	KUNIT_EXPECT_EQ(test, litepcie_ring_room(4, 3, 0xfffffffe), 11u);
	KUNIT_EXPECT_EQ(test, litepcie_ring_room(1, 0, 0xffffffff), 1u);
}

static void ring_count_is_valid_in_range(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, litepcie_ring_count_valid(5, 5, 5));
	KUNIT_EXPECT_TRUE(test, litepcie_ring_count_valid(5, 5, 9));
	KUNIT_EXPECT_TRUE(test, litepcie_ring_count_valid(5, 9, 9));
	KUNIT_EXPECT_FALSE(test, litepcie_ring_count_valid(5, 10, 9));
	KUNIT_EXPECT_FALSE(test, litepcie_ring_count_valid(5, 4, 9));
	KUNIT_EXPECT_FALSE(test, litepcie_ring_count_valid(5, 0xffffffff, 9));
	KUNIT_EXPECT_TRUE(test, litepcie_ring_count_valid(0xfffffffe, 1, 3));
	KUNIT_EXPECT_FALSE(test, litepcie_ring_count_valid(0xfffffffe, 4, 3));
}

static void chunks_end_with_pages(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, litepcie_chunk_bytes(0, 1, 1, SZ_4K), (size_t)1);
	KUNIT_EXPECT_EQ(test, litepcie_chunk_bytes(0, SZ_1M, 1, SZ_4K), (size_t)SZ_4K);
	KUNIT_EXPECT_EQ(test, litepcie_chunk_bytes(4095, SZ_1M, 1, SZ_4K), (size_t)1);
	KUNIT_EXPECT_EQ(test, litepcie_chunk_bytes(1, SZ_4M, 257, SZ_4K),
			(size_t)(257 * SZ_4K - 1));
	KUNIT_EXPECT_EQ(test, litepcie_chunk_bytes(1, 257 * SZ_4K - 1, 257, SZ_4K),
			(size_t)(257 * SZ_4K - 1));
	KUNIT_EXPECT_EQ(test, litepcie_chunk_bytes(65535, 100, 16, SZ_64K), (size_t)100);
}

/* For any offset and length: chunks cover the buffer, none is too large. */
static void chunks_are_the_buffer(struct kunit *test)
{
	static const size_t lengths[] = { 1, 4095, 4096, 4097, 12289, 99999 };
	static const unsigned int pages[] = { 1, 2, 3, 257 };
	unsigned int l, p, count;
	unsigned long offset;
	size_t left, bytes;

	for (l = 0; l < ARRAY_SIZE(lengths); l++) {
		for (p = 0; p < ARRAY_SIZE(pages); p++) {
			for (offset = 0; offset < SZ_4K; offset += 7) {
				unsigned long address = offset;

				left = lengths[l];
				for (count = 0; left; count++) {
					unsigned long in_page = address & (SZ_4K - 1);

					KUNIT_EXPECT_TRUE(test, !count || !in_page);
					bytes = litepcie_chunk_bytes(in_page, left,
								     pages[p], SZ_4K);
					KUNIT_ASSERT_TRUE(test, bytes && bytes <= left);
					KUNIT_EXPECT_LE(test, in_page + bytes,
							(unsigned long)pages[p] * SZ_4K);
					address += bytes;
					left -= bytes;
				}
				KUNIT_EXPECT_EQ(test, address, offset + lengths[l]);
			}
		}
	}
}

static void reasons_have_errors_and_names(struct kunit *test)
{
	unsigned int reason;

	KUNIT_EXPECT_EQ(test, litepcie_reason_errno(LITEPCIE_REASON_TIMEOUT), -ETIMEDOUT);
	for (reason = 0; reason < 256; reason++) {
		KUNIT_EXPECT_LT(test, litepcie_reason_errno(reason), 0);
		KUNIT_EXPECT_TRUE(test, litepcie_reason_name(reason) &&
				  litepcie_reason_name(reason)[0]);
		if (reason != LITEPCIE_REASON_TIMEOUT)
			KUNIT_EXPECT_EQ(test, litepcie_reason_errno(reason), -EIO);
	}
	KUNIT_EXPECT_STREQ(test, litepcie_reason_name(LITEPCIE_REASON_BUS_MASTER),
			   "bus mastering is off");
	KUNIT_EXPECT_STREQ(test, litepcie_reason_name(LITEPCIE_REASON_MEMORY_ERROR + 1),
			   "unknown reason");
}

/* The order in which open files get an engine. */

#define FILES	16

/* Open files that always have a next request of the same size. */
static struct litepcie_share shares[FILES];
static u32 sizes[FILES];
static u64 served[FILES];

static void floods_begin(struct litepcie_fair *fair, unsigned int files)
{
	unsigned int i;

	for (i = 0; i < files; i++) {
		shares[i] = (struct litepcie_share) { };
		served[i] = 0;
		litepcie_fair_add(fair, &shares[i], litepcie_fair_cost(sizes[i]));
	}
}

/* Serves one request and returns the number of its file. */
static unsigned int serve(struct litepcie_fair *fair)
{
	unsigned int i = litepcie_fair_first(fair) - shares;
	u32 cost = litepcie_fair_cost(sizes[i]);

	litepcie_fair_serve(fair, &shares[i], cost, cost);
	served[i] += sizes[i];
	return i;
}

static void no_file_is_first_of_none(struct kunit *test)
{
	struct litepcie_fair fair = { };

	KUNIT_EXPECT_TRUE(test, !litepcie_fair_first(&fair));
	sizes[0] = 1;
	floods_begin(&fair, 1);
	KUNIT_EXPECT_TRUE(test, litepcie_fair_first(&fair) == &shares[0]);
	litepcie_fair_serve(&fair, &shares[0], litepcie_fair_cost(1), 0);
	KUNIT_EXPECT_TRUE(test, !litepcie_fair_first(&fair));
}

/* Files with long and with short requests get the same number of bytes. */
static void shares_are_equal_in_bytes(struct kunit *test)
{
	struct litepcie_fair fair = { };
	unsigned int i;

	for (i = 0; i < FILES; i++)
		sizes[i] = i % 2 ? SZ_1M : SZ_4K;
	floods_begin(&fair, FILES);
	for (i = 0; i < 100000; i++)
		serve(&fair);
	for (i = 1; i < FILES; i++) {
		u64 least = min_t(u64, served[0], served[i]);

		KUNIT_EXPECT_LE(test, served[0] - least, (u64)SZ_1M);
		KUNIT_EXPECT_LE(test, served[i] - least, (u64)SZ_1M);
	}
}

/* Whenever it comes, a byte is the next or next but one beside any number of floods. */
static void a_byte_does_not_wait_for_floods(struct kunit *test)
{
	struct litepcie_share byte = { };
	struct litepcie_fair fair = { };
	unsigned int i, before;
	u32 cost = litepcie_fair_cost(1);

	for (i = 0; i < FILES; i++)
		sizes[i] = SZ_1M;
	floods_begin(&fair, FILES);
	for (i = 0; i < 1000; i++) {
		litepcie_fair_add(&fair, &byte, cost);
		for (before = 0; litepcie_fair_first(&fair) != &byte; before++)
			serve(&fair);
		KUNIT_EXPECT_LE(test, before, 1U);
		litepcie_fair_serve(&fair, &byte, cost, 0);
		serve(&fair);
	}
}

/* Files that are opened anew for each request do not keep another file away. */
static void new_files_do_not_starve_an_old_one(struct kunit *test)
{
	struct litepcie_fair fair = { };
	unsigned int i, news = 0;

	sizes[0] = SZ_1M;
	floods_begin(&fair, 1);
	for (i = 0; i < 10000; i++) {
		struct litepcie_share fresh = { };

		litepcie_fair_add(&fair, &fresh, SZ_4K);
		if (litepcie_fair_first(&fair) == &fresh) {
			litepcie_fair_serve(&fair, &fresh, SZ_4K, 0);
			news++;
		} else {
			serve(&fair);
			litepcie_fair_drop(&fair, &fresh, SZ_4K, 0);
		}
	}
	KUNIT_EXPECT_TRUE(test, served[0] > 0);
	KUNIT_EXPECT_LE(test, (u64)news * SZ_4K, 3 * served[0] + 3 * SZ_1M);
}

/* What was idle gets no credit, and what was cancelled costs nothing. */
static void only_service_counts(struct kunit *test)
{
	struct litepcie_fair fair = { };
	unsigned int i;

	sizes[0] = SZ_64K;
	sizes[1] = SZ_64K;
	floods_begin(&fair, 2);
	litepcie_fair_drop(&fair, &shares[1], SZ_64K, 0);
	for (i = 0; i < 100; i++) {
		KUNIT_EXPECT_EQ(test, serve(&fair), 0U);
		litepcie_fair_add(&fair, &shares[1], SZ_1M);
		litepcie_fair_drop(&fair, &shares[1], SZ_1M, 0);
	}
	litepcie_fair_add(&fair, &shares[1], SZ_64K);
	served[0] = 0;
	for (i = 0; i < 100; i++)
		serve(&fair);
	KUNIT_EXPECT_LE(test, served[1], served[0] + SZ_64K);
	KUNIT_EXPECT_LE(test, served[0], served[1] + SZ_64K);
}

/* One short request at a time gains nothing over a long queue. */
static void one_at_a_time_is_no_advantage(struct kunit *test)
{
	struct litepcie_share one = { };
	struct litepcie_fair fair = { };
	unsigned int i;
	u64 bytes = 0;

	sizes[0] = SZ_1M;
	floods_begin(&fair, 1);
	for (i = 0; i < 100000; i++) {
		litepcie_fair_add(&fair, &one, SZ_4K);
		while (litepcie_fair_first(&fair) != &one)
			serve(&fair);
		litepcie_fair_serve(&fair, &one, SZ_4K, 0);
		bytes += SZ_4K;
	}
	KUNIT_EXPECT_LE(test, bytes, served[0] + SZ_1M);
	KUNIT_EXPECT_LE(test, served[0], bytes + SZ_1M);
}

/*
 * How requests of open files enter the rings of several engines: the choice of the
 * engine, limits, and fairness over all engines together.
 */

#define ENGINES		4
#define RING_LOG2	4

static void no_watchdog(struct work_struct *work)
{
}

/* An asynchronous call may queue another request here, and free this one. */
static void ended(struct litepcie_request *req)
{
	struct litepcie_pool *pool = req->flow->engine->pool;
	unsigned long flags;

	spin_lock_irqsave(&pool->lock, flags);
	++*(unsigned int *)req->context;
	req->complete = NULL;
	spin_unlock_irqrestore(&pool->lock, flags);
}

/* A card whose reader engines run, without requests. */
static struct litepcie_device *card_of(struct kunit *test)
{
	struct litepcie_device *ld = kunit_kzalloc(test, sizeof(*ld), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_TRUE(test, ld);
	ld->pdev = kunit_kzalloc(test, sizeof(*ld->pdev), GFP_KERNEL);
	ld->queue = alloc_workqueue("litepcie-test", WQ_UNBOUND, 0);
	ld->card = LITEPCIE_CARD_PRESENT;
	spin_lock_init(&ld->kept_lock);
	KUNIT_ASSERT_TRUE(test, ld->pdev && ld->queue);
	litepcie_pool_init(&ld->pools[LITEPCIE_TO_CARD]);
	for (i = 0; i < ENGINES; i++) {
		struct litepcie_engine *engine = &ld->engines[i][LITEPCIE_TO_CARD];

		engine->ld = ld;
		engine->channel = i;
		engine->pool = &ld->pools[LITEPCIE_TO_CARD];
		engine->dma = DMA_TO_DEVICE;
		engine->ring_log2 = RING_LOG2;
		engine->ring = kunit_kzalloc(test, LITEPCIE_DESCRIPTOR_BYTES << RING_LOG2,
					     GFP_KERNEL);
		engine->status = kunit_kzalloc(test, LITEPCIE_STATUS_BYTES, GFP_KERNEL);
		engine->regs = (void __iomem __force *)kunit_kzalloc(test, SZ_4K, GFP_KERNEL);
		engine->state = LITEPCIE_ENGINE_RUNNING;
		INIT_LIST_HEAD(&engine->pending);
		INIT_LIST_HEAD(&engine->inflight);
		INIT_DELAYED_WORK(&engine->watchdog, no_watchdog);
		list_add_tail(&engine->share, &engine->pool->engines);
		KUNIT_ASSERT_TRUE(test, engine->ring && engine->status && engine->regs);
	}
	return ld;
}

static void card_ends(struct litepcie_device *ld)
{
	unsigned int i;

	for (i = 0; i < ENGINES; i++)
		cancel_delayed_work_sync(&ld->engines[i][LITEPCIE_TO_CARD].watchdog);
	destroy_workqueue(ld->queue);
}

static struct litepcie_flow *flow_of(struct kunit *test, struct litepcie_device *ld)
{
	struct litepcie_flow *flow = kunit_kzalloc(test, sizeof(*flow), GFP_KERNEL);

	KUNIT_ASSERT_TRUE(test, flow);
	litepcie_flow_init(flow, &ld->engines[0][LITEPCIE_TO_CARD]);
	return flow;
}

/* Queues @count requests of @bytes in @descriptors; counts those that end in @done. */
static void queue_some(struct kunit *test, struct litepcie_flow *flow, unsigned int count,
		       size_t bytes, unsigned int descriptors, unsigned int *done,
		       bool polled)
{
	struct litepcie_pool *pool = flow->engine->pool;
	struct litepcie_request *req;
	unsigned int i;

	spin_lock_irq(&pool->lock);
	while (count--) {
		req = kunit_kzalloc(test, sizeof(*req), GFP_ATOMIC);
		KUNIT_EXPECT_TRUE(test, req);
		req->flow = flow;
		req->bytes = bytes;
		req->complete = ended;
		req->context = done;
		req->polled = polled;
		sg_init_table(req->small, descriptors);
		for (i = 0; i < descriptors; i++)
			sg_dma_len(&req->small[i]) = bytes / descriptors;
		/* No device has mapped it. */
		req->memory = LITEPCIE_MEMORY_IMPORTED;
		req->sgt.sgl = req->small;
		req->sgt.nents = descriptors;
		req->sgt.orig_nents = descriptors;
		litepcie_queue_add(req);
	}
	litepcie_ring_feed(pool);
	spin_unlock_irq(&pool->lock);
}

static void queue(struct kunit *test, struct litepcie_flow *flow, unsigned int count,
		  size_t bytes, unsigned int descriptors, unsigned int *done)
{
	queue_some(test, flow, count, bytes, descriptors, done, false);
}

/* The card completes all that an engine has. */
static void completes(struct litepcie_device *ld, unsigned int channel)
{
	struct litepcie_engine *engine = &ld->engines[channel][LITEPCIE_TO_CARD];

	engine->status[LITEPCIE_STATUS_COMPLETED] = cpu_to_le32(engine->produced);
	litepcie_ring_poll(engine, UINT_MAX);
}

static u32 rung(struct litepcie_device *ld, unsigned int channel)
{
	return readl(ld->engines[channel][LITEPCIE_TO_CARD].regs + LITEPCIE_ENGINE_DOORBELL);
}

static u32 length(struct litepcie_device *ld, unsigned int channel, unsigned int number)
{
	struct litepcie_engine *engine = &ld->engines[channel][LITEPCIE_TO_CARD];

	return le32_to_cpu(engine->ring[number].control) & LITEPCIE_DESCRIPTOR_LENGTH_MASK;
}

static void short_requests_use_all_engines(struct kunit *test)
{
	struct litepcie_device *ld = card_of(test);
	unsigned int i, done = 0;

	queue(test, flow_of(test, ld), 2 * ENGINES, SZ_4K, 1, &done);
	for (i = 0; i < ENGINES; i++) {
		KUNIT_EXPECT_EQ(test, rung(ld, i), 2u);
		KUNIT_EXPECT_EQ(test, ld->engines[i][LITEPCIE_TO_CARD].committed,
				(size_t)2 * SZ_4K);
	}
	/* The engine that is ahead gets the next one. */
	completes(ld, 2);
	KUNIT_EXPECT_EQ(test, done, 2u);
	queue(test, flow_of(test, ld), 1, SZ_4K, 1, &done);
	KUNIT_EXPECT_EQ(test, rung(ld, 2), 3u);
	card_ends(ld);
}

/* Long requests fill one engine and the limit; a short one finds an engine at once. */
static void a_short_request_passes_long_ones(struct kunit *test)
{
	struct litepcie_device *ld = card_of(test);
	unsigned int done = 0, quick = 0;
	struct litepcie_pool *pool = &ld->pools[LITEPCIE_TO_CARD];
	struct litepcie_flow *flood = flow_of(test, ld);

	queue(test, flood, 10, SZ_1M, 1, &done);
	KUNIT_EXPECT_EQ(test, rung(ld, 0), 2u);
	KUNIT_EXPECT_EQ(test, rung(ld, 1), 0u);
	KUNIT_EXPECT_EQ(test, pool->committed, (size_t)LITEPCIE_COMMIT_BYTES);
	queue(test, flow_of(test, ld), 1, 1, 1, &quick);
	completes(ld, 0);
	KUNIT_EXPECT_EQ(test, done, 2u);
	KUNIT_EXPECT_EQ(test, rung(ld, 1), 1u);
	completes(ld, 1);
	KUNIT_EXPECT_EQ(test, quick, 1u);
	while (done < 10) {
		KUNIT_EXPECT_LE(test, pool->committed, (size_t)LITEPCIE_COMMIT_BYTES);
		completes(ld, 0);
	}
	KUNIT_EXPECT_EQ(test, pool->committed, (size_t)0);
	KUNIT_EXPECT_EQ(test, rung(ld, 1), 1u);
	card_ends(ld);
}

/* Two files, one with twice the requests of half the size: equal bytes. */
static void files_are_equal_over_all_engines(struct kunit *test)
{
	struct litepcie_device *ld = card_of(test);
	unsigned int i, few = 0, many = 0;

	queue(test, flow_of(test, ld), 200, SZ_32K, 1, &few);
	queue(test, flow_of(test, ld), 400, SZ_16K, 1, &many);
	/* What one file had queued alone is committed already. */
	for (i = 0; i < ENGINES; i++)
		completes(ld, i);
	few = 0;
	many = 0;
	while (few < 100 && many < 300) {
		for (i = 0; i < ENGINES; i++)
			completes(ld, i);
		KUNIT_EXPECT_LE(test, many, 2 * few + 2);
		KUNIT_EXPECT_LE(test, 2 * few, many + 2);
	}
	card_ends(ld);
}

/* A request enters the ring of one engine as a whole, or waits. */
static void a_request_is_not_split(struct kunit *test)
{
	struct litepcie_device *ld = card_of(test);
	unsigned int i, done = 0;

	queue(test, flow_of(test, ld), ENGINES * 5 + 1, SZ_4K, 3, &done);
	for (i = 0; i < ENGINES; i++) {
		KUNIT_EXPECT_EQ(test, rung(ld, i), 15u);
		KUNIT_EXPECT_EQ(test, length(ld, i, 14), SZ_4K / 3);
	}
	completes(ld, 3);
	KUNIT_EXPECT_EQ(test, rung(ld, 3), 18u);
	KUNIT_EXPECT_EQ(test, done, 5u);
	card_ends(ld);
}

/* Engines that failed or stopped get nothing; the last one that fails ends all. */
static void other_engines_take_over(struct kunit *test)
{
	struct litepcie_device *ld = card_of(test);
	struct litepcie_flow *flow = flow_of(test, ld);
	unsigned int i, done = 0;

	litepcie_ring_fail(&ld->engines[0][LITEPCIE_TO_CARD], -EIO);
	ld->engines[1][LITEPCIE_TO_CARD].stopped = true;
	queue(test, flow, 2, SZ_1M, 1, &done);
	KUNIT_EXPECT_EQ(test, rung(ld, 0) + rung(ld, 1) + rung(ld, 3), 0u);
	KUNIT_EXPECT_EQ(test, rung(ld, 2), 2u);
	/* Its requests end with the engine; the next one is for the last engine. */
	queue(test, flow, 1, SZ_1M, 1, &done);
	litepcie_ring_fail(&ld->engines[2][LITEPCIE_TO_CARD], -EIO);
	KUNIT_EXPECT_EQ(test, done, 2u);
	KUNIT_EXPECT_EQ(test, rung(ld, 3), 1u);
	queue(test, flow, 5, SZ_1M, 1, &done);
	for (i = 1; i < ENGINES; i += 2)
		litepcie_ring_fail(&ld->engines[i][LITEPCIE_TO_CARD], -ENODEV);
	KUNIT_EXPECT_EQ(test, done, 8u);
	KUNIT_EXPECT_EQ(test, litepcie_pool_error(&ld->pools[LITEPCIE_TO_CARD]), -ENODEV);
	KUNIT_EXPECT_EQ(test, ld->pools[LITEPCIE_TO_CARD].committed, (size_t)0);
	card_ends(ld);
}

static bool interrupts(struct litepcie_device *ld, unsigned int number)
{
	struct litepcie_engine *engine = &ld->engines[0][LITEPCIE_TO_CARD];

	return le32_to_cpu(engine->ring[number].control) & LITEPCIE_DESCRIPTOR_INTERRUPT;
}

/* A polled request asks for no interrupt if it is alone; the next one does. */
static void only_a_lone_polled_request_is_quiet(struct kunit *test)
{
	struct litepcie_device *ld = card_of(test);
	struct litepcie_engine *engine = &ld->engines[0][LITEPCIE_TO_CARD];
	struct litepcie_flow *flow = flow_of(test, ld);
	unsigned int i, done = 0;

	for (i = 1; i < ENGINES; i++)
		ld->engines[i][LITEPCIE_TO_CARD].state = LITEPCIE_ENGINE_FAILED;
	queue_some(test, flow, 2, SZ_4K, 2, &done, true);
	KUNIT_EXPECT_FALSE(test, interrupts(ld, 0) || interrupts(ld, 1));
	KUNIT_EXPECT_FALSE(test, interrupts(ld, 2));
	KUNIT_EXPECT_TRUE(test, interrupts(ld, 3));
	KUNIT_EXPECT_FALSE(test, litepcie_ring_look(engine));
	engine->status[LITEPCIE_STATUS_COMPLETED] = cpu_to_le32(4);
	KUNIT_EXPECT_TRUE(test, litepcie_ring_look(engine));
	KUNIT_EXPECT_EQ(test, done, 2u);
	queue_some(test, flow, 1, SZ_4K, 1, &done, true);
	KUNIT_EXPECT_FALSE(test, interrupts(ld, 4));
	queue(test, flow, 1, SZ_4K, 1, &done);
	KUNIT_EXPECT_TRUE(test, interrupts(ld, 5));
	card_ends(ld);
}

/* The interrupt handler ends some, and its thread the others. */
static void a_poll_ends_no_more_than_it_may(struct kunit *test)
{
	struct litepcie_device *ld = card_of(test);
	struct litepcie_engine *engine = &ld->engines[0][LITEPCIE_TO_CARD];
	unsigned int i, done = 0;

	for (i = 1; i < ENGINES; i++)
		ld->engines[i][LITEPCIE_TO_CARD].state = LITEPCIE_ENGINE_FAILED;
	queue(test, flow_of(test, ld), 5, SZ_4K, 2, &done);
	engine->status[LITEPCIE_STATUS_COMPLETED] = cpu_to_le32(9);
	KUNIT_EXPECT_TRUE(test, litepcie_ring_poll(engine, 3));
	KUNIT_EXPECT_EQ(test, done, 3u);
	KUNIT_EXPECT_EQ(test, engine->completed, 6u);
	/* The last one is not complete yet. */
	KUNIT_EXPECT_FALSE(test, litepcie_ring_poll(engine, 3));
	KUNIT_EXPECT_EQ(test, done, 4u);
	KUNIT_EXPECT_EQ(test, engine->completed, 9u);
	completes(ld, 0);
	KUNIT_EXPECT_EQ(test, done, 5u);
	card_ends(ld);
}

/*
 * An engine stops in the second of three descriptors: the bytes before count as
 * moved, and the request after this one runs again.
 */
static void a_stop_ends_one_request(struct kunit *test)
{
	struct litepcie_device *ld = card_of(test);
	struct litepcie_engine *engine = &ld->engines[0][LITEPCIE_TO_CARD];
	struct litepcie_request *req;
	unsigned int i, done = 0;

	for (i = 1; i < ENGINES; i++)
		ld->engines[i][LITEPCIE_TO_CARD].state = LITEPCIE_ENGINE_FAILED;
	queue(test, flow_of(test, ld), 2, 3 * SZ_4K, 3, &done);
	req = list_first_entry(&engine->inflight, struct litepcie_request, node);
	engine->state = LITEPCIE_ENGINE_PAUSED;
	litepcie_ring_rewind(engine, 1, 100, -EIO);
	KUNIT_EXPECT_EQ(test, done, 1u);
	KUNIT_EXPECT_EQ(test, req->moved, (size_t)SZ_4K + 100);
	KUNIT_EXPECT_EQ(test, req->error, -EIO);
	engine->state = LITEPCIE_ENGINE_RUNNING;
	spin_lock_irq(&engine->pool->lock);
	litepcie_ring_feed(engine->pool);
	spin_unlock_irq(&engine->pool->lock);
	KUNIT_EXPECT_EQ(test, rung(ld, 0), 3u);
	completes(ld, 0);
	KUNIT_EXPECT_EQ(test, done, 2u);
	card_ends(ld);
}

static struct litepcie_waiter waiter_of(struct litepcie_flow *flow, size_t bytes)
{
	return (struct litepcie_waiter){ .flow = flow, .bytes = bytes };
}

/* Room goes to the calls that it is enough for, in their order, and wakes no other. */
static void room_wakes_only_who_has_it(struct kunit *test)
{
	struct litepcie_device *ld = card_of(test);
	struct litepcie_pool *pool = &ld->pools[LITEPCIE_TO_CARD];
	struct litepcie_flow *flow = flow_of(test, ld);
	size_t most = litepcie_file_bytes();
	struct litepcie_waiter waiters[] = {
		waiter_of(flow, most), waiter_of(flow, SZ_1M), waiter_of(flow, SZ_1M),
	};
	unsigned int i;

	KUNIT_EXPECT_EQ(test, litepcie_flow_reserve(flow, most, false), 0);
	KUNIT_EXPECT_EQ(test, litepcie_flow_reserve(flow, 1, false), -EAGAIN);
	for (i = 0; i < ARRAY_SIZE(waiters); i++) {
		init_completion(&waiters[i].granted);
		list_add_tail(&waiters[i].node, &pool->waiters);
	}
	litepcie_flow_release(flow, SZ_1M);
	KUNIT_EXPECT_FALSE(test, completion_done(&waiters[0].granted));
	KUNIT_EXPECT_TRUE(test, completion_done(&waiters[1].granted));
	KUNIT_EXPECT_FALSE(test, completion_done(&waiters[2].granted));
	KUNIT_EXPECT_EQ(test, flow->held, most);
	litepcie_flow_release(flow, most);
	KUNIT_EXPECT_TRUE(test, completion_done(&waiters[0].granted));
	KUNIT_EXPECT_FALSE(test, completion_done(&waiters[2].granted));
	litepcie_flow_release(flow, most);
	KUNIT_EXPECT_TRUE(test, completion_done(&waiters[2].granted));
	KUNIT_EXPECT_TRUE(test, list_empty(&pool->waiters));
	KUNIT_EXPECT_EQ(test, pool->held, (size_t)SZ_1M);
	card_ends(ld);
}

/* A card with streams only has pools without engines. */
static void a_card_without_channels_moves_nothing(struct kunit *test)
{
	struct litepcie_pool *pool = kunit_kzalloc(test, sizeof(*pool), GFP_KERNEL);

	KUNIT_EXPECT_TRUE(test, litepcie_channels_fit(0, 1));
	KUNIT_EXPECT_FALSE(test, litepcie_channels_fit(0, 0));
	KUNIT_ASSERT_TRUE(test, pool);
	litepcie_pool_init(pool);
	spin_lock_irq(&pool->lock);
	litepcie_ring_feed(pool);
	spin_unlock_irq(&pool->lock);
}

static struct kunit_case litepcie_queue_cases[] = {
	KUNIT_CASE(descriptor_has_its_layout),
	KUNIT_CASE(descriptor_length_does_not_reach_flags),
	KUNIT_CASE(ring_room_wraps),
	KUNIT_CASE(ring_count_is_valid_in_range),
	KUNIT_CASE(chunks_end_with_pages),
	KUNIT_CASE(chunks_are_the_buffer),
	KUNIT_CASE(reasons_have_errors_and_names),
	KUNIT_CASE(no_file_is_first_of_none),
	KUNIT_CASE(shares_are_equal_in_bytes),
	KUNIT_CASE(a_byte_does_not_wait_for_floods),
	KUNIT_CASE(new_files_do_not_starve_an_old_one),
	KUNIT_CASE(only_service_counts),
	KUNIT_CASE(one_at_a_time_is_no_advantage),
	KUNIT_CASE(a_card_without_channels_moves_nothing),
	KUNIT_CASE(short_requests_use_all_engines),
	KUNIT_CASE(only_a_lone_polled_request_is_quiet),
	KUNIT_CASE(a_short_request_passes_long_ones),
	KUNIT_CASE(files_are_equal_over_all_engines),
	KUNIT_CASE(a_request_is_not_split),
	KUNIT_CASE(other_engines_take_over),
	KUNIT_CASE(a_poll_ends_no_more_than_it_may),
	KUNIT_CASE(a_stop_ends_one_request),
	KUNIT_CASE(room_wakes_only_who_has_it),
	{ }
};

static struct kunit_suite litepcie_queue_suite = {
	.name = "litepcie-queue",
	.test_cases = litepcie_queue_cases,
};

kunit_test_suite(litepcie_queue_suite);
