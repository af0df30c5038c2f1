// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "phy_test.h"

using namespace litepcie;

// Credits ------------------------------------------------------------------------------------------

// Each kind of credit, exhausted by either side. `sent` is the number of TLPs that have credit.
constexpr int64_t kMany = 1000;
const struct {
    Credits credits;
    Tlp tlp;
    unsigned sent;
} kExhausted[] = {
    {{{5, kMany, kMany}, {kMany, kMany, kMany}}, write(64), 5},
    {{{kMany, kMany, kMany}, {50, kMany, kMany}}, write(256), 3},  // 16 each
    {{{kMany, kMany, kMany}, {50, kMany, kMany}}, write(4), 50},   // 1 each
    {{{kMany, 7, kMany}, {kMany, kMany, kMany}}, read(), 7},
    {{{kMany, kMany, 9}, {kMany, kMany, kMany}}, completion(16), 9},
    {{{kMany, kMany, kMany}, {kMany, kMany, 40}}, completion(64), 10},  // 4 each
};

TEST_F(PhyTest, CardExhaustsEachCredit) {
    for (UpdateFc policy : {UpdateFc::Guideline, UpdateFc::Minimum})
        for (const auto &row : kExhausted) {
            make(false, row.credits, card_credits(512), {policy, 0});
            EXPECT_EQ(card_sends_until_it_waits(row.tlp), row.sent) << row.tlp.describe();
        }
}

TEST_F(PhyTest, HostExhaustsEachCredit) {
    for (UpdateFc policy : {UpdateFc::Guideline, UpdateFc::Minimum})
        for (const auto &row : kExhausted) {
            make(true, kRootPortCredits, row.credits, {policy, 0});
            EXPECT_EQ(host_sends_until_it_waits(row.tlp), row.sent) << row.tlp.describe();
        }
}

// The default credits of a hard block and of a root port.
TEST_F(PhyTest, CreditsAdvertised) {
    make(false);
    EXPECT_EQ(card_sends_until_it_waits(write(256)), 16u);  // 4 KiB
    make(false);
    EXPECT_EQ(card_sends_until_it_waits(read()), 64u);
    make(false);
    EXPECT_EQ(host_sends_until_it_waits(write(64)), 32u);
    make(false);
    EXPECT_EQ(host_sends_until_it_waits(read()), 12u);
    EXPECT_EQ(card_credits(4096).data[0], 256);  // at least one payload
}

// UpdateFC -----------------------------------------------------------------------------------------

// The card writes TLPs of 4 bytes with long pauses, so each gets an ACK. With Guideline each also gets an UpdateFC.
// With Minimum there is one when half of the 64 headers are used, and one per 30 us (3750 cycles) for posted writes and
// reads.
TEST_F(PhyTest, UpdatesOfEitherPolicy) {
    auto dllps = [&](UpdateFc policy, unsigned writes) {
        make(false, kRootPortCredits, card_credits(512), {policy, 0});
        for (unsigned i = 0; i < writes; i++) {
            card_sends(0, write(4));
            run(50);
        }
        run(3700 - cycle);
        return phy->to_card().counts().dllps;
    };
    EXPECT_EQ(dllps(UpdateFc::Guideline, 31), 2 * 31u);
    EXPECT_EQ(dllps(UpdateFc::Minimum, 31), 31u);
    EXPECT_EQ(dllps(UpdateFc::Minimum, 32), 32u + 1);
    EXPECT_EQ(dllps(UpdateFc::Minimum, 64), 64u + 2);
    EXPECT_EQ(dllps(UpdateFc::Minimum, 0), 0u);
    run(100);
    EXPECT_EQ(phy->to_card().counts().dllps, 2u);
    run(3750);
    EXPECT_EQ(phy->to_card().counts().dllps, 4u);
}

// DLLPs take time in the direction they travel: writes of the card cost DLLPs only towards the card, and vice versa.
TEST_F(PhyTest, DllpsTravelAgainstTheTlps) {
    make(false);
    card_sends(0, write(256));
    run(100);
    EXPECT_EQ(phy->to_card().counts().dllps, 2u);
    EXPECT_EQ(phy->to_host().counts().dllps, 0u);
    egress.push({write(64, 0xe0000000), false});
    run(100);
    EXPECT_EQ(phy->to_card().counts().dllps, 2u);
    EXPECT_EQ(phy->to_host().counts().dllps, 2u);
}
