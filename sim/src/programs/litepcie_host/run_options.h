// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/program.h"
#include "programs/litepcie_host/transfer_run.h"

namespace litepcie {

// Adds the options of a TransferRun but --mps to a command line. `pio`: the sequence pio is one more.
void add_run_options(CommandLine &line, RunOptions &options, bool pio);

}  // namespace litepcie
