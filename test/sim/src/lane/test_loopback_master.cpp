// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/loopback_master.h"

#include <gtest/gtest.h>

using namespace litepcie::lane;

namespace {

// What comes back `late` symbols later, with SKP symbols removed and added; every `wrong`-th symbol is another one.
struct Echo {
    LoopbackMaster master{1};
    std::minstd_rand random{2};
    std::deque<Symbol> wire{};
    unsigned skips = 0, others = 0;

    void run(unsigned symbols, unsigned late, unsigned wrong) {
        master.begin();
        for (unsigned i = 0; i < symbols; i++) {
            const Symbol symbol = master.next();
            ASSERT_TRUE(symbol != kIdl);
            if (symbol == kSkp) {
                skips++;
                wire.insert(wire.end(), random() % 3, kSkp);
            } else {
                wire.push_back(wrong && ++others % wrong == 0 ? symbol ^ 1 : symbol);
            }
            for (; wire.size() > late; wire.pop_front())
                master.take(wire.front());
        }
    }
};

}  // namespace

TEST(LoopbackMaster, ComparesAllButSkp) {
    Echo echo;
    echo.run(100000, 40, 0);
    EXPECT_GT(echo.master.compared(), 99000u);
    EXPECT_EQ(echo.master.wrong(), 0u);
    // A set of three every 1180 to 1538 symbols.
    EXPECT_GE(echo.skips, 3 * 100000u / 1542);
    EXPECT_LE(echo.skips, 3 * 100000u / 1180);
}

TEST(LoopbackMaster, CountsEachWrongSymbol) {
    Echo echo;
    echo.run(100000, 40, 1000);
    EXPECT_GE(echo.master.wrong(), 98u);
    EXPECT_LE(echo.master.wrong(), 100u);
}

TEST(LoopbackMaster, BeginsAnewWithItsMark) {
    Echo echo;
    echo.run(5000, 40, 0);
    echo.wire.clear();
    echo.run(5000, 10, 0);
    EXPECT_EQ(echo.master.wrong(), 0u);
    EXPECT_GT(echo.master.compared(), 9800u);
}
