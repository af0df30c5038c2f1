// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/expected.h"

#include "programs/litepcie_host/host_driver.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace litepcie {

void Expected::must(uint64_t offset, const uint8_t *data, size_t bytes) {
    may(offset, data, bytes);
    std::copy(data, data + bytes, sure_.begin() + offset);
    std::fill_n(open_.begin() + offset, bytes, false);
}

void Expected::may(uint64_t offset, const uint8_t *data, size_t bytes) {
    if (offset + bytes > other_.size())
        throw std::out_of_range(name_ + " has no byte " + std::to_string(offset + bytes - 1));
    std::copy(data, data + bytes, other_.begin() + offset);
}

void Expected::any(uint64_t offset, size_t bytes) { std::fill_n(open_.begin() + offset, bytes, true); }

void Expected::verify(const uint8_t *is) {
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < sure_.size(); i++)
        if (is[i] != sure_[i] && is[i] != other_[i] && !open_[i] && wrong++ == 0)
            first = i;
    if (wrong) {
        char text[160];
        snprintf(text, sizeof(text), "wrong data: byte 0x%zx of %s is 0x%02x, not 0x%02x", first, name_.c_str(),
                 is[first], sure_[first]);
        std::string message = text;
        if (other_[first] != sure_[first]) {
            snprintf(text, sizeof(text), " or 0x%02x", other_[first]);
            message += text;
        }
        throw HostError(message + "; " + std::to_string(wrong) + " bytes of it are wrong");
    }
    std::copy(is, is + sure_.size(), sure_.begin());
    other_ = sure_;
    open_.assign(open_.size(), false);
}

}  // namespace litepcie
