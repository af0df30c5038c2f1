// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the rings of streams: counts, packet ends, and what is lost.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <kunit/test.h>

#include <linux/dma-mapping.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "driver.h"
#include "stream.h"

/*
 * The card, and the calls of a program to it. The card is memory here: a test writes
 * its status block and reports.
 */

#define DEPTH		4
#define BUFFER_BYTES	1000
#define RING_LOG2	3	/* greater than DEPTH: buffers and descriptors wrap apart */
#define LAST		LITEPCIE_STREAM_SLOT_LAST

/* Unmaps the buffers of the last end_of(). */
static void end_ends(struct kunit *test)
{
	struct litepcie_stream_end *end = test->priv;
	unsigned int i;

	for (i = 0; end && i < DEPTH; i++)
		dma_unmap_single(&end->ld->pdev->dev, end->memory->buffers[i].dma,
				 BUFFER_BYTES, end->dma);
	test->priv = NULL;
}

static struct litepcie_stream_end *end_of(struct kunit *test, unsigned int direction)
{
	static u64 all_addresses = DMA_BIT_MASK(64);
	struct litepcie_stream_memory *memory;
	struct litepcie_stream_end *end;
	struct litepcie_device *ld;
	unsigned int i;

	end = kunit_kzalloc(test, sizeof(*end), GFP_KERNEL);
	ld = kunit_kzalloc(test, sizeof(*ld), GFP_KERNEL);
	memory = kunit_kzalloc(test, struct_size(memory, buffers, DEPTH), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, end && ld && memory);
	ld->pdev = kunit_kzalloc(test, sizeof(*ld->pdev), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, ld->pdev);
	ld->pdev->dev.dma_mask = &all_addresses;
	ld->card = LITEPCIE_CARD_PRESENT;
	end_ends(test);
	end->ld = ld;
	end->direction = direction;
	end->dma = direction == LITEPCIE_TO_CARD ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
	end->ring_log2 = RING_LOG2;
	end->ring = kunit_kzalloc(test, LITEPCIE_DESCRIPTOR_BYTES << RING_LOG2, GFP_KERNEL);
	end->status = kunit_kzalloc(test, LITEPCIE_REPORT_OFFSET +
				    (LITEPCIE_REPORT_BYTES << RING_LOG2), GFP_KERNEL);
	end->regs = (void __iomem __force *)kunit_kzalloc(test, SZ_4K, GFP_KERNEL);
	init_waitqueue_head(&end->wait);
	mutex_init(&end->use);
	mutex_init(&end->control);
	spin_lock_init(&end->lock);
	memory->depth = DEPTH;
	memory->buffer_bytes = BUFFER_BYTES;
	memory->shared = kunit_kzalloc(test, sizeof(*memory->shared), GFP_KERNEL);
	for (i = 0; i < DEPTH; i++) {
		memory->buffers[i].data = kunit_kzalloc(test, BUFFER_BYTES, GFP_KERNEL);
		KUNIT_ASSERT_TRUE(test, memory->buffers[i].data);
		memory->buffers[i].dma = dma_map_single(&ld->pdev->dev,
							memory->buffers[i].data,
							BUFFER_BYTES, end->dma);
		KUNIT_ASSERT_FALSE(test, dma_mapping_error(&ld->pdev->dev,
							   memory->buffers[i].dma));
	}
	KUNIT_ASSERT_TRUE(test, end->ring && end->status && end->regs && memory->shared);
	end->memory = memory;
	test->priv = end;
	litepcie_stream_run(end);
	return end;
}

/* A direction that runs since its register PASSED was @passed. */
static struct litepcie_stream_end *ran_since(struct kunit *test, unsigned int direction,
					     u32 passed)
{
	struct litepcie_stream_end *end = end_of(test, direction);

	end->ld->id.version = LITEPCIE_VERSION_MAJOR << 16 | LITEPCIE_VERSION_MINOR;
	writel(passed, end->regs + LITEPCIE_ENGINE_PASSED);
	KUNIT_EXPECT_FALSE(test, litepcie_stream_count_reset(end));
	end->begun = true;
	return end;
}

static u32 doorbell(struct litepcie_stream_end *end)
{
	return readl(end->regs + LITEPCIE_ENGINE_DOORBELL);
}

