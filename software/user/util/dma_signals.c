// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* SIGINT and SIGTERM end a dma_test after the transfers that the card has. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#include "dma_test.h"

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

void dma_wake_also(const pthread_t *thread)
{
	second_runs = 0;
	if (thread)
		second = *thread;
	second_runs = thread != NULL;
}
