// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "programs/litepcie_host/host_driver.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace litepcie {

// Checks each write of the card as it lands: its address follows that of the write before it, its dwords count on.
class WriteCheck {
  public:
    // The descriptors that follow write `bytes` each, to the same `address`.
    void start(uint64_t address, uint32_t bytes) {
        *this = {};
        address_ = address;
        length_ = bytes;
    }
    // Throws HostError if an address or a byte is wrong.
    void landed(uint64_t address, const uint8_t *data, size_t bytes) {
        if (address != address_ + offset_)
            throw HostError("a write of the card begins at offset " + std::to_string(address - address_) + ", not at " +
                            std::to_string(offset_));
        if (bytes > length_ - offset_)
            throw HostError("a write of the card passes the end of its descriptor at offset " +
                            std::to_string(offset_));
        if (first_)
            next_ = dword_at(data);
        first_ = false;
        for (size_t at = 0; at < bytes; at += kDword, next_++)
            if (dword_at(data + at) != next_)
                throw HostError("a dword of a write at offset " + std::to_string(offset_ + at) + " is " +
                                std::to_string(dword_at(data + at)) + ", not " + std::to_string(next_));
        offset_ = (offset_ + bytes) % length_;
    }

  private:
    static constexpr size_t kDword = 4;

    static uint32_t dword_at(const uint8_t *bytes) {
        uint32_t value;
        memcpy(&value, bytes, kDword);
        return value;
    }

    uint64_t address_ = 0;
    uint32_t length_ = 0, offset_ = 0;
    bool first_ = true;
    uint32_t next_ = 0;  // dword
};

}  // namespace litepcie
