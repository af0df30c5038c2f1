/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Counts of the card's interrupts. */
#ifndef LITEPCIE_UTIL_INFO_H
#define LITEPCIE_UTIL_INFO_H

#include <stdint.h>

/* The open file, or -1. */
int interrupts_open(void);

/* Interrupts named @name, or @name with a dash and more, since the start; 0 if they are not there.
 */
uint64_t interrupts_count(int fd, const char *name);

#endif /* LITEPCIE_UTIL_INFO_H */
