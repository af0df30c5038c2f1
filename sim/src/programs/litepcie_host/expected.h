// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstddef>
#include <cstdint>
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

}  // namespace litepcie
