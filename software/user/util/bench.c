// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* bench: the command line and the sweep. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "commands.h"
#include "json.h"
#include "memory.h"
#include "progress.h"
#include "signals.h"

#define DEFAULT_MAX (UINT64_C(1) << 20)
#define MARGIN	    64 /* bytes by which the pattern is longer than an area: one for each shift */

enum { BOTH = 2 };

static const char *const direction_names[] = { "read", "write", "both", NULL };

#define FIELD(name) offsetof(struct bench_options, name)

static const struct option options[] = {
	{ .name = "direction",
	  .letter = 's',
	  .kind = OPTION_CHOICE,
	  .argument = "NAME",
	  .help = "both are measured one after the other (default both); one of",
	  .where = FIELD(direction),
	  .choices = direction_names },
	{ .name = "min",
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "smallest length (default 64); each is 4 times the one before",
	  .where = FIELD(min),
	  .min = 1,
	  .max = UINT64_C(1) << 30 },
	{ .name = "max",
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "largest length (default 1M, or what fits the card's memory)",
	  .where = FIELD(max),
	  .min = 1,
	  .max = UINT64_C(1) << 30 },
	{ .name = "depth",
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "most transfers in flight, from 1 in powers of two (default 8)",
	  .where = FIELD(depth),
	  .min = 1,
	  .max = LITEPCIE_QUEUE_MOST },
	{ .name = "offset",
	  .letter = 'o',
	  .kind = OPTION_SIZE,
	  .argument = "BYTES",
	  .help = "first byte of the card's memory (default 0)",
	  .where = FIELD(offset),
	  .max = INT64_MAX },
	{ .name = "time-ms",
	  .letter = 't',
	  .kind = OPTION_COUNT,
	  .argument = "N",
	  .help = "time for each point (default 100)",
	  .where = FIELD(time_ms),
	  .max = 3600000 },
	{ .name = "csv",
	  .kind = OPTION_TEXT,
	  .argument = "FILE",
	  .help = "write the points there as CSV; - is standard output, without the text",
	  .where = FIELD(csv) },
	{ 0 },
};

static void *defaults(void)
{
	struct bench_options *o = calloc(1, sizeof(*o));

	if (o)
		*o = (struct bench_options){
			.min = 64, .depth = 8, .time_ms = 100, .direction = BOTH
		};
	return o;
}

static int check(struct bench *bench)
{
	const struct bench_options *o = bench->options;
	uint64_t memory = bench->info.memory_bytes;
	int code = need_channels(bench->settings, &bench->info);

	if (code)
		return code;
	bench->max = o->max;
	if (!o->max && o->offset < memory)
		bench->max = (memory - o->offset) / o->depth;
	if (!o->max && bench->max > DEFAULT_MAX)
		bench->max = DEFAULT_MAX;
	if (o->max && o->min > o->max)
		return fail(EXIT_USAGE,
			    "--min: %" PRIu64 " is larger than --max, which is %" PRIu64, o->min,
			    o->max);
	if (!o->max && bench->max < o->min)
		bench->max = o->min;
	if (bench->settings->json && o->csv && !strcmp(o->csv, "-"))
		return fail(EXIT_USAGE, "--csv - and --json both write to standard output: give "
					"--csv a file");
	if (o->offset >= memory || bench->max > (memory - o->offset) / o->depth)
		return fail(EXIT_USAGE,
			    "%" PRIu64 " transfers of %" PRIu64 " bytes at offset %" PRIu64
			    " do not fit the card's memory, which has %" PRIu64
			    " bytes: give a smaller --max, --depth or --offset",
			    o->depth, bench->max, o->offset, memory);
	return memory_lock(bench->settings, bench->card, o->offset, bench->max * o->depth);
}

/* Buffers, queue, CSV file. 0 or the exit code. */
static int prepare(struct bench *bench)
{
	const struct bench_options *o = bench->options;
	size_t bytes = bench->max * o->depth;
	struct iovec areas[2];
	uint64_t random = 88172645463325252;
	int err = 0;

	bench->pattern = aligned_alloc(4096, (bytes + MARGIN + 4095) & ~(size_t)4095);
	bench->back = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
	if (!bench->pattern || !bench->back)
		return fail(EXIT_FAILED, "no memory for buffers of %zu bytes", bytes);
	for (size_t i = 0; i < bytes + MARGIN; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		bench->pattern[i] = (uint8_t)random;
	}
	areas[0] = (struct iovec){ bench->pattern, bytes + MARGIN };
	areas[1] = (struct iovec){ bench->back, bytes };
	if (o->depth > 1)
		err = litepcie_queue_open(&bench->queue, bench->card, (unsigned int)o->depth);
	if (err < 0)
		return fail(EXIT_FAILED,
			    "%s: a queue of transfers, which several in flight need: %s; "
			    "--depth 1 works without",
			    bench->settings->device, litepcie_strerror(err));
	/* Without registered buffers, the kernel pins the pages of each transfer. */
	if (bench->queue)
		litepcie_queue_register(bench->queue, areas, 2);
	if (o->csv)
		bench->csv = strcmp(o->csv, "-") ? fopen(o->csv, "we") : stdout;
	if (o->csv && !bench->csv)
		return fail(EXIT_FAILED, "%s: %s", o->csv, strerror(errno));
	if (bench->csv)
		fprintf(bench->csv, "direction,in_flight,length_bytes,transfers,elapsed_seconds,"
				    "bytes_per_second,counter_bytes_per_second\n");
	return 0;
}

