/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* Prints the registers of a configuration space that change. */
#ifndef LITEPCIE_UTIL_CONFIG_WATCH_H
#define LITEPCIE_UTIL_CONFIG_WATCH_H

#include "config_space.h"
#include "util.h"

/*
 * Looks at @address every @interval_ms, @count times; 0: until a signal. @space is the first look.
 * Returns the exit code.
 */
int config_watch(const struct settings *settings, const char *address, struct config_space *space,
		 uint64_t interval_ms, uint64_t count);

#endif /* LITEPCIE_UTIL_CONFIG_WATCH_H */
