// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace litepcie {

// Bytes of memory that are on their way to the root complex.
struct Fetch {
    uint64_t address = 0;
    std::vector<uint8_t> data;
    bool ok = true;  // all of it may be read
};

// The memory of the host, as the card's requests address it.
class HostMemory {
  public:
    virtual ~HostMemory() = default;
    // False if a byte is not mapped for this kind of access; then nothing is transferred.
    virtual bool read(uint64_t address, uint8_t *data, size_t bytes) = 0;
    virtual bool write(uint64_t address, const uint8_t *data, size_t bytes) = 0;

    // False if a read has to wait for another program. Then it is begun by fetch(), and is over when arrived() says so:
    // the clock can go on meanwhile.
    virtual bool at_once(uint64_t, size_t) { return true; }
    virtual std::shared_ptr<Fetch> fetch(uint64_t, size_t) { return nullptr; }
    virtual bool arrived(const Fetch &) { return true; }
};

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
