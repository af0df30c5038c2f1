// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "referee/tlp_checker.h"

#include <cstdint>
#include <map>
#include <string>

namespace litepcie {

// The rules of PCI Express that the card broke. The first one ends the run, unless they are counted.
class BrokenRules {
  public:
    struct Count {
        uint64_t times = 0, cycle = 0;  // cycle of the first time
        std::string first;              // the rule and the TLP that broke it first
    };

    explicit BrokenRules(bool counted) : counted_(counted) {}

    // Call it while a Violation is handled: throws that again, or counts it, and prints the first one of each rule.
    void add(uint64_t cycle, const Violation &broken);
    uint64_t total() const { return total_; }
    const std::map<std::string, Count> &rules() const { return rules_; }
    // One line for each rule, or an empty text.
    std::string list() const;

  private:
    static constexpr size_t kMost = 100;  // rules in the list, as some name a number of the TLP

    bool counted_;
    uint64_t total_ = 0;
    std::map<std::string, Count> rules_;
};

}  // namespace litepcie
