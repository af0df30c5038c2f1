// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "programs/litepcie_simulator/client_memory.h"
#include "programs/litepcie_simulator/shared_memory.h"

#include <map>

namespace litepcie {

// The guest's memory as the vfio-user client maps it for the card. The card cannot access what is not mapped. What the
// client maps without a file is accessed by messages to it (ClientMemory).
class GuestMemory : public HostMemory {
  public:
    static constexpr size_t kMostMappings = 65535;  // the default of max_dma_maps in the protocol

    // Without `client`, the card cannot access memory that is mapped without a file.
    explicit GuestMemory(ClientMemory *client = nullptr) : client_(client) {}

    // Maps `bytes` bytes of `file`, starting at `offset`, at `address`; without a file, those of the client at the same
    // address. Returns 0 or an errno: EEXIST if the range overlaps a mapping; EINVAL if it is empty,
    // exceeds the address space, or is longer than the file; ENOSPC if there are kMostMappings.
    int map(uint64_t address, uint64_t bytes, Fd file, uint64_t offset, bool readable, bool writable);
    // Removes all mappings inside the range; there may be none. Returns 0, or EINVAL if one is only partly inside.
    int unmap(uint64_t address, uint64_t bytes);
    void unmap_all();

    // False also if the client has made a file shorter than its mapping; then some bytes may have been transferred.
    bool read(uint64_t address, uint8_t *data, size_t bytes) override;
    bool write(uint64_t address, const uint8_t *data, size_t bytes) override;
    // False if a byte is accessed by messages.
    bool at_once(uint64_t address, size_t bytes) override;
    std::shared_ptr<Fetch> fetch(uint64_t address, size_t bytes) override;
    bool arrived(const Fetch &fetch) override { return !client_ || client_->arrived(fetch); }
    size_t mappings() const { return mappings_.size(); }

  private:
    struct Mapping {
        uint64_t bytes;
        SharedMemory memory;  // nothing without a file
        bool readable, writable, by_message;
    };
    using Map = std::map<uint64_t, Mapping>;

    Map::iterator find(uint64_t address);
    // Whether all bytes are mapped for the access.
    bool covered(uint64_t address, size_t bytes, bool write);
    template <typename Move> bool access(uint64_t address, size_t bytes, bool write, Move move);

    ClientMemory *const client_;
    Map mappings_;
    Map::iterator last_ = mappings_.end();  // the mapping that was used last
};

}  // namespace litepcie
