/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* A line on the terminal that shows how far a command is. */
#ifndef LITEPCIE_UTIL_PROGRESS_H
#define LITEPCIE_UTIL_PROGRESS_H

/* Replaces the line, at most twice per second, if standard error is a terminal. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* No line from here on: the terminal gets JSON that a program may read. */
void progress_hide(void);

/* The same with bytes so far, and of how many: 0 if that is not known. */
void progress_bytes(unsigned long long bytes, unsigned long long all);

/* Removes the line, before other output. */
void progress_clear(void);

#endif /* LITEPCIE_UTIL_PROGRESS_H */
