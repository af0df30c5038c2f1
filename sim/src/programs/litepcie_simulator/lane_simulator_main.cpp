// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// litepcie_simulator of a card with the endpoint in gateware.
#include "machine/lane_machine.h"
#include "programs/litepcie_simulator/simulator.h"

using namespace litepcie;

int main(int argc, char **argv) {
    ModelOptions host;
    soft::LaneSettings settings;
    return simulator_program(
        argc, argv,
        [&](CommandLine &line) {
            add_host_options(line, host);
            add_lane_options(line, settings);
        },
        host.stats, [&](HostMemory &memory) { return std::make_unique<soft::LaneMachine>(memory, host, settings); });
}
