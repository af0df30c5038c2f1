// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "programs/litepcie_host/host_driver.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace litepcie {

// What each byte of a region must hold. After an interrupted transfer a byte may have one of two values: the one before
// the transfer, or that of the transfer. Bytes of a TLP that the link cut may have any value.
class Expected {
  public:
    Expected() = default;
    Expected(std::string name, const std::vector<uint8_t> &bytes)
        : name_(std::move(name)), sure_(bytes), other_(bytes), open_(bytes.size()) {}

    // The bytes from `offset` on have these values now.
    void must(uint64_t offset, const uint8_t *data, size_t bytes);
    // The bytes from `offset` on have these values or still those before.
    void may(uint64_t offset, const uint8_t *data, size_t bytes);
    // The bytes from `offset` on have any values.
    void any(uint64_t offset, size_t bytes);
    // Compares all bytes. From then on the values found are those expected. Throws HostError for the first byte that
    // has neither value.
    void verify(const uint8_t *is);

    // The value expected of a byte. If there are two, that before the interrupted transfer.
    const uint8_t *at(uint64_t offset) const { return sure_.data() + offset; }
    size_t size() const { return sure_.size(); }

  private:
    std::string name_;
    std::vector<uint8_t> sure_, other_;
    std::vector<bool> open_;
};

// Tracks what host and endpoint memory must hold after the transfers so far. A byte whose value cannot be known is
// "unknown". verify() compares all other bytes of the watched regions of host memory, so it also finds a write to a
// wrong address.
class Shadow {
  public:
    Shadow(Arena &arena, uint64_t endpoint_bytes);

    // Watches this region of the arena from now on. Its current bytes are right.
    void watch(uint64_t address, uint64_t bytes);
    // The host itself wrote these bytes, to its memory or through BAR0 to the endpoint memory.
    void host_wrote(uint64_t address, uint64_t bytes);
    void endpoint_wrote(uint64_t endpoint, const uint8_t *data, uint64_t bytes);
    // The first `bytes` of a transfer were done. uncertain(): any byte after `from` may have been transferred or not.
    void transferred(Direction direction, const Descriptor &descriptor, uint64_t bytes);
    void uncertain(Direction direction, const Descriptor &descriptor, uint64_t from);
    // Makes bytes of the endpoint memory unknown.
    void forget_endpoint(uint64_t endpoint, uint64_t bytes);

    // Throws HostError for the first byte that is wrong. Returns the number of bytes compared.
    uint64_t verify();
    // Expected byte of the endpoint memory, -1 if unknown.
    int endpoint(uint64_t at) const { return at < endpoint_bytes_ && endpoint_[at] ? endpoint_[at] & 0xff : -1; }

  private:
    // A cell is 0 if the byte is unknown, else kKnown | byte. They come from calloc, which takes no memory before use.
    using Cells = std::unique_ptr<uint16_t[], decltype(&free)>;
    static constexpr uint16_t kKnown = 0x100;
    struct Region {
        uint64_t bytes;
        Cells cells;
    };

    static Cells make_cells(uint64_t count);
    // The cell of a host byte, or nullptr if it is not watched. `left`: cells from there to the end of the region.
    uint16_t *host(uint64_t address, uint64_t *left = nullptr);

    Arena &arena_;
    uint64_t endpoint_bytes_;
    Cells endpoint_;
    std::map<uint64_t, Region> regions_;
};

}  // namespace litepcie
