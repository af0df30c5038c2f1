// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* bench: the fitted lines; text with bars, CSV and JSON. */
#include <inttypes.h>

#include "bench.h"
#include "json.h"

#define MB  1e6
#define BAR 24 /* columns of the rate that the link can carry */

static double rate_of(const struct point *point, double seconds)
{
	return seconds > 0 ? (double)(point->length * point->transfers) / seconds : 0;
}

/* Least squares of (t0 + length / peak - time) / time. */
struct fit bench_fit(const struct point *points, unsigned int count, bool by_card)
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

void bench_begin_line(const struct bench *bench, unsigned int direction, unsigned int depth)
{
	if (bench->settings->json || bench->csv == stdout)
		return;
	printf("\n%s, %u in flight\n", direction == LITEPCIE_READER ? "read" : "write", depth);
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

void bench_report(const struct bench *bench, unsigned int direction, unsigned int depth,
		  const struct point *point)
{
	double host = rate_of(point, point->seconds);
	double card = rate_of(point, point->counter_seconds);

	if (bench->csv)
		fprintf(bench->csv, "%s,%u,%" PRIu64 ",%" PRIu64 ",%.9f,%.0f,%.0f\n",
			direction == LITEPCIE_READER ? "read" : "write", depth, point->length,
			point->transfers, point->seconds, host, card);
	if (bench->settings->json) {
		json_object(NULL);
		json_text("direction", direction == LITEPCIE_READER ? "read" : "write");
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
		json_text("direction", direction == LITEPCIE_READER ? "read" : "write");
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

void bench_end_line(const struct bench *bench, unsigned int direction, unsigned int depth,
		    const struct point *points, unsigned int count)
{
	one_fit(bench, direction, depth, "host", bench_fit(points, count, false));
	one_fit(bench, direction, depth, "card", bench_fit(points, count, true));
}
