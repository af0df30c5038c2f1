// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstddef>
#include <cstdint>

namespace litepcie {

// The memory of the host, as the card's requests address it.
class HostMemory {
  public:
    virtual ~HostMemory() = default;
    // False if a byte is not mapped for this kind of access; then nothing is transferred.
    virtual bool read(uint64_t address, uint8_t *data, size_t bytes) = 0;
    virtual bool write(uint64_t address, const uint8_t *data, size_t bytes) = 0;
};

}  // namespace litepcie
