// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/training_set.h"

#include <algorithm>

namespace litepcie::lane {

namespace {

bool number_or_pad(Symbol symbol) { return symbol < kControl || symbol == kPad; }

}  // namespace

bool TrainingSet::parse(const std::array<Symbol, kSymbols> &set) {
    const Symbol identifier = set[6];
    const bool all_same = std::all_of(set.begin() + 6, set.end(), [&](Symbol symbol) { return symbol == identifier; });
    const bool all_data = std::all_of(set.begin() + 3, set.end(), [](Symbol symbol) { return symbol < kControl; });
    if (!all_same || !all_data || !number_or_pad(set[1]) || !number_or_pad(set[2]))
        return false;
    inverted = identifier == lane::inverted(kIdentifiers[0]) || identifier == lane::inverted(kIdentifiers[1]);
    const Symbol plain = inverted ? lane::inverted(identifier) : identifier;
    if (plain != kIdentifiers[0] && plain != kIdentifiers[1])
        return false;
    second = plain == kIdentifiers[1];
    link = set[1], lane = set[2], n_fts = set[3], rates = set[4], control = set[5];
    return true;
}

}  // namespace litepcie::lane
