// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* dma_test --interval: the rates since the line before. */
#include <inttypes.h>
#include <stdio.h>

#include "dma_test.h"
#include "json.h"

/* What a direction had at the line before. */
static struct mark {
	uint64_t transfers, bytes, counter_bytes, counter_cycles;
	double wall_seconds;
} marks[2];
static double last_line;

static void of_side(const struct dma_test *test, const struct side *side, struct mark *mark)
{
	const struct measure *m = &side->measure;
	uint64_t transfers = m->transfers - mark->transfers;
	double counter, wall;

	if (!transfers)
		return;
	counter = counter_rate(test, m->counter_bytes - mark->counter_bytes,
			       m->counter_cycles - mark->counter_cycles);
	wall = (double)(m->bytes - mark->bytes) / (m->wall_seconds - mark->wall_seconds);
	if (test->json) {
		json_object(direction_word(side->direction));
		json_number("transfers", transfers);
		json_real("counter_bytes_per_second", counter, 0);
		json_real("host_wall_clock_bytes_per_second", wall, 0);
		json_end();
	} else {
		printf("  %s %" PRIu64 " transfers, counter %.1f, wall clock %.1f MB/s",
		       direction_word(side->direction), transfers, counter / 1e6, wall / 1e6);
	}
	*mark = (struct mark){ m->transfers, m->bytes, m->counter_bytes, m->counter_cycles,
			       m->wall_seconds };
}

void dma_interval(struct dma_test *test, double now)
{
	double since = last_line ? last_line : test->began;

	if (!test->interval || now - since < test->interval || !test->iteration)
		return;
	last_line = now;
	dma_progress_clear();
	if (test->json) {
		json_line("dma_test");
		json_text("event", "interval");
		json_text("device", test->settings->device);
		json_real("time_seconds", now - test->began, 3);
	} else {
		if (test->several)
			printf("%s ", test->settings->device);
		printf("%8.1f s", now - test->began);
	}
	for (unsigned int i = 0; i < 2; i++)
		of_side(test, &test->sides[i], &marks[i]);
	if (test->json)
		json_end();
	else
		putchar('\n');
	fflush(stdout);
}
