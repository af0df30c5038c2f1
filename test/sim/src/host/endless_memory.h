// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "host/host_memory.h"

#include <algorithm>
#include <numeric>

namespace litepcie {

// Memory at every address.
class EndlessMemory : public HostMemory {
  public:
    bool read(uint64_t, uint8_t *data, size_t bytes) override {
        std::fill_n(data, bytes, 0x5a);
        return true;
    }
    bool write(uint64_t, const uint8_t *data, size_t bytes) override {
        sum += std::accumulate(data, data + bytes, 0u);
        return true;
    }
    unsigned sum = 0;
};

}  // namespace litepcie
