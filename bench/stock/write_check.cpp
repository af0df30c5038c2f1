// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "write_check.h"

#include "run/host_driver.h"

#include <cstring>

namespace litepcie {

namespace {

constexpr size_t kDword = 4;

uint32_t dword_at(const uint8_t *bytes) {
    uint32_t value;
    memcpy(&value, bytes, kDword);
    return value;
}

}  // namespace

void WriteCheck::start(uint64_t address, uint32_t bytes) {
    *this = {};
    address_ = address;
    length_ = bytes;
}

void WriteCheck::landed(uint64_t address, const uint8_t *data, size_t bytes) {
    if (address != address_ + offset_)
        throw HostError("a write of the card begins at offset " + std::to_string(address - address_) + ", not at " +
                        std::to_string(offset_));
    if (bytes > length_ - offset_)
        throw HostError("a write of the card passes the end of its descriptor at offset " + std::to_string(offset_));
    if (first_)
        next_ = dword_at(data);
    first_ = false;
    for (size_t at = 0; at < bytes; at += kDword, next_++)
        if (dword_at(data + at) != next_)
            throw HostError("a dword of a write at offset " + std::to_string(offset_ + at) + " is " +
                            std::to_string(dword_at(data + at)) + ", not " + std::to_string(next_));
    offset_ = (offset_ + bytes) % length_;
}

}  // namespace litepcie
