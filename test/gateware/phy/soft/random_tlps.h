// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/tlp.h"

#include <random>
#include <vector>

inline litepcie::Tlp random_tlp(std::minstd_rand &random) {
    uint8_t data[128];
    for (auto &byte : data)
        byte = uint8_t(random() >> 8);
    const uint64_t address = random() % 3 ? 0x1000 * (random() % 1000) : 0x123400000000 + 4 * (random() % 1000);
    switch (random() % 3) {
    case 0: return litepcie::Tlp::memory_write(0x0100, address, data, 1 + random() % 120);
    case 1: return litepcie::Tlp::memory_read(0x0100, random() % 256, address, 1 + random() % 500);
    default: return litepcie::Tlp::completion_data(0x0100, 0, random() % 256, 128, 0, data, 1 + random() % 32);
    }
}

// Whether all TLPs arrived once, and in the order of their class.
inline bool same(const std::vector<litepcie::Tlp> &sent, const std::vector<litepcie::Tlp> &received) {
    if (sent.size() != received.size())
        return false;
    for (unsigned i = 0; i < litepcie::kTlpClasses; i++) {
        std::vector<std::vector<uint32_t>> one, other;
        for (const litepcie::Tlp &tlp : sent)
            if (unsigned(tlp.credit_class()) == i)
                one.push_back(tlp.dw);
        for (const litepcie::Tlp &tlp : received)
            if (unsigned(tlp.credit_class()) == i)
                other.push_back(tlp.dw);
        if (one != other)
            return false;
    }
    return true;
}
