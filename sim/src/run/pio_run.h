// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "run/host_driver.h"

#include <string>

namespace litepcie {

struct PioOptions {
    uint64_t length = 4096;    // bytes, of the window from its start
    unsigned store_bytes = 4;  // of one store: 4, or 64 as a write-combining buffer sends
};

struct PioFigures {
    uint64_t write_cycles = 0;  // from the first store to the cycle the card took the last
    uint64_t read_cycles = 0;   // loads of 4 bytes, one after the other as a processor does
};

// Moves bytes through the window of BAR0 with a processor that costs no time: what card and link allow. The bytes read
// are compared with those written; throws HostError at the first difference, or if the window is smaller.
PioFigures run_pio(HostDriver &driver, const Identity &identity, const PioOptions &options);

// Prints the figures, and writes them as JSON unless `json` is empty.
void report_pio(const Model &model, const PioOptions &options, const PioFigures &figures, const std::string &json);

}  // namespace litepcie
