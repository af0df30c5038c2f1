// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/symbols.h"

#include <array>

namespace litepcie::lane {

// A TS1 or TS2 ordered set (PCIe 2.1 tables 4-2 and 4-3).
struct TrainingSet {
    static constexpr unsigned kSymbols = 16;
    static constexpr uint8_t kHotReset = 1, kDisable = 2, kLoopback = 4, kNoScrambling = 8, kCompliance = 16;
    static constexpr uint8_t kIdentifiers[2] = {0x4a, 0x45};  // of TS1 and TS2

    Symbol link = kPad, lane = kPad;  // kPad, or a number
    uint8_t n_fts = 0, rates = 2, control = 0;
    bool second = false;    // TS2
    bool inverted = false;  // it arrived over swapped wires

    bool blank() const { return link == kPad && lane == kPad; }
    bool numbered(Symbol wanted_link) const { return link == wanted_link && lane == 0; }
    bool operator==(const TrainingSet &other) const {
        return link == other.link && lane == other.lane && n_fts == other.n_fts && rates == other.rates &&
               control == other.control && second == other.second && inverted == other.inverted;
    }

    std::array<Symbol, kSymbols> symbols() const {
        std::array<Symbol, kSymbols> set;
        set.fill(kIdentifiers[second]);
        set[0] = kCom, set[1] = link, set[2] = lane, set[3] = n_fts, set[4] = rates, set[5] = control;
        return set;
    }
    // False if these symbols are no training set.
    bool parse(const std::array<Symbol, kSymbols> &set);
};

}  // namespace litepcie::lane
