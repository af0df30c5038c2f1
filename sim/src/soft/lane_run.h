// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "model/model_options.h"
#include "run/transfer_run.h"
#include "soft/lane_settings.h"

#include <string>

namespace litepcie::soft {

// Moves data by DMA between a host and the card at the other end of a lane, symbol by symbol, compares every byte and
// prints the rates; `json`: a file for all figures, or empty. Throws HostError, or Violation.
void run_transfers(const ModelOptions &host, const LaneSettings &settings, const RunOptions &options,
                   const std::string &json);

}  // namespace litepcie::soft
