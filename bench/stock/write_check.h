// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstddef>
#include <cstdint>

namespace litepcie {

// Checks each write of the card as it lands: its address follows that of the write before it, its dwords count on.
class WriteCheck {
  public:
    // The descriptors that follow write `bytes` each, to the same `address`.
    void start(uint64_t address, uint32_t bytes);
    // Throws HostError if an address or a byte is wrong.
    void landed(uint64_t address, const uint8_t *data, size_t bytes);

  private:
    uint64_t address_ = 0;
    uint32_t length_ = 0, offset_ = 0;
    bool first_ = true;
    uint32_t next_ = 0;  // dword
};

}  // namespace litepcie
