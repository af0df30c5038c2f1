/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Progress on a terminal, the clock, and Ctrl-C. */
#ifndef LITEPCIE_UTIL_TERMINAL_H
#define LITEPCIE_UTIL_TERMINAL_H

#include <stdint.h>

/* Seconds since some moment. */
double now(void);

/* A line on the terminal that shows how far a command is. */

/* Replaces the line, at most twice per second, if standard error is a terminal. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* No line from here on: the terminal gets JSON that a program may read. */
void progress_hide(void);

/* The same with bytes so far, and of how many: 0 if that is not known. */
void progress_bytes(unsigned long long bytes, unsigned long long all);

/* Removes the line, before other output. */
void progress_clear(void);

/* Ctrl-C for commands that look at something again and again. */

/* From now on, SIGINT and SIGTERM are only seen by signals_wait(). */
void signals_hold(void);

/* Waits @milliseconds. Returns the signal that ended the wait, or 0. */
int signals_wait(uint64_t milliseconds);

#endif /* LITEPCIE_UTIL_TERMINAL_H */
