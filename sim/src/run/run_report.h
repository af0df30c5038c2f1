// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "model/model.h"
#include "run/transfer_run.h"

#include <string>
#include <vector>

namespace litepcie {

// The results of a TransferRun: a table with a row for each direction on standard output, and all figures as JSON.
class RunReport {
  public:
    RunReport(const Model &model, const Identity &identity, const RunOptions &options)
        : model_(model), identity_(identity), options_(options) {}

    void add(const Iteration &iteration) { iterations_.push_back(iteration); }
    void print() const;
    // `failure` is the error that ended the run, or empty. Throws std::runtime_error if the file cannot be written.
    void write_json(const std::string &path, const std::string &failure) const;

  private:
    const Model &model_;
    const Identity &identity_;
    const RunOptions &options_;
    std::vector<Iteration> iterations_;
};

}  // namespace litepcie
