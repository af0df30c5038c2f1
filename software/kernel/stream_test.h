/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The card of the KUnit tests of streams, and the calls of a program to it.
 * The card is memory here: a test writes its status block and reports.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef LITEPCIE_STREAM_TEST_H
#define LITEPCIE_STREAM_TEST_H

#include <kunit/test.h>

#include <linux/dma-mapping.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "driver.h"
#include "stream.h"

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

#endif /* LITEPCIE_STREAM_TEST_H */
