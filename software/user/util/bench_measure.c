// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* A point of bench: transfers in flight for some time, their bytes compared afterwards. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "signals.h"

#define SHIFTS		64   /* different bytes for consecutive points */
#define SIGNAL_INTERVAL 0.05 /* seconds between two looks for Ctrl-C */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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
	ssize_t n = direction == LITEPCIE_READER
			    ? litepcie_pwrite(bench->card, data, length, offset)
			    : litepcie_pread(bench->card, data, length, offset);

	return n < 0 ? (int)n : 0;
}

static int submit(struct bench *bench, unsigned int direction, uint8_t *data, uint64_t length,
		  unsigned int slot)
{
	uint64_t at = slot * length, offset = bench->options->offset + at;

	if (direction == LITEPCIE_READER)
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

int bench_measure(struct bench *bench, unsigned int direction, unsigned int depth,
		  struct point *point)
{
	uint8_t *bytes = bench->pattern + bench->number++ % SHIFTS;
	uint64_t all = point->length * depth;
	bool reads = direction == LITEPCIE_READER;
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
