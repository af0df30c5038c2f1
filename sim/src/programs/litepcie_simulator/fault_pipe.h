// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/program.h"
#include "root/root_complex.h"

#include <string>

namespace litepcie {

// A named pipe that takes lines while the simulator runs: faults, "FAULT@N", counted from the next completion; and
// "stats", which asks for the figures that --stats has at the end.
class FaultPipe {
  public:
    // An empty path: no pipe. Throws std::runtime_error if the pipe cannot be opened.
    explicit FaultPipe(const std::string &path);
    // Adds the faults that were written since the last call. Returns whether figures were asked for. Throws
    // std::invalid_argument for any other line.
    bool take(FaultInjector &faults);

  private:
    Fd pipe_;
    std::string rest_;  // the beginning of an incomplete line
};

}  // namespace litepcie
