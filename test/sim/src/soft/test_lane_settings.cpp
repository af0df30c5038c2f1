// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "soft/lane_settings.h"

#include <gtest/gtest.h>

#include <map>

using namespace litepcie;
using namespace litepcie::soft;
using lane::Fault;

namespace {

// How often each fault comes, as a root port is armed with them.
std::map<Fault, unsigned> armed(std::vector<const char *> words) {
    LaneSettings settings;
    CommandLine line("program", "");
    add_lane_options(line, settings);
    words.insert(words.begin(), "program");
    line.parse(int(words.size()), const_cast<char **>(words.data()));
    std::map<Fault, unsigned> every;
    for (const auto &[fault, n] : settings.faults)
        every[fault] = n;
    return every;
}

}  // namespace

TEST(LaneSettings, AllFaultsButThoseThatAreNamedLater) {
    const auto every = armed({"--lcrc-every", "500", "--link-fault", "all:700", "--link-fault", "wrong-ack:100"});
    ASSERT_EQ(every.size(), lane::kFaults);
    for (const auto &[fault, n] : every)
        EXPECT_EQ(n, fault == Fault::WrongLcrc ? 500u : fault == Fault::WrongAck ? 100u : 700u) << name(fault);
}
