// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "run/host_driver.h"

namespace litepcie {

// A reader or writer of stock LitePCIe: a table of descriptors in the card, filled register by register.
class StockDma {
  public:
    static constexpr unsigned kTable = 256;              // descriptors in the table
    static constexpr uint32_t kLongest = (1 << 24) - 1;  // bytes of one descriptor

    enum class Kind { Reader, Writer };
    StockDma(HostDriver &driver, Kind kind);

    // Disables the engine and clears its table, which the host then fills.
    void reset();
    void add(uint64_t host_address, uint32_t bytes);
    void enable();

  private:
    void write(uint32_t offset, uint32_t value);

    HostDriver &driver_;
    uint32_t base_;  // address of the first register
};

}  // namespace litepcie
