// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "referee/broken_rules.h"

#include <cstdio>

namespace litepcie {

void BrokenRules::add(uint64_t cycle, const Violation &broken) {
    if (!counted_)
        throw;
    total_++;
    const bool known = rules_.count(broken.rule());
    if (!known && rules_.size() == kMost)
        return;
    Count &count = rules_[broken.rule()];
    if (!count.times++) {
        count.cycle = cycle;
        count.first = broken.what();
        fprintf(stderr, "the card broke a rule of PCI Express at cycle %llu: %s\n", (unsigned long long)cycle,
                broken.what());
    }
}

std::string BrokenRules::list() const {
    std::string text;
    for (const auto &[rule, count] : rules_)
        text += "broken rule: " + rule + ": " + std::to_string(count.times) + " times, first at cycle " +
                std::to_string(count.cycle) + "\n";
    return text;
}

}  // namespace litepcie
