// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* What dma_test has done so far, on a terminal: a line that a thread renews twice per second. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "dma_test.h"

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

void dma_progress_clear(void)
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