/* The card fills the next buffer of a writer with @bytes of @value. */
static void card_fills(struct litepcie_stream_end *end, u32 bytes, u32 flags, u8 value)
{
	u32 count = le32_to_cpu(end->status[LITEPCIE_STATUS_COMPLETED]);

	memset(litepcie_stream_nth(end, count)->data, value, min_t(u32, bytes, BUFFER_BYTES));
	end->status[LITEPCIE_REPORT_OFFSET / 4 + count % BIT(RING_LOG2)] =
		cpu_to_le32(bytes | flags);
	end->status[LITEPCIE_STATUS_COMPLETED] = cpu_to_le32(count + 1);
}

/* The card takes buffers of a reader. */
static void card_takes(struct litepcie_stream_end *end, u32 count)
{
	end->status[LITEPCIE_STATUS_COMPLETED] =
		cpu_to_le32(le32_to_cpu(end->status[LITEPCIE_STATUS_COMPLETED]) + count);
	litepcie_stream_poll(end);
}

/* Calls read() with a buffer of @most bytes, which are compared with @value. */
static ssize_t reads(struct kunit *test, struct litepcie_stream_end *end, size_t most,
		     u8 value)
{
	u8 *bytes = kunit_kzalloc(test, most, GFP_KERNEL);
	struct kvec vec = { bytes, most };
	struct iov_iter iter;
	ssize_t got, i;

	iov_iter_kvec(&iter, READ, &vec, 1, most);
	mutex_lock(&end->use);
	got = litepcie_stream_read(end, &iter, false);
	mutex_unlock(&end->use);
	for (i = 0; i < got; i++)
		KUNIT_EXPECT_EQ(test, bytes[i], value);
	return got;
}

static ssize_t writes(struct kunit *test, struct litepcie_stream_end *end, size_t bytes)
{
	struct kvec vec = { kunit_kzalloc(test, bytes, GFP_KERNEL), bytes };
	struct iov_iter iter;
	ssize_t given;

	iov_iter_kvec(&iter, WRITE, &vec, 1, bytes);
	mutex_lock(&end->use);
	given = litepcie_stream_write(end, &iter, false);
	mutex_unlock(&end->use);
	return given;
}

/* A packet in two buffers, then a short one: no read() has bytes of both. */
static void a_read_ends_with_its_packet(struct kunit *test)
{
	struct litepcie_stream_end *end = end_of(test, LITEPCIE_FROM_CARD);

	card_fills(end, BUFFER_BYTES, 0, 1);
	card_fills(end, 10, LAST, 1);
	card_fills(end, 20, LAST, 2);
	KUNIT_EXPECT_EQ(test, reads(test, end, 5000, 1), (ssize_t)BUFFER_BYTES + 10);
	KUNIT_EXPECT_EQ(test, doorbell(end), DEPTH + 2u);
	KUNIT_EXPECT_EQ(test, reads(test, end, 5000, 2), (ssize_t)20);
	KUNIT_EXPECT_EQ(test, reads(test, end, 5000, 2), (ssize_t)-EAGAIN);
	KUNIT_EXPECT_EQ(test, end->counters.packets, 2ull);
	KUNIT_EXPECT_EQ(test, end->counters.bytes, BUFFER_BYTES + 30ull);
}

/* And close() counts what was not read. */
static void a_short_read_leaves_the_rest(struct kunit *test)
{
	struct litepcie_stream_end *end = end_of(test, LITEPCIE_FROM_CARD);

	card_fills(end, 100, 0, 3);
	card_fills(end, 50, LAST, 3);
	KUNIT_EXPECT_EQ(test, reads(test, end, 70, 3), (ssize_t)70);
	KUNIT_EXPECT_EQ(test, doorbell(end), (u32)DEPTH);
	KUNIT_EXPECT_EQ(test, end->offset, 70u);
	KUNIT_EXPECT_EQ(test, reads(test, end, 30, 3), (ssize_t)30);
	KUNIT_EXPECT_EQ(test, doorbell(end), DEPTH + 1u);
	KUNIT_EXPECT_EQ(test, reads(test, end, 20, 3), (ssize_t)20);
	litepcie_stream_drop(end, false);
	KUNIT_EXPECT_EQ(test, end->counters.lost_bytes, 30ull);
	KUNIT_EXPECT_EQ(test, end->counters.cuts, 1ull);
	KUNIT_EXPECT_EQ(test, end->state, LITEPCIE_STREAM_STOPPED);
}

