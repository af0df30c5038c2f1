// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card_on_link.h"
#include "programs/litepcie_host/stress_case.h"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <vector>

namespace litepcie {

// Runs a StressCase for each of many seeds, each with a card of its own.
class Stress {
  public:
    Stress(const LinkOptions &link, const ModelOptions &model, const StressOptions &options)
        : link_(link), model_(model), options_(options) {}
    // Runs the seeds from that of the model's options on. Prints each failure, and writes a summary to the file `json`
    // unless that is empty. Returns whether all seeds passed.
    bool run(const std::string &json);

  private:
    struct Totals {
        uint64_t seeds = 0, cycles = 0, faults = 0, timeouts = 0, unexpected = 0, bytes = 0, side_bytes = 0;
        std::map<std::string, uint64_t> events;
    };
    struct Failure {
        uint64_t seed;
        std::string event, phase, message;
    };

    void run_seed(uint64_t seed);

    LinkOptions link_;
    ModelOptions model_;
    StressOptions options_;
    Totals totals_;
    std::vector<Failure> failures_;
};

}  // namespace litepcie
