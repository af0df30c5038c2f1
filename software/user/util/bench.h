/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* bench: a sweep over directions, numbers of transfers in flight, and lengths. */
#ifndef LITEPCIE_UTIL_BENCH_H
#define LITEPCIE_UTIL_BENCH_H

#include <stdio.h>

#include "util.h"

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

/* Measures and verifies a point. 0 or the exit code; nothing is valid if bench->signal is set. */
int bench_measure(struct bench *bench, unsigned int direction, unsigned int depth,
		  struct point *point);

/* Fits the line through points, each with the same relative weight. */
struct fit bench_fit(const struct point *points, unsigned int count, bool by_card);

/* Report a line of the sweep: its head, each point when it is there, and its end. */
void bench_begin_line(const struct bench *bench, unsigned int direction, unsigned int depth);
void bench_report(const struct bench *bench, unsigned int direction, unsigned int depth,
		  const struct point *point);
void bench_end_line(const struct bench *bench, unsigned int direction, unsigned int depth,
		    const struct point *points, unsigned int count);

#endif /* LITEPCIE_UTIL_BENCH_H */
