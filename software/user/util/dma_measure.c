// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Measurements of dma_test: differences of the card's counters, and the host's clock. */
#include <stdbool.h>
#include <stdio.h>

#include "dma_test.h"

double counter_rate(const struct dma_test *test, uint64_t bytes, uint64_t cycles)
{
	return (double)bytes * test->info.clock_hz / (double)cycles;
}

/* What all engines of a direction moved between two samples. They run at the same time. */
struct change {
	uint64_t bytes, cycles; /* of all engines; of the one that was active longest */
	uint32_t wait_descriptor, wait_tag, wait_link, wait_data;
};

int measure_bytes(const struct dma_test *test, unsigned int direction, uint64_t *bytes)
{
	struct litepcie_counters counters;
	int err = 0;

	*bytes = 0;
	for (unsigned int i = 0; !err && i < test->info.channels && i < MOST_CHANNELS; i++) {
		err = litepcie_get_counters(test->card, i, direction, &counters);
		*bytes += err < 0 ? 0 : counters.bytes;
	}
	return err;
}

int measure_sample(struct dma_test *test, struct side *side, struct litepcie_counters *counters)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < test->info.channels && i < MOST_CHANNELS; i++)
		err = litepcie_get_counters(test->card, i, side->direction, &counters[i]);
	return err;
}

/* The counters decrease if an engine was reset between the samples: then false. */
static bool subtract(const struct dma_test *test, const struct litepcie_counters *before,
		     const struct litepcie_counters *after, struct change *change)
{
	for (unsigned int i = 0; i < test->info.channels && i < MOST_CHANNELS; i++) {
		uint64_t cycles = after[i].active_cycles - before[i].active_cycles;

		if (after[i].bytes < before[i].bytes ||
		    after[i].active_cycles < before[i].active_cycles)
			return false;
		change->bytes += after[i].bytes - before[i].bytes;
		if (cycles > change->cycles)
			change->cycles = cycles;
		/* These counters are 32 bits wide and wrap; so do their types. */
		change->wait_descriptor += after[i].wait_descriptor - before[i].wait_descriptor;
		change->wait_tag += after[i].wait_tag - before[i].wait_tag;
		change->wait_link += after[i].wait_link - before[i].wait_link;
		change->wait_data += after[i].wait_data - before[i].wait_data;
	}
	return change->bytes && change->cycles;
}

/* Adds the last transfer of @side. 0, or -1 with test->error filled in. */
int measure_add(struct dma_test *test, struct side *side)
{
	const struct litepcie_counters *before = side->before;
	struct measure *m = &side->measure;
	struct litepcie_counters after[MOST_CHANNELS];
	struct change change = { 0 };
	double seconds = side->stop - side->start;
	uint64_t other = 0;
	int err = measure_sample(test, side, after);

	if (err < 0) {
		test->failure = err;
		snprintf(test->error, sizeof(test->error), "counters of the %s: %s",
			 litepcie_direction_name(side->direction), litepcie_strerror(err));
		return -1;
	}
	if (!subtract(test, before, after, &change)) {
		snprintf(
			test->error, sizeof(test->error),
			"counters of the %s did not increase: %llu bytes and %llu cycles before a "
			"transfer, %llu and %llu after it",
			litepcie_direction_name(side->direction), (unsigned long long)before->bytes,
			(unsigned long long)before->active_cycles, (unsigned long long)after->bytes,
			(unsigned long long)after->active_cycles);
		return -1;
	}
	m->transfers += test->options->depth;
	m->bytes += test->area;
	m->counter_bytes += change.bytes;
	m->counter_cycles += change.cycles;
	m->last_bytes = change.bytes;
	m->last_cycles = change.cycles;
	if (!m->peak_cycles || counter_rate(test, change.bytes, change.cycles) >
				       counter_rate(test, m->peak_bytes, m->peak_cycles)) {
		m->peak_bytes = change.bytes;
		m->peak_cycles = change.cycles;
	}
	m->wait_descriptor += change.wait_descriptor;
	m->wait_tag += change.wait_tag;
	m->wait_link += change.wait_link;
	m->wait_data += change.wait_data;

	for (unsigned int i = 0; i < test->info.channels && i < MOST_CHANNELS; i++) {
		m->channel_bytes[i] += after[i].bytes - before[i].bytes;
		m->channel_cycles[i] += after[i].active_cycles - before[i].active_cycles;
	}
	if (measure_bytes(test, !side->direction, &other) >= 0 && other > side->other_before)
		m->other_bytes += other - side->other_before;
	for (uint64_t i = 0; i < test->options->depth; i++) {
		latencies_add(&m->latencies, side->seconds[i]);
		m->call_seconds += side->seconds[i];
	}
	m->wall_seconds += seconds;
	m->wall_last = seconds;
	if (m->transfers == test->options->depth || seconds < m->wall_least)
		m->wall_least = seconds;
	return 0;
}

void dma_note_disturbed(struct dma_test *test)
{
	for (unsigned int i = 0; i < 2 && !test->disturbed[0]; i++) {
		const struct measure *m = &test->sides[i].measure;

		if (m->counter_bytes != m->bytes)
			snprintf(test->disturbed, sizeof(test->disturbed),
				 "the counter of the %s has %llu bytes, but the test moved %llu: "
				 "another program used the card",
				 litepcie_direction_name(i), (unsigned long long)m->counter_bytes,
				 (unsigned long long)m->bytes);
		else if (m->other_bytes && test->options->sequence != READ_AND_WRITE)
			snprintf(test->disturbed, sizeof(test->disturbed),
				 "the %s moved %llu bytes while only the %s was measured: another "
				 "program used the card",
				 litepcie_direction_name(!i), (unsigned long long)m->other_bytes,
				 litepcie_direction_name(i));
	}
}
