// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The iterations of dma_test. Iteration 0 is a warm-up: verified, but not measured. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "dma_test.h"

static volatile sig_atomic_t caught, second_runs;
static pthread_t second; /* the thread of read-and-write */

static void on_signal(int number)
{
	caught = number;
	/* The system call of the second thread must end too. */
	if (second_runs)
		pthread_kill(second, SIGUSR1);
}

static void on_wake(int number)
{
	(void)number;
}

/* Only the first signal is caught: a second Ctrl-C ends the program at once. */
void dma_catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };

	struct sigaction wake = { .sa_handler = on_wake };

	sigaction(SIGUSR1, &wake, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/*
 * Moves the bytes of @side in one direction. Unlike litepcie_pread(), a signal ends it between the
 * parts of a call that was cut short. Returns 0 or a negative errno.
 */
static int transfer(struct dma_test *test, const struct side *side, unsigned int direction)
{
	int fd = litepcie_fd(test->card);
	size_t bytes = test->options->length, moved = 0;

	while (moved < bytes) {
		off_t at = (off_t)(side->offset + moved);
		ssize_t n;

		if (caught)
			return -EINTR;
		n = direction == LITEPCIE_READER
			    ? pwrite(fd, side->source.data + moved, bytes - moved, at)
			    : pread(fd, side->landing.data + moved, bytes - moved, at);
		if (n < 0 && errno == EINTR && !caught)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ENOSPC;
		moved += (size_t)n;
	}
	return 0;
}

static int to_card(struct dma_test *test, const struct side *side)
{
	return transfer(test, side, LITEPCIE_READER);
}

static int to_host(struct dma_test *test, const struct side *side)
{
	return transfer(test, side, LITEPCIE_WRITER);
}

int dma_failed(struct dma_test *test, const struct side *side, const char *step, int err)
{
	if (err >= 0)
		return 0;
	if (err == -EINTR && caught) {
		test->signal = caught;
		return -1;
	}
	test->failure = err;
	snprintf(test->error, sizeof(test->error), "%s, iteration %llu, %s: %s",
		 direction_word(side->direction), (unsigned long long)test->iteration, step,
		 litepcie_strerror(err));
	card_errors_check(test, side);
	return -1;
}

/* Fills the source, fills the landing with the inverse, and for a write fills the card. */
static int prepare(struct dma_test *test, struct side *side)
{
	uint64_t length = test->options->length;

	fill_pattern(side->source.data, length, test->options->seed,
		     2 * test->iteration + side->direction);
	fill_inverse(side->landing.data, side->source.data, length);
	if (side->direction == LITEPCIE_READER)
		return 0;
	return dma_failed(test, side, "writing the test data", to_card(test, side));
}

static int sample(struct dma_test *test, struct side *side)
{
	int err = measure_sample(test, side, side->before);

	if (err >= 0)
		err = measure_bytes(test, !side->direction, &side->other_before);
	return dma_failed(test, side, "reading the counters", err);
}

/* The measured call. Accesses nothing but @side, so that it can run in a thread. */
static void move(struct dma_test *test, struct side *side)
{
	side->start = now();
	side->result =
		side->direction == LITEPCIE_READER ? to_card(test, side) : to_host(test, side);
	side->stop = now();
}

static int measure(struct dma_test *test, struct side *side)
{
	if (dma_failed(test, side, "transfer", side->result) || card_errors_check(test, side))
		return -1;
	return test->iteration ? measure_add(test, side) : 0;
}

static int verify(struct dma_test *test, struct side *side)
{
	if (side->direction == LITEPCIE_READER &&
	    dma_failed(test, side, "reading back", to_host(test, side)))
		return -1;
	if (landing_is_right(test, side))
		return card_guards_check(test, side);
	/* Reading back again shows whether the data in the card is wrong. */
	if (test->mismatch.what == in_data && to_host(test, side) >= 0)
		test->mismatch.again = landing_is_source(test, side) ? "right" : "wrong too";
	return -1;
}

static int one(struct dma_test *test, unsigned int direction)
{
	struct side *side = &test->sides[direction];

	if (prepare(test, side) || sample(test, side))
		return -1;
	move(test, side);
	return measure(test, side) || verify(test, side) ? -1 : 0;
}

/* ---- read-and-write -------------------------------------------------------------------------- */

struct start_line {
	struct dma_test *test;
	atomic_int arrived;
};

/*
 * Spins instead of sleeping in a barrier, because waking up takes as long as a transfer. On a
 * single processor, sched_yield() lets the other thread run.
 */
static void start_together(struct start_line *line)
{
	atomic_fetch_add(&line->arrived, 1);
	while (atomic_load(&line->arrived) < 2)
		sched_yield();
}

static void *reader_thread(void *argument)
{
	struct start_line *line = argument;

	start_together(line);
	move(line->test, &line->test->sides[LITEPCIE_READER]);
	return NULL;
}

/* The share of the longer call during which the other one ran too. */
static double overlap(const struct side *a, const struct side *b)
{
	double start = a->start > b->start ? a->start : b->start;
	double stop = a->stop < b->stop ? a->stop : b->stop;
	double longer =
		a->stop - a->start > b->stop - b->start ? a->stop - a->start : b->stop - b->start;

	return stop > start && longer > 0 ? (stop - start) / longer : 0;
}

static int both(struct dma_test *test)
{
	struct side *reader = &test->sides[LITEPCIE_READER],
		    *writer = &test->sides[LITEPCIE_WRITER];
	struct start_line line = { .test = test };
	sigset_t signals, old;
	int err;

	/* Do each step for both directions before the next: all transfers change the counters. */
	if (prepare(test, reader) || prepare(test, writer) || sample(test, reader) ||
	    sample(test, writer))
		return -1;
	/* Only this thread handles signals, and wakes the new one, which inherits the mask. */
	sigfillset(&signals);
	sigdelset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, &old);
	err = -pthread_create(&second, NULL, reader_thread, &line);
	second_runs = !err;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (dma_failed(test, reader, "starting a thread", err))
		return -1;
	start_together(&line);
	move(test, writer);
	pthread_join(second, NULL);
	second_runs = 0;
	if (measure(test, reader) || measure(test, writer) || verify(test, reader) ||
	    verify(test, writer))
		return -1;
	if (test->iteration)
		test->overlap += overlap(reader, writer);
	return 0;
}

