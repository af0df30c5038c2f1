// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* What dma_test measures and shows while it runs. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "card.h"
#include "dma_test.h"
#include "link.h"
#include "output.h"

/* Percentiles of the times of calls, in memory that does not grow with their number. */

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

static void latencies_add(struct latencies *latencies, double seconds)
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

/* Measurements of dma_test: differences of the card's counters, and the host's clock. */

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

/* What the link can carry in a direction of dma_test, by three formulas. */

#define DLLP_SHARE  1.05  /* more than the formulas give to ACK and flow control packets */
#define SHORT_BYTES 16384 /* the card may have sent a large part of it to the PHY only */

static double of_direction(const struct dma_test *test, const struct litepcie_rates *rates,
			   unsigned int direction)
{
	if (test->options->sequence == READ_AND_WRITE)
		return rates->both;
	return direction == LITEPCIE_TO_CARD ? rates->read : rates->write;
}

bool dma_theory_of(const struct dma_test *test, unsigned int direction, struct dma_theory *theory)
{
	struct litepcie_link link = litepcie_link_of(&test->info, test->options->header ? 16 : 12);
	struct litepcie_rates note, bench, bound;

	theory->header_bytes = link.request_header_bytes;
	theory->tags = link_state_tags(&test->info);
	if (litepcie_theory_application_note(&link, &note) < 0 ||
	    litepcie_theory_pcie_bench(&link, test->length, &bench) < 0 ||
	    litepcie_theory_bound(&link, test->length, test->options->latency_ns, theory->tags,
				  &bound) < 0)
		return false;
	theory->note = of_direction(test, &note, direction);
	theory->bench = of_direction(test, &bench, direction);
	theory->bound = of_direction(test, &bound, direction);
	return true;
}

const char *dma_theory_exceeded(const struct dma_test *test, const struct side *side,
				const struct dma_theory *theory, double average)
{
	if (average <= theory->bench && average <= theory->bound)
		return NULL;
	if (average <= theory->bench)
		return "the host answers faster than --latency-ns says";
	if (average <= DLLP_SHARE * theory->bench)
		return "the link needs fewer ACK and flow control packets than pcie-bench and the "
		       "bound assume";
	if (side->direction == LITEPCIE_FROM_CARD && test->length < SHORT_BYTES)
		return "a short write: the card's counter ends before the link has sent all bytes";
	if (test->options->header)
		return "the formulas assume the header of --header 16; the host may use 12 bytes";
	return "no formula allows it: compare link and clock with those of info";
}

/*
 * Errors that the card counts during dma_test. The data can be right although the card has counted
 * one, such as a completion that no request expects; then the test still fails.
 */

int card_errors_begin(struct dma_test *test)
{
	int err = litepcie_get_errors(test->card, &test->errors);

	if (err >= 0)
		return 0;
	test->failure = err;
	snprintf(test->error, sizeof(test->error), "error counters: %s", litepcie_strerror(err));
	return -1;
}

int card_errors_check(struct dma_test *test, const struct side *side)
{
	struct litepcie_errors now;

	/* If the card does not answer, the next transfer reports it. */
	if (litepcie_get_errors(test->card, &now) < 0)
		return 0;
	card_errors_since(&test->errors, &now, test->card_errors, sizeof(test->card_errors));
	if (!test->card_errors[0])
		return 0;
	if (!test->error[0])
		snprintf(test->error, sizeof(test->error),
			 "%s, iteration %" PRIu64 ": the data is right, but there were errors",
			 direction_word(side->direction), test->iteration);
	return -1;
}

/* What dma_test has done so far, on a terminal: a line that a thread renews twice per second. */

#define PERIOD_NS 500000000L

static pthread_t thread;
static bool running;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static bool ending;

/* The card counts while a long call lasts, so the line moves also within a transfer. */
static void print_line(const struct dma_test *test)
{
	struct litepcie_counters counters;
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < 2; i++)
		if (litepcie_get_counters(test->card, 0, i, &counters) >= 0)
			bytes += counters.bytes;
	fprintf(stderr, "\r\033[Kiteration %" PRIu64, atomic_load(&test->shown));
	if (test->options->iterations || !test->options->seconds)
		fprintf(stderr, " of %" PRIu64, test->iterations);
	fprintf(stderr, ", %.1f MB counted by the card", (double)bytes / 1e6);
	fflush(stderr);
}

static void *progress_thread(void *argument)
{
	const struct dma_test *test = argument;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	pthread_mutex_lock(&lock);
	while (!ending) {
		until.tv_nsec += PERIOD_NS;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&ended, &lock, &until);
		if (!ending)
			print_line(test);
	}
	pthread_mutex_unlock(&lock);
	fprintf(stderr, "\r\033[K");
	return NULL;
}

void dma_progress_begin(struct dma_test *test)
{
	sigset_t signals, old;

	if (test->json || test->several || !isatty(STDERR_FILENO))
		return;
	/* Only the thread of the test handles signals. */
	sigfillset(&signals);
	pthread_sigmask(SIG_BLOCK, &signals, &old);
	running = !pthread_create(&thread, NULL, progress_thread, test);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Before a line of results, which begins where it was. */
static void dma_progress_clear(void)
{
	if (!running)
		return;
	pthread_mutex_lock(&lock);
	fprintf(stderr, "\r\033[K");
	fflush(stderr);
	pthread_mutex_unlock(&lock);
}

void dma_progress_end(void)
{
	if (!running)
		return;
	pthread_mutex_lock(&lock);
	ending = true;
	pthread_cond_signal(&ended);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	running = false;
}

/* dma_test --interval: the rates since the line before. */

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
