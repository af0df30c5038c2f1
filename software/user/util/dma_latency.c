// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Percentiles of the times of calls, in memory that does not grow with their number. */
#include "dma_test.h"

#define SUB 64 /* buckets of a power of two; also the first times, one bucket each */

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int power, index;

	if (ns < SUB)
		return (unsigned int)ns;
	power = 63 - (unsigned int)__builtin_clzll(ns);
	index = (power - 5) * SUB + (unsigned int)(ns >> (power - 6) & (SUB - 1));
	return index < LATENCY_BUCKETS ? index : LATENCY_BUCKETS - 1;
}

/* The middle of a bucket, in nanoseconds. */
static double middle(unsigned int bucket)
{
	unsigned int power = bucket / SUB + 5;
	double width;

	if (bucket < SUB)
		return bucket;
	width = (double)(UINT64_C(1) << (power - 6));
	return (SUB + bucket % SUB + 0.5) * width;
}

void latencies_add(struct latencies *latencies, double seconds)
{
	latencies->count++;
	latencies->buckets[bucket_of(seconds > 0 ? (uint64_t)(seconds * 1e9) : 0)]++;
}

bool latencies_tell(const struct latencies *latencies, double part)
{
	return (double)latencies->count * (1 - part) > 0.999;
}

double latencies_at(const struct latencies *latencies, double part)
{
	double wanted = part * (double)latencies->count;
	uint64_t seen = 0;

	for (unsigned int i = 0; i < LATENCY_BUCKETS; i++) {
		seen += latencies->buckets[i];
		if (latencies->buckets[i] && (double)seen >= wanted)
			return middle(i) / 1e9;
	}
	return 0;
}
