// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "dma.h"
#include "read_check.h"
#include "run/transfer_run.h"
#include "write_check.h"

namespace litepcie {

// Transfers of stock LitePCIe between buffers of the host and the streams of the card. It verifies every byte.
//
// Stock LitePCIe has no counters, so the clock of the model measures each transfer. The time starts when the card
// accepted the write that enables an engine with a filled table, or, if `count_table`, at the first write that fills
// the table. It ends at the last byte in memory (writer) or at the last completion that the card accepts (reader).
class StockRun {
  public:
    // Adds its regions to the driver's memory. Throws HostError if stock cannot move transfers of this length.
    StockRun(ModelDriver &driver, const RunOptions &options, bool count_table);
    // Does and measures the transfers of one iteration. Throws HostError for the first byte that is wrong.
    Iteration iterate();

  private:
    Iteration transfer(bool reads, bool writes);
    uint64_t fill_tables(bool reads, bool writes);
    uint64_t move(bool reads, bool writes);
    void landed(uint64_t address, size_t bytes);

    ModelDriver &driver_;
    RunOptions options_;
    bool count_table_;
    StockDma reader_, writer_;
    ReadCheck read_check_;
    WriteCheck write_check_;
    uint64_t source_, target_;  // host addresses
    uint64_t total_;            // bytes of a transfer in each direction
    uint64_t settle_;           // cycles without traffic after which a transfer has ended
    uint64_t landed_ = 0;       // cycle of the last write into memory
};

}  // namespace litepcie
