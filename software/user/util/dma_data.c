// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Data of dma_test: buffers with guards, test patterns, comparisons. */
#include <stdlib.h>
#include <string.h>

#include "dma_test.h"

const char in_data[] = "data", host_guard[] = "host guard", card_guard[] = "card guard";

bool buffer_allocate(struct buffer *buffer, uint64_t bytes, uint64_t host_offset)
{
	uint64_t total = AREA_ALIGN + host_offset + bytes + HOST_GUARD;

	total = (total + AREA_ALIGN - 1) & ~(uint64_t)(AREA_ALIGN - 1);
	buffer->allocation = aligned_alloc(AREA_ALIGN, total);
	if (!buffer->allocation)
		return false;
	memset(buffer->allocation, GUARD_VALUE, total);
	buffer->data = (uint8_t *)buffer->allocation + AREA_ALIGN + host_offset;
	return true;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->allocation);
}

/* The finalizer of splitmix64: similar inputs give unrelated outputs. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

/* Adds eight bytes in parallel, without a carry between them. */
static uint64_t add_bytes(uint64_t a, uint64_t b)
{
	const uint64_t low = 0x7f7f7f7f7f7f7f7f;

	return ((a & low) + (b & low)) ^ ((a ^ b) & ~low);
}

void fill_pattern(uint8_t *data, uint64_t bytes, uint64_t seed, uint64_t fill)
{
	/* With an odd factor, 256 fills give a byte 256 different values. */
	uint64_t step = (fill * 0x9d & 0xff) * 0x0101010101010101;
	uint64_t base = mix(seed);

	for (uint64_t i = 0; i < bytes; i += 8) {
		uint64_t word = add_bytes(mix(base + (i / 8 + 1) * 0x9e3779b97f4a7c15), step);

		memcpy(data + i, &word, bytes - i < 8 ? bytes - i : 8);
	}
}

void fill_inverse(uint8_t *data, const uint8_t *of, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++)
		data[i] = ~of[i];
}

static void note(struct dma_test *test, const struct side *side, const char *what, int64_t position,
		 uint8_t expected, uint8_t got)
{
	test->mismatch = (struct mismatch){
		.what = what,
		.direction = side->direction,
		.iteration = test->iteration,
		.position = position,
		.card_offset = side->offset + position,
		.expected = expected,
		.got = got,
	};
}

static uint64_t count_differing(const uint8_t *a, const uint8_t *b, uint64_t bytes)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < bytes; i++)
		count += a[i] != b[i];
	return count;
}

static bool host_guard_is_right(struct dma_test *test, const struct side *side, int64_t from)
{
	const uint8_t *bytes = side->landing.data + from;

	for (int i = 0; i < HOST_GUARD; i++) {
		if (bytes[i] == GUARD_VALUE)
			continue;
		note(test, side, host_guard, from + i, GUARD_VALUE, bytes[i]);
		for (int j = i; j < HOST_GUARD; j++)
			test->mismatch.differing += bytes[j] != GUARD_VALUE;
		return false;
	}
	return true;
}

bool landing_is_source(const struct dma_test *test, const struct side *side)
{
	return !memcmp(side->source.data, side->landing.data, test->area);
}

bool landing_is_right(struct dma_test *test, const struct side *side)
{
	const uint8_t *expected = side->source.data, *got = side->landing.data;
	uint64_t length = test->area, i = 0;

	if (!landing_is_source(test, side)) {
		while (expected[i] == got[i])
			i++;
		note(test, side, in_data, (int64_t)i, expected[i], got[i]);
		test->mismatch.differing = count_differing(expected, got, length);
		return false;
	}
	return host_guard_is_right(test, side, -HOST_GUARD) &&
	       host_guard_is_right(test, side, (int64_t)length);
}

bool landing_is_inverse(struct dma_test *test, const struct side *side)
{
	for (uint64_t i = 0; i < test->area; i++) {
		uint8_t expected = ~side->source.data[i];

		if (side->landing.data[i] == expected)
			continue;
		note(test, side, in_data, (int64_t)i, expected, side->landing.data[i]);
		test->mismatch.differing = 1;
		while (++i < test->area)
			test->mismatch.differing +=
				(side->landing.data[i] ^ side->source.data[i]) != 0xff;
		return false;
	}
	return true;
}

bool card_guard_is_right(struct dma_test *test, const struct side *side,
			 const struct card_guard *guard, const uint8_t *now)
{
	for (size_t i = 0; i < guard->bytes; i++) {
		if (now[i] == guard->saved[i])
			continue;
		note(test, side, card_guard, (int64_t)(guard->offset - side->offset + i),
		     guard->saved[i], now[i]);
		test->mismatch.differing = count_differing(now, guard->saved, guard->bytes);
		return false;
	}
	return true;
}
