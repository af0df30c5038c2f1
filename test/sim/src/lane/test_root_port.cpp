// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/credit_counter.h"
#include "lane/root_port.h"

#include <gtest/gtest.h>

using namespace litepcie;
using namespace litepcie::lane;

TEST(CreditLimits, CountModulo) {
    CreditLimits limits;
    EXPECT_FALSE(limits.recorded());
    limits.record(0, 2, 8), limits.record(1, 1, 1), limits.record(2, 0, 0);
    EXPECT_TRUE(limits.recorded());
    uint8_t data[64] = {};
    const Tlp write = Tlp::memory_write(0, 0, data, 64), completion = Tlp::completion_data(0, 0, 0, 4, 0, data, 1);
    for (unsigned i = 0; i < 5000; i++) {
        ASSERT_TRUE(limits.allow(write));
        limits.consume(write);
        limits.consume(write);
        ASSERT_FALSE(limits.allow(write));
        limits.update(0, (2 * i + 4) & 0xff, (8 * i + 16) & 0xfff);
        ASSERT_TRUE(limits.allow(completion));  // infinite
        limits.consume(completion);
    }
}

// SKP sets come every 1180 to 1538 symbols of training, and by the length of a set more at most.
TEST(RootPort, SkipIntervals) {
    RootPortOptions options;
    options.training.quiet_since = 3000000;
    RootPort port(options, 1);
    uint64_t last = 0;
    Symbol before = 0;
    for (uint64_t now = 0; now < 100000; now++) {
        const Symbol symbol = port.step(kSilence);
        if (before == kCom && symbol == kSkp) {
            if (last) {
                EXPECT_GE(now - last, Transmitter::kShortestInterval - TrainingSet::kSymbols);
                EXPECT_LE(now - last, Transmitter::kLongestInterval + TrainingSet::kSymbols);
            }
            last = now;
        }
        before = symbol;
    }
    EXPECT_GT(port.transmitter().skip_sets, 60u);
}
