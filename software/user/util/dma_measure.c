// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Measurements of dma_test: differences of the card's counters, and the host's clock. */
#include <stdio.h>

#include "dma_test.h"

double counter_rate(const struct dma_test *test, uint64_t bytes, uint64_t cycles)
{
	return (double)bytes * test->info.clock_hz / (double)cycles;
}

/* Adds the last transfer of @side. 0, or -1 with test->error filled in. */
int measure_add(struct dma_test *test, struct side *side)
{
	const struct litepcie_counters *before = &side->before;
	struct measure *m = &side->measure;
	struct litepcie_counters after;
	uint64_t bytes, cycles;
	double seconds = side->stop - side->start;
	int err = litepcie_get_counters(test->card, 0, side->direction, &after);

	if (err < 0) {
		test->failure = err;
		snprintf(test->error, sizeof(test->error), "counters of the %s: %s",
			 litepcie_direction_name(side->direction), litepcie_strerror(err));
		return -1;
	}
	bytes = after.bytes - before->bytes;
	cycles = after.active_cycles - before->active_cycles;
	/* The counters decrease if the engine was reset between the samples. */
	if (!bytes || !cycles || after.bytes < before->bytes ||
	    after.active_cycles < before->active_cycles) {
		snprintf(test->error, sizeof(test->error),
			 "counters of the %s did not increase: %llu bytes and %llu cycles before a "
			 "transfer, %llu and %llu after it",
			 litepcie_direction_name(side->direction),
			 (unsigned long long)before->bytes,
			 (unsigned long long)before->active_cycles, (unsigned long long)after.bytes,
			 (unsigned long long)after.active_cycles);
		return -1;
	}
	m->transfers++;
	m->bytes += test->options->length;
	m->counter_bytes += bytes;
	m->counter_cycles += cycles;
	m->last_bytes = bytes;
	m->last_cycles = cycles;
	if (!m->peak_cycles ||
	    counter_rate(test, bytes, cycles) > counter_rate(test, m->peak_bytes, m->peak_cycles)) {
		m->peak_bytes = bytes;
		m->peak_cycles = cycles;
	}
	/* These counters are 32 bits wide and wrap; so do their types. */
	m->wait_descriptor += after.wait_descriptor - before->wait_descriptor;
	m->wait_tag += after.wait_tag - before->wait_tag;
	m->wait_link += after.wait_link - before->wait_link;
	m->wait_data += after.wait_data - before->wait_data;

	m->wall_seconds += seconds;
	m->wall_last = seconds;
	if (m->transfers == 1 || seconds < m->wall_least)
		m->wall_least = seconds;
	return 0;
}