/* The lengths for a direction and a depth. */
static int line(struct bench *bench, unsigned int direction, unsigned int depth,
		struct point *points, unsigned int *count)
{
	int code = 0;

	bench_begin_line(bench, direction, depth);
	for (uint64_t length = bench->options->min; !code && length <= bench->max; length *= 4) {
		struct point *point = &points[*count];

		*point = (struct point){ .length = length };
		/* Text shows each point itself. */
		if (bench->settings->json || bench->csv == stdout)
			progress("%s, %u in flight, %" PRIu64 " bytes", direction_names[direction],
				 depth, length);
		code = bench_measure(bench, direction, depth, point);
		if (code || bench->signal)
			return code ? code : 128 + bench->signal;
		bench_report(bench, direction, depth, point);
		++*count;
	}
	if (!bench->settings->json)
		bench_end_line(bench, direction, depth, points, *count);
	return code;
}

/* The lines of a sweep: a power of two transfers in flight, by direction. */
#define LINES 9

static int sweep(struct bench *bench)
{
	static struct point points[2][LINES][BENCH_LENGTHS];
	unsigned int counts[2][LINES] = { 0 };
	int code = 0;

	signals_hold();
	if (bench->settings->json)
		json_array("points");
	for (unsigned int d = 0; !code && d < 2; d++)
		for (unsigned int k = 0; !code && 1u << k <= bench->options->depth; k++)
			if (bench->options->direction == BOTH || bench->options->direction == d)
				code = line(bench, d, 1u << k, points[d][k], &counts[d][k]);
	if (!bench->settings->json)
		return code;
	json_end();
	json_array("fits");
	for (unsigned int i = 0; i < 2 * LINES; i++)
		if (counts[i / LINES][i % LINES])
			bench_end_line(bench, i / LINES, 1u << i % LINES,
				       points[i / LINES][i % LINES], counts[i / LINES][i % LINES]);
	json_end();
	return code;
}

static void head(const struct bench *bench)
{
	const struct litepcie_info *info = &bench->info;

	if (bench->settings->json) {
		json_document("bench");
		json_text("device", bench->settings->device);
		json_text("target", info->target);
		json_object("link");
		json_number("gen", info->link_gen);
		json_number("lanes", info->link_lanes);
		json_end();
		json_number("max_payload_bytes", info->max_payload_bytes);
		json_number("max_read_request_bytes", info->max_read_request_bytes);
	} else if (bench->csv != stdout) {
		printf("%s, Gen%u x%u, MPS %u, MRRS %u:\n  read %.0f MB/s and write %.0f MB/s are "
		       "what the link can carry\n",
		       info->target, info->link_gen, info->link_lanes, info->max_payload_bytes,
		       info->max_read_request_bytes, bench->theory[LITEPCIE_READER] / 1e6,
		       bench->theory[LITEPCIE_WRITER] / 1e6);
	}
}

static int bench_run(const struct settings *settings, const void *values, const char *argument)
{
	struct bench bench = { .settings = settings, .options = values };
	struct litepcie_rates rates;
	struct litepcie_link link;
	int code = 0;

	(void)argument;
	bench.card = open_card(settings, &bench.info, &code);
	if (!bench.card)
		return code;
	link = litepcie_link_of(&bench.info, 12);
	if (!litepcie_theory_pcie_bench(&link, 1 << 20, &rates)) {
		bench.theory[LITEPCIE_READER] = rates.read;
		bench.theory[LITEPCIE_WRITER] = rates.write;
	}
	code = check(&bench);
	if (!code)
		code = prepare(&bench);
	if (!code) {
		head(&bench);
		code = sweep(&bench);
		progress_clear();
		if (settings->json) {
			json_bool("disturbed", bench.disturbed);
			json_bool("ok", !code);
			json_end();
		} else if (bench.disturbed) {
			fprintf(stderr, PROGRAM ": another program used the card: its counters "
						"have more bytes than bench moved\n");
		}
	}
	if (bench.csv && bench.csv != stdout && fclose(bench.csv) && !code)
		code = fail(EXIT_FAILED, "%s: %s", bench.options->csv, strerror(errno));
	litepcie_queue_close(bench.queue);
	litepcie_close(bench.card);
	free(bench.pattern);
	free(bench.back);
	return code;
}

const struct command command_bench = {
	.name = "bench",
	.summary = "measure lengths, directions and numbers of transfers in flight",
	.details = "OVERWRITES THE CARD'S MEMORY. Each point moves data for some time and compares "
		   "it\nafterwards. The bar is the rate, #### by the clock of the host and ---- up "
		   "to the\nrate by the card's counters; its full length is what the link can "
		   "carry.\n\n"
		   "The time of a transfer is fitted as t0 + length / peak. Half of the peak is "
		   "reached\nat the length t0 * peak.\n\n"
		   "The Python package draws the points of --csv FILE as a picture:\n\n"
		   "python3 -m liblitepcie.plot FILE",
	.options = options,
	.defaults = defaults,
	.run = bench_run,
};
