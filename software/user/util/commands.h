/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* The commands; each is in the file of its name. */
#ifndef LITEPCIE_UTIL_COMMANDS_H
#define LITEPCIE_UTIL_COMMANDS_H

#include "util.h"

extern const struct command command_list;
extern const struct command command_info;
extern const struct command command_config;
extern const struct command command_bus;
extern const struct command command_link;
extern const struct command command_mem;
extern const struct command command_scratch_test;
extern const struct command command_dma_test;
extern const struct command command_pio_test;
extern const struct command command_bench;
extern const struct command command_stream;
extern const struct command command_top;
extern const struct command command_report;
extern const struct command command_reset;
extern const struct command command_load;
extern const struct command command_flash;
extern const struct command command_calc;
extern const struct command command_help;
extern const struct command command_version;

#endif /* LITEPCIE_UTIL_COMMANDS_H */
