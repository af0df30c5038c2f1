// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "host/host_memory.h"

#include <functional>
#include <vector>

namespace litepcie {

// Memory of this process at addresses of its choice, for runs without QEMU.
class Arena : public HostMemory {
  public:
    // Adds `bytes` of zeros at `address`; regions must not overlap (std::invalid_argument).
    void add_region(uint64_t address, size_t bytes);
    bool read(uint64_t address, uint8_t *data, size_t bytes) override;
    bool write(uint64_t address, const uint8_t *data, size_t bytes) override;
    // The host's own view; nullptr outside.
    uint8_t *at(uint64_t address, size_t bytes);

    // Called for each write of the card, with the address of its first byte.
    std::function<void(uint64_t address)> on_card_write;

    struct Region {
        uint64_t address;
        std::vector<uint8_t> bytes;
    };
    const std::vector<Region> &regions() const { return regions_; }

  private:
    std::vector<Region> regions_;
};

}  // namespace litepcie
