// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Waits for a time or a signal. */
#include "signals.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

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
