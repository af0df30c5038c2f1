// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The iterations of dma_test. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "dma_test.h"
#include "output.h"

/* SIGINT and SIGTERM end a dma_test after the transfers that the card has. */

static volatile sig_atomic_t caught, second_runs;
static pthread_t second;

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

int dma_caught(void)
{
	return caught;
}

/* A signal also interrupts the system call of this thread; NULL: of none. */
static void dma_wake_also(const pthread_t *thread)
{
	second_runs = 0;
	if (thread)
		second = *thread;
	second_runs = thread != NULL;
}

/*
 * dma_test --depth: the transfers of an iteration are in flight together. Each function returns 0
 * or a negative errno.
 */

static int queue_begin(struct dma_test *test, struct side *side)
{
	struct iovec buffers[] = { { side->source.data, test->area },
				   { side->landing.data, test->area } };
	int err = litepcie_queue_open(&side->queue, test->card, (unsigned int)test->options->depth);

	/* Without registered buffers, the kernel pins the pages of each transfer. */
	if (!err)
		litepcie_queue_register(side->queue, buffers, 2);
	return err;
}

/* Starts what is left of a transfer; its number is the tag. */
static int start(struct dma_test *test, struct side *side, unsigned int slot, uint64_t moved)
{
	uint64_t at = slot * test->length + moved, bytes = test->length - moved;

	if (side->direction == LITEPCIE_TO_CARD)
		return litepcie_queue_write(side->queue, side->source.data + at, bytes,
					    side->offset + at, slot);
	return litepcie_queue_read(side->queue, side->landing.data + at, bytes, side->offset + at,
				   slot);
}

/* Takes the result of a transfer; starts the rest of one that was cut short. */
static int finish(struct dma_test *test, struct side *side, const struct litepcie_done *done,
		  uint64_t *moved, const double *began)
{
	unsigned int slot = (unsigned int)done->tag;

	if (done->result <= 0)
		return done->result ? (int)done->result : -ENOSPC;
	moved[slot] += (uint64_t)done->result;
	if (moved[slot] < test->length)
		return dma_caught() ? -EINTR : start(test, side, slot, moved[slot]);
	side->seconds[slot] = now() - began[slot];
	return 0;
}

static int queue_move(struct dma_test *test, struct side *side)
{
	uint64_t moved[LITEPCIE_QUEUE_MOST] = { 0 };
	double began[LITEPCIE_QUEUE_MOST];
	int err = 0;

	for (unsigned int slot = 0; slot < test->options->depth && !err; slot++) {
		began[slot] = now();
		err = start(test, side, slot, 0);
	}
	while (litepcie_queue_in_flight(side->queue)) {
		struct litepcie_done done;
		int n = litepcie_queue_wait(side->queue, &done, 1, -1), failed;

		if (n > 0) {
			failed = finish(test, side, &done, moved, began);
			err = err ? err : failed;
		} else if (n < 0 && n != -EINTR) {
			return n;
		}
		/*
		 * What the card does not have need not be waited for. After each result, a
		 * transfer that waited for room takes its place in the driver's queue.
		 */
		if (err || dma_caught())
			litepcie_cancel(test->card);
	}
	return dma_caught() ? -EINTR : err;
}

/* The iterations of dma_test. Iteration 0 is a warm-up: verified, but not measured. */

/*
 * Moves the bytes of @side in one direction. Unlike litepcie_pread(), a signal ends it between the
 * parts of a call that was cut short. Returns 0 or a negative errno.
 */
