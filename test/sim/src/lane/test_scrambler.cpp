// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/scrambler.h"
#include "lane/training_set.h"

#include <gtest/gtest.h>

using namespace litepcie::lane;

// What a symbol of zeros becomes after a COM, from another implementation.
TEST(Scrambler, BytesAfterCom) {
    const uint8_t expected[] = {0xff, 0x17, 0xc0, 0x14, 0xb2, 0xe7, 0x02, 0x82, 0x72, 0x6e, 0x28, 0xa6,
                                0xbe, 0x6d, 0xbf, 0x8d, 0xbe, 0x40, 0xa7, 0xe6, 0x2c, 0xd3, 0xe2, 0xb2};
    Scrambler scrambler;
    scrambler(0);
    EXPECT_EQ(scrambler(kCom), kCom);
    for (const uint8_t byte : expected)
        EXPECT_EQ(scrambler(0), byte);
}

TEST(Scrambler, ControlSymbolsAndTrainingData) {
    Scrambler scrambler;
    EXPECT_EQ(scrambler(kCom), kCom);
    EXPECT_EQ(scrambler(kSkp), kSkp);  // the register stands still
    EXPECT_EQ(scrambler(0), 0xff);
    EXPECT_EQ(scrambler(kStp), kStp);  // it moves
    EXPECT_EQ(scrambler(0x4a, true), 0x4a);
    EXPECT_EQ(scrambler(0), 0x14);
    scrambler.off = true;
    EXPECT_EQ(scrambler(0), 0);
}

TEST(TrainingSet, ComesBackOverStraightAndSwappedWires) {
    for (const bool swapped : {false, true})
        for (const bool second : {false, true}) {
            TrainingSet set, got;
            set.link = 7, set.lane = 0, set.n_fts = swapped ? 0 : 0x55, set.second = second;
            auto symbols = set.symbols();
            for (Symbol &symbol : symbols)
                symbol = swapped ? inverted(symbol) : symbol;
            ASSERT_TRUE(got.parse(symbols));
            EXPECT_EQ(got.second, second);
            EXPECT_EQ(got.inverted, swapped);
            EXPECT_EQ(got.lane, 0);
            symbols[9] ^= 1;
            EXPECT_FALSE(got.parse(symbols));
        }
    EXPECT_EQ(inverted(0x4a), 0xb5);
    EXPECT_EQ(inverted(0x45), 0xba);
    for (Symbol symbol = 0; symbol < 0x200; symbol++)
        EXPECT_EQ(inverted(inverted(symbol)), symbol);
}
