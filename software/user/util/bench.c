// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* bench: a sweep over directions, numbers of transfers in flight, and lengths. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card.h"
#include "output.h"

#define BENCH_CHANNELS 8
#define BENCH_LENGTHS  24 /* of a line of the sweep */

struct bench_options {
	uint64_t min, max, depth, offset, time_ms; /* max is 0: as fits */
	unsigned int direction;
	const char *csv; /* a file, "-" for standard output, NULL: none */
};

/* What was measured with one direction, depth and length. */
struct point {
	uint64_t length, transfers;
	double seconds;		/* by the clock of the host */
	double counter_seconds; /* by the counters of the card; 0: they do not tell */
};

/* The time of a transfer as t0 + length / peak. */
struct fit {
	double t0, peak; /* seconds, bytes per second; peak is 0 if there is no such line */
};

struct bench {
	const struct settings *settings;
	const struct bench_options *options;
	struct litepcie *card;
	struct litepcie_info info;
	struct litepcie_queue *queue; /* NULL: all transfers wait */
	uint8_t *pattern, *back;      /* of the largest depth and length */
	uint64_t max;		      /* largest length */
	double theory[2];	      /* bytes per second by direction; 0: not known */
	unsigned int number;	      /* of points measured */
	bool disturbed;		      /* another program used the card */
	int signal;		      /* that ended the sweep, or 0 */
	FILE *csv;
};

/* A point of bench: transfers in flight for some time, their bytes compared afterwards. */

#define SHIFTS		64   /* different bytes for consecutive points */
#define SIGNAL_INTERVAL 0.05 /* seconds between two looks for Ctrl-C */

/* Bytes of all engines of a direction, and the cycles of the one that was active longest. */
struct counted {
	uint64_t bytes, cycles[BENCH_CHANNELS];
};

static int count(struct bench *bench, unsigned int direction, struct counted *counted)
{
	int err = 0;

	*counted = (struct counted){ 0 };
	for (unsigned int i = 0; !err && i < bench->info.channels && i < BENCH_CHANNELS; i++) {
		struct litepcie_counters counters;

		err = litepcie_get_counters(bench->card, i, direction, &counters);
		counted->bytes += counters.bytes;
		counted->cycles[i] = counters.active_cycles;
	}
	return err;
}

static void compare_counts(struct bench *bench, const struct counted *before,
			   const struct counted *after, struct point *point)
{
	uint64_t moved = after->bytes - before->bytes, most = 0;

	for (unsigned int i = 0; i < BENCH_CHANNELS; i++)
		if (after->cycles[i] - before->cycles[i] > most)
			most = after->cycles[i] - before->cycles[i];
	if (moved == point->length * point->transfers && bench->info.clock_hz)
		point->counter_seconds = (double)most / bench->info.clock_hz;
	else if (moved)
		bench->disturbed = true;
}

/* Transfers that wait for their end, one after the other. */
static int move_one(struct bench *bench, unsigned int direction, uint8_t *data, uint64_t length)
{
	uint64_t offset = bench->options->offset;
	ssize_t n = direction == LITEPCIE_TO_CARD
			    ? litepcie_pwrite(bench->card, data, length, offset)
			    : litepcie_pread(bench->card, data, length, offset);

	return n < 0 ? (int)n : 0;
}

static int submit(struct bench *bench, unsigned int direction, uint8_t *data, uint64_t length,
		  unsigned int slot)
{
	uint64_t at = slot * length, offset = bench->options->offset + at;

	if (direction == LITEPCIE_TO_CARD)
		return litepcie_queue_write(bench->queue, data + at, length, offset, slot);
	return litepcie_queue_read(bench->queue, data + at, length, offset, slot);
}

/* Waits for one transfer, and starts it again unless @more is false. */
static int next(struct bench *bench, unsigned int direction, uint8_t *data, uint64_t length,
		bool more)
{
	struct litepcie_done done;
	int err = litepcie_queue_wait(bench->queue, &done, 1, -1);

	if (err <= 0)
		return err == -EINTR ? 0 : err;
	if (done.result < 0)
		return (int)done.result;
	if ((uint64_t)done.result != length)
		return -EIO;
	err = more ? submit(bench, direction, data, length, (unsigned int)done.tag) : 0;
	return err < 0 ? err : 1;
}

