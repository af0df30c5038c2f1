// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/link_rate.h"
#include "machine/model.h"
#include "programs/litepcie_host/transfer_run.h"

#include <string>
#include <vector>

namespace litepcie {

// Card, link and host of a run, for the bounds of its rates.
struct RunConditions {
    unsigned gen = 1, lanes = 1, data_width = 64;
    uint64_t clock_hz = 0;    // of the card's counters
    uint64_t machine_hz = 0;  // of the machine's cycles
    unsigned block_width = 0;
    uint64_t block_clock_hz = 0;
    bool straddle = false;
    unsigned completion_bytes = 0;
    uint64_t latency_ns = 0;
    UpdateFc update_fc = UpdateFc::Guideline;
};

RunConditions conditions_of(const Model &model);

// The results of a TransferRun: a table with a row for each direction on standard output, and all figures as JSON.
class RunReport {
  public:
    RunReport(RunConditions conditions, const Identity &identity, const RunOptions &options)
        : conditions_(std::move(conditions)), identity_(identity), options_(options) {}

    void add(const Iteration &iteration) { iterations_.push_back(iteration); }
    void print() const;
    // `failure` is the error that ended the run, or empty. Throws std::runtime_error if the file cannot be written.
    void write_json(const std::string &path, const std::string &failure) const;

  private:
    RunConditions conditions_;
    const Identity &identity_;
    const RunOptions &options_;
    std::vector<Iteration> iterations_;
};

}  // namespace litepcie
