// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The receiver against a link of another implementation, recorded from the first TS1 to configuration reads.
#include "lane/dllp.h"
#include "lane/receiver.h"
#include "lane/retry_buffer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

using namespace litepcie;
using namespace litepcie::lane;

namespace {

struct Counts {
    unsigned first = 0, second = 0, skips = 0, tlps = 0, dllps = 0, wrong = 0;
    unsigned blank = 0, half_numbered = 0, numbered = 0;
};

// `column` of x1-symbols.csv: 1 is host to card, 3 is card to host, both scrambled.
Counts receive(unsigned column) {
    const std::string here = __FILE__;
    std::ifstream file(here.substr(0, here.rfind("/sim/")) + "/gateware/phy/soft/x1-symbols.csv");
    EXPECT_TRUE(file.is_open());
    Counts counts;
    Receiver receiver;
    std::string line, word;
    for (unsigned i = 0; i < 1 + 2; i++)  // the header, and two symbols before the first COM
        std::getline(file, line);
    while (std::getline(file, line)) {
        std::istringstream words(line);
        for (unsigned i = 0; i <= column; i++)
            std::getline(words, word, ',');
        const Received what = receiver.take(Symbol(std::stoul(word, nullptr, 16)));
        counts.skips += what == Received::SkipSet;
        if (what == Received::TrainingSet) {
            const TrainingSet &set = receiver.training_set();
            (set.second ? counts.second : counts.first)++;
            (set.blank() ? counts.blank : set.lane == kPad ? counts.half_numbered : counts.numbered)++;
        } else if (what == Received::Packet) {
            unsigned sequence;
            Tlp tlp;
            Dllp dllp;
            if (receiver.packet().dllp)
                dllp.parse(receiver.packet()) ? counts.dllps++ : counts.wrong++;
            else if (take_apart(receiver.packet(), sequence, tlp) == Intact::Good && sequence == counts.tlps)
                counts.tlps++;
            else
                counts.wrong++;
        }
    }
    counts.wrong += receiver.damaged_sets + receiver.misplaced_symbols;
    return counts;
}

}  // namespace

class RecordedLink : public testing::TestWithParam<std::array<unsigned, 3>> {};

TEST_P(RecordedLink, IsReceived) {
    const auto [column, tlps, dllps] = GetParam();
    const Counts counts = receive(column);
    EXPECT_EQ(counts.wrong, 0u);
    EXPECT_EQ(counts.tlps, tlps);
    EXPECT_EQ(counts.dllps, dllps);
    EXPECT_EQ(counts.first, 17u + 3 + 5);
    EXPECT_EQ(counts.second, 17u + 18);
    EXPECT_EQ(counts.blank, 17u + 17);
    EXPECT_EQ(counts.half_numbered, 3u);
    EXPECT_EQ(counts.numbered, 5u + 18);
    EXPECT_EQ(counts.skips, 2u);
}

INSTANTIATE_TEST_SUITE_P(BothWays, RecordedLink,
                         testing::Values(std::array<unsigned, 3>{1, 13, 49}, std::array<unsigned, 3>{3, 13, 62}));
