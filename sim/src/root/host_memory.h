// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstddef>
#include <cstdint>
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

}  // namespace litepcie
