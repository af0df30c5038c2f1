// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "programs/litepcie_host/host_driver.h"

#include <string>

namespace litepcie {

struct PioOptions {
    uint64_t length = 4096;    // bytes, from the start of the window
    unsigned store_bytes = 4;  // size of a store: 4, or 64 like those of a write-combining buffer
};

struct PioFigures {
    uint64_t write_cycles = 0;  // from the first store until the card has accepted the last
    uint64_t read_cycles = 0;   // for loads of 4 bytes, each issued when the processor has the one before
};

// Writes and reads the memory window in BAR0 with a processor that takes no time itself, so the figures are the limits
// of card and link, and for loads also of the host, whose latency each of them takes. Throws HostError for the first
// byte that does not read back, or if the window is smaller than `length`.
PioFigures run_pio(ModelDriver &driver, const Identity &identity, const PioOptions &options);

// Prints the figures, and writes them as JSON unless `json` is empty.
void report_pio(const Model &model, const PioOptions &options, const PioFigures &figures, const std::string &json);

}  // namespace litepcie