/* Keeps @depth transfers in flight until the time is over, and counts those that ended. */
static int move_many(struct bench *bench, unsigned int direction, unsigned int depth, uint8_t *data,
		     struct point *point)
{
	double end = now() + 1e-3 * (double)bench->options->time_ms, look = 0;
	bool more = true;
	int err = 0;

	for (unsigned int slot = 0; depth > 1 && slot < depth && !err; slot++)
		err = submit(bench, direction, data, point->length, slot);
	while (err >= 0 && (more || (depth > 1 && litepcie_queue_in_flight(bench->queue)))) {
		if (now() > look) {
			bench->signal = bench->signal ? bench->signal : signals_wait(0);
			look = now() + SIGNAL_INTERVAL;
		}
		more = more && !bench->signal && now() < end;
		if (depth > 1) {
			err = next(bench, direction, data, point->length, more);
			point->transfers += err > 0;
		} else {
			err = move_one(bench, direction, data, point->length);
			point->transfers++;
		}
	}
	return err < 0 ? err : 0;
}

/* What the bytes are: those of the pattern from another place for each point. */
static int verify(const struct bench *bench, const uint8_t *wanted, uint64_t bytes,
		  unsigned int direction, unsigned int depth, uint64_t length)
{
	uint64_t i = 0;

	if (!memcmp(bench->back, wanted, bytes))
		return 0;
	while (bench->back[i] == wanted[i])
		i++;
	return fail(EXIT_MISMATCH,
		    "%s: wrong byte after transfers of the %s, %u in flight, of %" PRIu64
		    " bytes: at offset 0x%" PRIx64 " of the card's memory, expected 0x%02x, got "
		    "0x%02x",
		    bench->settings->device, litepcie_direction_name(direction), depth, length,
		    bench->options->offset + i, wanted[i], bench->back[i]);
}

static int failed(const struct bench *bench, int err)
{
	return fail(exit_code_of(err), "%s: %s", bench->settings->device, litepcie_strerror(err));
}

/* Measures and verifies a point. 0 or the exit code; nothing is valid if bench->signal is set. */
static int bench_measure(struct bench *bench, unsigned int direction, unsigned int depth,
			 struct point *point)
{
	uint8_t *bytes = bench->pattern + bench->number++ % SHIFTS;
	uint64_t all = point->length * depth;
	bool reads = direction == LITEPCIE_TO_CARD;
	struct counted before, after;
	ssize_t n = 0;
	int err;

	memset(bench->back, 0, all);
	if (!reads)
		n = litepcie_pwrite(bench->card, bytes, all, bench->options->offset);
	if (n < 0)
		return failed(bench, (int)n);
	err = count(bench, direction, &before);
	point->seconds = -now();
	if (!err)
		err = move_many(bench, direction, depth, reads ? bytes : bench->back, point);
	point->seconds += now();
	if (!err)
		err = count(bench, direction, &after);
	if (!err && reads)
		n = litepcie_pread(bench->card, bench->back, all, bench->options->offset);
	if (err || n < 0)
		return failed(bench, err ? err : (int)n);
	compare_counts(bench, &before, &after, point);
	return verify(bench, bytes, all, direction, depth, point->length);
}

/* bench: the fitted lines; text with bars, CSV and JSON. */

#define MB  1e6
#define BAR 24 /* columns of the rate that the link can carry */

static double rate_of(const struct point *point, double seconds)
{
	return seconds > 0 ? (double)(point->length * point->transfers) / seconds : 0;
}

/* Least squares of (t0 + length / peak - time) / time. */
static struct fit bench_fit(const struct point *points, unsigned int count, bool by_card)
{
	double n = 0, x = 0, y = 0, xx = 0, xy = 0, slope, determinant;

	for (unsigned int i = 0; i < count; i++) {
		double all = by_card ? points[i].counter_seconds : points[i].seconds;
		double length = (double)points[i].length, time = all / (double)points[i].transfers;
		double weight = time > 0 ? 1 / (time * time) : 0;

		n += weight;
		x += weight * length;
		y += weight * time;
		xx += weight * length * length;
		xy += weight * length * time;
	}
	determinant = n * xx - x * x;
	slope = determinant > 0 ? (n * xy - x * y) / determinant : 0;
	if (slope <= 0)
		return (struct fit){ 0 };
	/* Noise can make the shortest times negative. */
	y = (y - slope * x) / n;
	return (struct fit){ .t0 = y > 0 ? y : 0, .peak = 1 / slope };
}

