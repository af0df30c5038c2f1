// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "root/host_memory.h"

#include <functional>
#include <vector>

namespace litepcie {

// Host memory that is made of buffers of this process, for runs without QEMU.
class Arena : public HostMemory {
  public:
    // Adds a region of `bytes` zeros at `address`. Throws std::invalid_argument if it overlaps another region.
    void add_region(uint64_t address, size_t bytes);
    bool read(uint64_t address, uint8_t *data, size_t bytes) override;
    bool write(uint64_t address, const uint8_t *data, size_t bytes) override;
    // Where the host itself accesses these bytes; nullptr if they are not in one region.
    uint8_t *at(uint64_t address, size_t bytes);

    // Called after each write of the card, with the address of its first byte and how many there are.
    std::function<void(uint64_t address, size_t bytes)> on_card_write;

    struct Region {
        uint64_t address;
        std::vector<uint8_t> bytes;
    };
    const std::vector<Region> &regions() const { return regions_; }

  private:
    std::vector<Region> regions_;
};

}  // namespace litepcie