/* Many times round both rings, also past the end of 32 bits. */
static void counts_wrap(struct kunit *test)
{
	struct litepcie_stream_end *end = end_of(test, LITEPCIE_FROM_CARD);
	u32 base = -10u, i;

	end->consumed = base;
	end->completed = base;
	end->produced = base + DEPTH;
	end->status[LITEPCIE_STATUS_COMPLETED] = cpu_to_le32(base);
	for (i = 0; i < 50; i++) {
		card_fills(end, 1 + i, LAST, i);
		KUNIT_EXPECT_EQ(test, reads(test, end, 100, i), (ssize_t)(1 + i));
		KUNIT_EXPECT_EQ(test, doorbell(end), base + DEPTH + 1 + i);
	}
	KUNIT_EXPECT_EQ(test, end->counters.packets, 50ull);
}

/* Once, after what came of the packet; the next packet follows. */
static void a_packet_that_logic_cuts_is_an_error(struct kunit *test)
{
	struct litepcie_stream_end *end = end_of(test, LITEPCIE_FROM_CARD);

	card_fills(end, 100, 0, 1);
	card_fills(end, 50, 0, 1);
	card_fills(end, 20, LITEPCIE_REPORT_CUT | LAST, 2);
	KUNIT_EXPECT_EQ(test, reads(test, end, 5000, 1), (ssize_t)150);
	KUNIT_EXPECT_EQ(test, reads(test, end, 5000, 2), (ssize_t)-ENODATA);
	KUNIT_EXPECT_EQ(test, reads(test, end, 5000, 2), (ssize_t)20);
	KUNIT_EXPECT_EQ(test, end->memory->shared->slots[2],
			20u | LAST | LITEPCIE_STREAM_SLOT_CUT);
	KUNIT_EXPECT_EQ(test, reads(test, end, 5000, 2), (ssize_t)-EAGAIN);
	KUNIT_EXPECT_EQ(test, end->counters.cuts, 1ull);
	KUNIT_EXPECT_EQ(test, end->counters.packets, 1ull);
	KUNIT_EXPECT_EQ(test, end->counters.lost_bytes, 0ull);
}

static void impossible_reports_stop_a_writer(struct kunit *test)
{
	static const u32 wrong[] = { 0, LAST, BUFFER_BYTES + 1, LITEPCIE_REPORT_BYTES_MASK };
	struct litepcie_stream_end *end;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		end = end_of(test, LITEPCIE_FROM_CARD);
		card_fills(end, 5, LAST, 1);
		card_fills(end, wrong[i], 0, 1);
		KUNIT_EXPECT_EQ(test, reads(test, end, 100, 1), (ssize_t)5);
		KUNIT_EXPECT_EQ(test, end->state, LITEPCIE_STREAM_STOPPED);
		KUNIT_EXPECT_EQ(test, litepcie_stream_fault(end), -EIO);
		KUNIT_EXPECT_EQ(test, end->counters.cuts, 1ull);
		KUNIT_EXPECT_EQ(test, doorbell(end), (u32)DEPTH);
	}
}

static void impossible_counts_stop_an_engine(struct kunit *test)
{
	static const u32 wrong[] = { DEPTH + 1, -1u, 1u << 31 };
	struct litepcie_stream_end *end;
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(wrong); i++) {
		end = end_of(test, i % 2);
		if (end->direction == LITEPCIE_TO_CARD)
			KUNIT_EXPECT_EQ(test, writes(test, end, 3500), (ssize_t)3500);
		end->status[LITEPCIE_STATUS_COMPLETED] = cpu_to_le32(wrong[i / 2]);
		litepcie_stream_poll(end);
		KUNIT_EXPECT_EQ(test, end->completed, 0u);
		KUNIT_EXPECT_EQ(test, litepcie_stream_take_fault(end), -EIO);
		KUNIT_EXPECT_EQ(test, litepcie_stream_fault(end), 0);
	}
}