static void bench_begin_line(const struct bench *bench, unsigned int direction, unsigned int depth)
{
	if (bench->settings->json || bench->csv == stdout)
		return;
	printf("\n%s, %u in flight\n", direction == LITEPCIE_TO_CARD ? "read" : "write", depth);
	printf("  %9s %9s %11s %9s %9s\n", "length", "transfers", "us each", "MB/s", "by card");
}

/* "###---": the rate of the host, continued up to that of the card's counters. */
static void bar(double host, double card, double theory)
{
	for (unsigned int i = 0; theory > 0 && i < BAR; i++) {
		double here = theory * (i + 0.5) / BAR;

		putchar(here < host ? '#' : here < card ? '-' : ' ');
	}
	putchar(theory > 0 ? '|' : '\n');
	if (theory > 0)
		putchar('\n');
}

static void bench_report(const struct bench *bench, unsigned int direction, unsigned int depth,
			 const struct point *point)
{
	double host = rate_of(point, point->seconds);
	double card = rate_of(point, point->counter_seconds);

	if (bench->csv)
		fprintf(bench->csv, "%s,%u,%" PRIu64 ",%" PRIu64 ",%.9f,%.0f,%.0f\n",
			direction == LITEPCIE_TO_CARD ? "read" : "write", depth, point->length,
			point->transfers, point->seconds, host, card);
	if (bench->settings->json) {
		json_object(NULL);
		json_text("direction", direction == LITEPCIE_TO_CARD ? "read" : "write");
		json_number("in_flight", depth);
		json_number("length_bytes", point->length);
		json_number("transfers", point->transfers);
		json_real("elapsed_seconds", point->seconds, 9);
		json_real("bytes_per_second", host, 0);
		if (card > 0)
			json_real("counter_bytes_per_second", card, 0);
		json_end();
	} else if (bench->csv != stdout) {
		printf("  %9" PRIu64 " %9" PRIu64 " %11.2f %9.1f ", point->length, point->transfers,
		       1e6 * point->seconds / (double)point->transfers, host / MB);
		if (card > 0)
			printf("%9.1f |", card / MB);
		else
			printf("%9s |", "-");
		bar(host, card, bench->theory[direction]);
		fflush(stdout);
	}
}

static void one_fit(const struct bench *bench, unsigned int direction, unsigned int depth,
		    const char *clock, struct fit fit)
{
	if (!fit.peak)
		return;
	if (bench->settings->json) {
		json_object(NULL);
		json_text("direction", direction == LITEPCIE_TO_CARD ? "read" : "write");
		json_number("in_flight", depth);
		json_text("clock", clock);
		json_real("t0_seconds", fit.t0, 9);
		json_real("peak_bytes_per_second", fit.peak, 0);
		json_real("half_peak_bytes", fit.t0 * fit.peak, 0);
		json_end();
	} else if (bench->csv != stdout) {
		printf("  fitted, by the clock of the %s: %.2f us + length / %.1f MB/s;\n"
		       "    half of the peak at %.0f bytes\n",
		       clock, 1e6 * fit.t0, fit.peak / MB, fit.t0 * fit.peak);
	}
}

static void bench_end_line(const struct bench *bench, unsigned int direction, unsigned int depth,
			   const struct point *points, unsigned int count)
{
	one_fit(bench, direction, depth, "host", bench_fit(points, count, false));
	one_fit(bench, direction, depth, "card", bench_fit(points, count, true));
}

/* bench: the command line and the sweep. */

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
		       info->max_read_request_bytes, bench->theory[LITEPCIE_TO_CARD] / 1e6,
		       bench->theory[LITEPCIE_FROM_CARD] / 1e6);
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
		bench.theory[LITEPCIE_TO_CARD] = rates.read;
		bench.theory[LITEPCIE_FROM_CARD] = rates.write;
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