static int transfer(struct dma_test *test, const struct side *side, unsigned int direction,
		    uint8_t *data)
{
	int fd = litepcie_fd(test->card);
	size_t bytes = test->area, moved = 0;

	while (moved < bytes) {
		off_t at = (off_t)(side->offset + moved);
		ssize_t n;

		if (dma_caught())
			return -EINTR;
		n = direction == LITEPCIE_TO_CARD ? pwrite(fd, data + moved, bytes - moved, at)
						  : pread(fd, data + moved, bytes - moved, at);
		if (n < 0 && errno == EINTR && !dma_caught())
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
	return transfer(test, side, LITEPCIE_TO_CARD, side->source.data);
}

static int to_host(struct dma_test *test, const struct side *side)
{
	return transfer(test, side, LITEPCIE_FROM_CARD, side->landing.data);
}

int dma_failed(struct dma_test *test, const struct side *side, const char *step, int err)
{
	if (err >= 0)
		return 0;
	if (err == -EINTR && dma_caught()) {
		test->signal = dma_caught();
		return -1;
	}
	test->failure = err;
	snprintf(test->error, sizeof(test->error), "%s, iteration %llu, %s: %s",
		 direction_word(side->direction), (unsigned long long)test->iteration, step,
		 litepcie_strerror(err));
	card_errors_check(test, side);
	return -1;
}

/*
 * Writes the inverse of the source to the card, which could have the same bytes from the transfer
 * before. It must be there: else a reader that writes nothing would not be found.
 */
static int invert_card(struct dma_test *test, struct side *side)
{
	int err = transfer(test, side, LITEPCIE_TO_CARD, side->landing.data);

	if (err >= 0) {
		memcpy(side->landing.data, side->source.data, test->area);
		err = to_host(test, side);
	}
	if (dma_failed(test, side, "writing the inverse of the test data", err))
		return -1;
	return landing_is_inverse(test, side) ? 0 : -1;
}

/*
 * Fills the source, fills the landing with the inverse, and for a write fills the card. Before a
 * read of bytes that the card can have from the transfer before, the card gets their inverse.
 */
static int prepare(struct dma_test *test, struct side *side)
{
	uint64_t length = test->area;
	int err = 0;

	pattern_fill(test, side->source.data, 2 * test->iteration + side->direction);
	fill_inverse(side->landing.data, side->source.data, length);
	if (side->direction == LITEPCIE_FROM_CARD)
		err = to_card(test, side);
	else if (pattern_repeats(test))
		return invert_card(test, side);
	return dma_failed(test, side, "writing the test data", err);
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
	if (side->queue)
		side->result = queue_move(test, side);
	else
		side->result = side->direction == LITEPCIE_TO_CARD ? to_card(test, side)
								   : to_host(test, side);
	side->stop = now();
	if (!side->queue)
		side->seconds[0] = side->stop - side->start;
}

static int measure(struct dma_test *test, struct side *side)
{
	if (dma_failed(test, side, "transfer", side->result) || card_errors_check(test, side))
		return -1;
	return test->iteration ? measure_add(test, side) : 0;
}

static int verify(struct dma_test *test, struct side *side)
{
	if (side->direction == LITEPCIE_TO_CARD &&
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
	move(line->test, &line->test->sides[LITEPCIE_TO_CARD]);
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
	struct side *reader = &test->sides[LITEPCIE_TO_CARD],
		    *writer = &test->sides[LITEPCIE_FROM_CARD];
	struct start_line line = { .test = test };
	pthread_t second;
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
	dma_wake_also(err ? NULL : &second);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (dma_failed(test, reader, "starting a thread", err))
		return -1;
	start_together(&line);
	move(test, writer);
	pthread_join(second, NULL);
	dma_wake_also(NULL);
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
		return one(test, LITEPCIE_FROM_CARD);
	case READ:
		return one(test, LITEPCIE_TO_CARD);
	case READ_THEN_WRITE:
		return one(test, LITEPCIE_TO_CARD) || one(test, LITEPCIE_FROM_CARD) ? -1 : 0;
	case WRITE_THEN_READ:
		return one(test, LITEPCIE_FROM_CARD) || one(test, LITEPCIE_TO_CARD) ? -1 : 0;
	default:
		return both(test);
	}
}

/* Iteration 0 does not count, and one more is always measured. */
static bool goes_on(const struct dma_test *test)
{
	double limit = test->options->seconds;

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
	for (unsigned int i = 0; i < 2; i++) {
		struct side *side = &test->sides[i];

		if (sequence_has(test->options->sequence, i) && test->options->depth > 1 &&
		    dma_failed(test, side, "opening a queue", queue_begin(test, side)))
			return -1;
	}
	test->began = now();
	for (test->iteration = 0; goes_on(test); test->iteration++) {
		atomic_store(&test->shown, test->iteration);
		if (iterate(test))
			return -1;
		test->ended = now();
		if (!test->iteration) {
			dma_cards_meet();
			test->began = now();
		}
		dma_interval(test, test->ended);
		if (dma_caught()) {
			test->signal = dma_caught();
			return -1;
		}
	}
	return 0;
}
