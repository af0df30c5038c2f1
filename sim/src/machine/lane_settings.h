// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/program.h"
#include "lane/root_port.h"

#include <utility>
#include <vector>

namespace litepcie::soft {

constexpr unsigned kSlotPower = 1u << 8 | 250;  // 25 W, in units of 0.1 W

// The lane, its root port, and what goes wrong between both.
struct LaneSettings {
    LaneSettings() { port.data_link.power_limit = kSlotPower; }

    lane::LaneOptions wires;
    lane::RootPortOptions port;
    std::vector<std::pair<lane::Fault, unsigned>> faults;  // each in one of so many packets
};

// Adds these options to a command line.
void add_lane_options(CommandLine &line, LaneSettings &settings);

}  // namespace litepcie::soft
