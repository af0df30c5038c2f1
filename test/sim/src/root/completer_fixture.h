// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/link_direction.h"
#include "root/host_memory.h"
#include "root/root_complex.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace litepcie {

constexpr Credits kMany = {{100, 100, Credits::kInfinite}, {1000, 1000, Credits::kInfinite}};
constexpr LinkShape kShape = {2, 4, 125000000};
constexpr uint16_t kCard = 0x0100;
constexpr uint64_t kTimeout = 2500;

// A completer with memory at 0x1000..0x9000 whose bytes follow from their addresses.
class CompleterFixture : public testing::Test {
  protected:
    explicit CompleterFixture(uint64_t seed) : faults(seed) {
        memory.add_region(0x1000, 0x8000);
        for (unsigned i = 0; i < 0x8000; i++)
            *memory.at(0x1000 + i, 1) = pattern(0x1000 + i);
        options.latency_cycles = 10;
        make();
    }
    static uint8_t pattern(uint64_t address) { return address * 7 + (address >> 8); }
    // Makes the completer again, with the present options.
    void make() {
        completer = std::make_unique<Completer>(memory, faults, options, [this](const Tlp &) { reports++; });
        completer->set_mps(256);
        completer->set_timeout_cycles(kTimeout);
    }

    Arena memory;
    FaultInjector faults;
    CompleterOptions options;
    std::unique_ptr<Completer> completer;
    Egress egress;
    uint64_t cycle = 0;
    unsigned reports = 0;
};

}  // namespace litepcie
