// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "machine/lane_settings.h"
#include "machine/model_options.h"

namespace litepcie::soft {

// Ends bus mastering, `stops` times, at random moments while a writer runs, lets it go on, and checks that every byte
// arrived that the status block then reports. Prints what the writer did. Throws HostError, or Violation.
void run_stops(const ModelOptions &host, const LaneSettings &settings, unsigned mps, uint64_t stops);

}  // namespace litepcie::soft
