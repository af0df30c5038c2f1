// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "machine/model.h"
#include "machine/options.h"
#include "programs/litepcie_simulator/simulator.h"

#include <optional>

using namespace litepcie;

int main(int argc, char **argv) {
    LinkOptions link;
    ModelOptions options;
    std::optional<CardOnLink> card;
    return simulator_program(
        argc, argv,
        [&](CommandLine &line) {
            add_link_options(line, link);
            add_model_options(line, options);
        },
        options.stats,
        [&](HostMemory &memory) {
            card.emplace(make_card(), link);
            return std::make_unique<Model>(*card, memory, options);
        });
}