static void a_full_ring_is_an_overrun(struct kunit *test)
{
	struct litepcie_stream_end *end = end_of(test, LITEPCIE_FROM_CARD);
	unsigned int i;

	for (i = 0; i < DEPTH; i++) {
		KUNIT_EXPECT_EQ(test, end->counters.overruns, 0ull);
		card_fills(end, 1, LAST, 1);
		litepcie_stream_poll(end);
	}
	KUNIT_EXPECT_EQ(test, end->counters.overruns, 1ull);
	KUNIT_EXPECT_EQ(test, litepcie_stream_ready(end), (u32)DEPTH);
}

/* A packet in three buffers: only the last one has the flag. */
static void a_write_is_a_packet(struct kunit *test)
{
	struct litepcie_stream_end *end = end_of(test, LITEPCIE_TO_CARD);
	unsigned int i;

	KUNIT_EXPECT_EQ(test, writes(test, end, 2 * BUFFER_BYTES + 7),
			(ssize_t)(2 * BUFFER_BYTES + 7));
	KUNIT_EXPECT_EQ(test, doorbell(end), 3u);
	for (i = 0; i < 3; i++) {
		u32 control = le32_to_cpu(end->ring[i].control);

		KUNIT_EXPECT_EQ(test, control & LITEPCIE_DESCRIPTOR_LENGTH_MASK,
				i < 2 ? (u32)BUFFER_BYTES : 7u);
		KUNIT_EXPECT_EQ(test, !!(control & LITEPCIE_DESCRIPTOR_LAST), i == 2);
	}
	/* One more fits: the write is short, and its packet goes on. */
	KUNIT_EXPECT_EQ(test, writes(test, end, 3 * BUFFER_BYTES), (ssize_t)BUFFER_BYTES);
	KUNIT_EXPECT_EQ(test, writes(test, end, 1), (ssize_t)-EAGAIN);
	KUNIT_EXPECT_FALSE(test, le32_to_cpu(end->ring[3].control) &
			   LITEPCIE_DESCRIPTOR_LAST);
	card_takes(end, 4);
	KUNIT_EXPECT_EQ(test, end->counters.packets, 1ull);
	KUNIT_EXPECT_EQ(test, end->counters.underruns, 1ull);
	KUNIT_EXPECT_FALSE(test, litepcie_stream_drained(end));
	KUNIT_EXPECT_EQ(test, writes(test, end, 1), (ssize_t)1);
	card_takes(end, 1);
	KUNIT_EXPECT_TRUE(test, litepcie_stream_drained(end));
}

/* An error of the card: what it has not got is counted, and one call says so. */
static void a_reader_counts_what_is_lost(struct kunit *test)
{
	struct litepcie_stream_end *end = end_of(test, LITEPCIE_TO_CARD);

	KUNIT_EXPECT_EQ(test, writes(test, end, 3 * BUFFER_BYTES), (ssize_t)3 * BUFFER_BYTES);
	card_takes(end, 1);
	end->status[LITEPCIE_STATUS_REASON] = cpu_to_le32(LITEPCIE_REASON_TIMEOUT);
	KUNIT_EXPECT_EQ(test, writes(test, end, 5), (ssize_t)-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, end->counters.lost_bytes, 2ull * BUFFER_BYTES);
	KUNIT_EXPECT_EQ(test, end->counters.cuts, 1ull);
	KUNIT_EXPECT_EQ(test, end->error, 0);
	KUNIT_EXPECT_EQ(test, end->produced, end->completed);
	KUNIT_EXPECT_EQ(test, litepcie_stream_give(end, 1), -EAGAIN);
}

/* A reset drops what the card's RAM holds: all that the card took and no buffer has. */
static void a_reset_of_a_writer_counts_the_ram(struct kunit *test)
{
	struct litepcie_stream_end *end = ran_since(test, LITEPCIE_FROM_CARD, -500u);

	card_fills(end, 700, 0, 1);
	card_fills(end, 100, LAST, 1);
	litepcie_stream_poll(end);
	writel(-500u + 800 + 64, end->regs + LITEPCIE_ENGINE_PASSED);
	KUNIT_EXPECT_TRUE(test, litepcie_stream_count_reset(end));
	KUNIT_EXPECT_EQ(test, end->counters.lost_bytes, 64ull);
	litepcie_stream_drop(end, true);
	KUNIT_EXPECT_EQ(test, end->counters.lost_bytes, 864ull);
	KUNIT_EXPECT_EQ(test, end->counters.cuts, 1ull);
}

