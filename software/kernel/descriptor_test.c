// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of descriptors and positions in a ring.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/sizes.h>

#include "descriptor.h"
#include "litepcie_regs.h"

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

static struct kunit_case litepcie_descriptor_cases[] = {
	KUNIT_CASE(descriptor_has_its_layout),
	KUNIT_CASE(descriptor_length_does_not_reach_flags),
	KUNIT_CASE(ring_room_wraps),
	KUNIT_CASE(ring_count_is_valid_in_range),
	KUNIT_CASE(chunks_end_with_pages),
	KUNIT_CASE(chunks_are_the_buffer),
	KUNIT_CASE(reasons_have_errors_and_names),
	{ }
};

static struct kunit_suite litepcie_descriptor_suite = {
	.name = "litepcie-descriptor",
	.test_cases = litepcie_descriptor_cases,
};

kunit_test_suite(litepcie_descriptor_suite);
