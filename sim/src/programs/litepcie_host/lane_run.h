// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "machine/lane_settings.h"
#include "machine/model_options.h"
#include "programs/litepcie_host/transfer_run.h"

#include <string>

namespace litepcie::soft {

// Moves data by DMA between a host and the card at the other end of a lane, symbol by symbol, compares every byte and
// prints the rates; `json`: a file for all figures, or empty. Throws HostError, or Violation.
void run_transfers(const ModelOptions &host, const LaneSettings &settings, const RunOptions &options,
                   const std::string &json);

}  // namespace litepcie::soft
