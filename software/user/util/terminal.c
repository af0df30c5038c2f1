// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Progress on a terminal, the clock, and Ctrl-C. */
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "terminal.h"

/* A line on the terminal that shows how far a command is. */

#define PERIOD 0.5 /* seconds */

static double last; /* when the line was shown, 0: never */
static bool shown, hidden;

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_hide(void)
{
	hidden = true;
}

void progress(const char *format, ...)
{
	double t = now();
	va_list arguments;

	if ((last > 0 && t - last < PERIOD) || hidden || !isatty(STDERR_FILENO))
		return;
	last = t;
	shown = true;
	fprintf(stderr, "\r\033[K");
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fflush(stderr);
}

void progress_bytes(unsigned long long bytes, unsigned long long all)
{
	if (all)
		progress("%.1f of %.1f MB", (double)bytes / 1e6, (double)all / 1e6);
	else
		progress("%.1f MB", (double)bytes / 1e6);
}

void progress_clear(void)
{
	if (shown)
		fprintf(stderr, "\r\033[K");
	shown = false;
	fflush(stderr);
}

/* Waits for a time or a signal. */

static void both(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
}

void signals_hold(void)
{
	sigset_t set;

	both(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

int signals_wait(uint64_t milliseconds)
{
	struct timespec time = { .tv_sec = (time_t)(milliseconds / 1000),
				 .tv_nsec = (long)(milliseconds % 1000) * 1000000 };
	sigset_t set;
	int signal;

	both(&set);
	signal = sigtimedwait(&set, NULL, &time);
	return signal > 0 ? signal : 0;
}