/* The logic got a part of what was given, also of a buffer that is not complete. */
static void a_reset_of_a_reader_counts_what_no_one_got(struct kunit *test)
{
	struct litepcie_stream_end *end = ran_since(test, LITEPCIE_TO_CARD, 7);

	KUNIT_EXPECT_EQ(test, writes(test, end, 3 * BUFFER_BYTES), (ssize_t)3 * BUFFER_BYTES);
	card_takes(end, 1);
	writel(7 + BUFFER_BYTES + 200, end->regs + LITEPCIE_ENGINE_PASSED);
	KUNIT_EXPECT_TRUE(test, litepcie_stream_count_reset(end));
	litepcie_stream_drop(end, true);
	KUNIT_EXPECT_EQ(test, end->counters.lost_bytes, 2ull * BUFFER_BYTES - 200);
	KUNIT_EXPECT_EQ(test, end->counters.cuts, 1ull);
}

/* Nothing is counted of a card that does not tell, was cut off, or is gone. */
static void an_unknown_count_is_not_used(struct kunit *test)
{
	struct litepcie_stream_end *end = ran_since(test, LITEPCIE_FROM_CARD, 0);

	writel(64, end->regs + LITEPCIE_ENGINE_PASSED);
	end->ld->id.version = LITEPCIE_VERSION_MAJOR << 16 | 6;
	KUNIT_EXPECT_FALSE(test, litepcie_stream_count_reset(end));
	end = ran_since(test, LITEPCIE_FROM_CARD, 0);
	litepcie_stream_cut(end, LITEPCIE_STREAM_LOST, -ENODEV);
	writel(64, end->regs + LITEPCIE_ENGINE_PASSED);
	KUNIT_EXPECT_FALSE(test, litepcie_stream_count_reset(end));
	end = ran_since(test, LITEPCIE_FROM_CARD, 0);
	writel(~0U, end->regs + LITEPCIE_ENGINE_PASSED);
	writel(~0U, end->regs + LITEPCIE_ENGINE_CONTROL);
	KUNIT_EXPECT_FALSE(test, litepcie_stream_count_reset(end));
	KUNIT_EXPECT_EQ(test, end->counters.lost_bytes, 0ull);
}

/* A reset: what came before is read, then the error is returned once. */
static void data_comes_before_the_error(struct kunit *test)
{
	struct litepcie_stream_end *end = end_of(test, LITEPCIE_FROM_CARD);

	card_fills(end, 8, LAST, 4);
	litepcie_stream_poll(end);
	litepcie_stream_cut(end, LITEPCIE_STREAM_LOST, -ENODEV);
	KUNIT_EXPECT_EQ(test, litepcie_stream_ready(end), 1u);
	litepcie_stream_take(end, 1, 0);
	KUNIT_EXPECT_EQ(test, doorbell(end), (u32)DEPTH);
	/* While the card is lost, each call gets it. */
	KUNIT_EXPECT_EQ(test, litepcie_stream_take_fault(end), -ENODEV);
	KUNIT_EXPECT_EQ(test, litepcie_stream_take_fault(end), -ENODEV);
}

static struct kunit_case litepcie_stream_cases[] = {
	KUNIT_CASE(a_read_ends_with_its_packet),
	KUNIT_CASE(a_short_read_leaves_the_rest),
	KUNIT_CASE(counts_wrap),
	KUNIT_CASE(a_packet_that_logic_cuts_is_an_error),
	KUNIT_CASE(impossible_reports_stop_a_writer),
	KUNIT_CASE(impossible_counts_stop_an_engine),
	KUNIT_CASE(a_full_ring_is_an_overrun),
	KUNIT_CASE(a_write_is_a_packet),
	KUNIT_CASE(a_reader_counts_what_is_lost),
	KUNIT_CASE(a_reset_of_a_writer_counts_the_ram),
	KUNIT_CASE(a_reset_of_a_reader_counts_what_no_one_got),
	KUNIT_CASE(an_unknown_count_is_not_used),
	KUNIT_CASE(data_comes_before_the_error),
	{ }
};

static struct kunit_suite litepcie_stream_suite = {
	.name = "litepcie-stream",
	.exit = end_ends,
	.test_cases = litepcie_stream_cases,
};

kunit_test_suite(litepcie_stream_suite);
