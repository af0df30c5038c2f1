// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "run/host_driver.h"

namespace litepcie {

// The data of all transfers are dwords that count up, so that each byte is known; streams.py is the card's side.

// Fills a buffer that the reader fetches: every descriptor begins with dword 0.
void fill_dwords(uint8_t *bytes, size_t count);

// What the card's logic found in the stream of the reader.
class ReadCheck {
  public:
    ReadCheck(HostDriver &driver, unsigned word_bytes) : driver_(driver), word_bytes_(word_bytes) {}
    // Clears the counts. `bytes`: of each descriptor that follows.
    void start(uint32_t bytes);
    // Throws HostError unless `bytes` came and all were right.
    void finish(uint64_t bytes);

  private:
    HostDriver &driver_;
    unsigned word_bytes_;
};

}  // namespace litepcie
