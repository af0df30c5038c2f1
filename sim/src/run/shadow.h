// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "run/dma_engine.h"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>

namespace litepcie {

// What host and endpoint memory must hold after the transfers so far. A byte nobody can know is unknown; every other
// byte of the watched regions of host memory is compared, so that a write to a wrong place is seen wherever it goes.
class Shadow {
  public:
    Shadow(Arena &arena, uint64_t endpoint_bytes);

    // Watches this region of the arena from now on, as it is.
    void watch(uint64_t address, uint64_t bytes);
    // The host itself wrote here.
    void host_wrote(uint64_t address, uint64_t bytes);
    void endpoint_wrote(uint64_t endpoint, const uint8_t *data, uint64_t bytes);
    // A transfer was done; or it was not and any byte of it may have landed.
    void transferred(Direction direction, const Descriptor &descriptor, uint64_t bytes);
    void uncertain(Direction direction, const Descriptor &descriptor, uint64_t from);
    void forget_endpoint(uint64_t endpoint, uint64_t bytes);

    // Throws HostError for the first byte that is not as it must be. Returns how many were compared.
    uint64_t verify();
    // Expected byte of the endpoint memory, -1 if unknown.
    int endpoint(uint64_t at) const { return at < endpoint_bytes_ && endpoint_[at] ? endpoint_[at] & 0xff : -1; }

  private:
    // 0: unknown, otherwise kKnown | byte. From calloc: 64 MiB of it cost nothing until they are used.
    using Cells = std::unique_ptr<uint16_t[], decltype(&free)>;
    static constexpr uint16_t kKnown = 0x100;
    struct Region {
        uint64_t bytes;
        Cells cells;
    };

    static Cells make_cells(uint64_t count);
    // Cell of a host byte, nullptr if not watched; with how many more follow it.
    uint16_t *host(uint64_t address, uint64_t *left = nullptr);

    Arena &arena_;
    uint64_t endpoint_bytes_;
    Cells endpoint_;
    std::map<uint64_t, Region> regions_;
};

}  // namespace litepcie