static int iterate(struct dma_test *test)
{
	switch (test->options->sequence) {
	case WRITE:
		return one(test, LITEPCIE_WRITER);
	case READ:
		return one(test, LITEPCIE_READER);
	case READ_THEN_WRITE:
		return one(test, LITEPCIE_READER) || one(test, LITEPCIE_WRITER) ? -1 : 0;
	case WRITE_THEN_READ:
		return one(test, LITEPCIE_WRITER) || one(test, LITEPCIE_READER) ? -1 : 0;
	default:
		return both(test);
	}
}

/* Iteration 0 does not count, and one more is always measured. */
static bool goes_on(const struct dma_test *test)
{
	double limit = (double)test->options->seconds;

	return test->iteration <= test->iterations &&
	       (!limit || test->iteration < 2 || now() - test->began < limit);
}

int dma_run(struct dma_test *test)
{
	if (card_errors_begin(test))
		return -1;
	for (unsigned int i = 0; i < 2; i++)
		if (sequence_has(test->options->sequence, i) &&
		    card_guards_save(test, &test->sides[i]))
			return -1;
	test->began = now();
	for (test->iteration = 0; goes_on(test); test->iteration++) {
		atomic_store(&test->shown, test->iteration);
		if (iterate(test))
			return -1;
		test->ended = now();
		if (!test->iteration)
			test->began = test->ended;
		dma_interval(test, test->ended);
		if (caught) {
			test->signal = caught;
			return -1;
		}
	}
	return 0;
}
