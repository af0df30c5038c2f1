/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Ctrl-C for commands that look at something again and again. */
#ifndef LITEPCIE_UTIL_SIGNALS_H
#define LITEPCIE_UTIL_SIGNALS_H

#include <stdint.h>

/* From now on, SIGINT and SIGTERM are only seen by signals_wait(). */
void signals_hold(void);

/* Waits @milliseconds. Returns the signal that ended the wait, or 0. */
int signals_wait(uint64_t milliseconds);

#endif /* LITEPCIE_UTIL_SIGNALS_H */
