// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "link/tlp_checker.h"
#include "phy_test.h"

using namespace litepcie;

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
            make(false, row.credits, card_credits(512), {{policy}});
            EXPECT_EQ(card_sends_until_it_waits(row.tlp), row.sent) << row.tlp.describe();
        }
}

// Such a TLP would wait for ever.
TEST_F(PhyTest, CardNeedsMoreThanThereIs) {
    make(false, {{kMany, kMany, kMany}, {10, kMany, kMany}});
    card_sends(0, write(160));
    run(1000);
    EXPECT_EQ(received.size(), 1u);
    card_sends(0, write(164));
    EXPECT_THROW(run(1000), Violation);
}

TEST_F(PhyTest, HostExhaustsEachCredit) {
    for (UpdateFc policy : {UpdateFc::Guideline, UpdateFc::Minimum})
        for (const auto &row : kExhausted) {
            make(true, kRootPortCredits, row.credits, {{policy}});
            EXPECT_EQ(host_sends_until_it_waits(row.tlp), row.sent) << row.tlp.describe();
        }
}

// The buffer of a TLP that arrived is free, and its credit announced, only after the time that the root port keeps it.
TEST_F(PhyTest, CreditReturnsAfterATime) {
    constexpr Credits kOne = {{1, 1, Credits::kInfinite}, {16, 16, Credits::kInfinite}};
    auto cycles_of_three = [&](uint64_t kept) {
        make(false, kOne, card_credits(512), {{}, 0, kept});
        for (unsigned i = 0; i < 3; i++)
            card_sends(0, write(64));
        while (received.size() < 3)
            step();
        return cycle;
    };
    EXPECT_EQ(cycles_of_three(500), cycles_of_three(100) + 2 * 400);
}

// The root complex serves no more than one read: the buffers of the others stay occupied, but not those of writes.
TEST_F(PhyTest, WaitingReadsKeepTheirCredits) {
    constexpr Credits kFew = {{2, 3, Credits::kInfinite}, {32, 3, Credits::kInfinite}};
    make(false, kFew, card_credits(512), {});
    bool hangs = true;
    phy->reads_waiting = [&] { return hangs && !received.empty() ? received.size() - 1 : 0; };
    for (unsigned i = 0; i < 5; i++)
        card_sends(0, read(i));
    run(500);
    EXPECT_EQ(received.size(), 4u);  // of three that arrived, one is served, so its credit was used again
    hangs = false;
    for (unsigned i = 0; i < 5; i++)
        card_sends(0, write(64));
    run(500);
    EXPECT_EQ(received.size(), 10u);
    EXPECT_TRUE(phy->quiet());
}

// The IOMMU has not translated the address of the first TLP yet: no buffer becomes free until it has.
TEST_F(PhyTest, CreditReturnsAfterTheTranslation) {
    constexpr Credits kTwo = {{2, 2, Credits::kInfinite}, {32, 32, Credits::kInfinite}};
    make(false, kTwo, card_credits(512), {});
    phy->kept_until = [](const Tlp &tlp) { return tlp.first_byte() == 0x10000000 ? 1000 : 0; };
    card_sends(0, write(64, 0x10000000));
    card_sends(0, write(64, 0x20000000));
    card_sends(0, write(64, 0x20000000));
    run(990);
    EXPECT_EQ(received.size(), 2u);
    run(200);
    EXPECT_EQ(received.size(), 3u);
    EXPECT_TRUE(phy->quiet());
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

// The card writes TLPs of 4 bytes with long pauses, so each gets an ACK. With Guideline each also gets an UpdateFC.
// With Minimum there is one when half of the 64 headers are used, and one per 30 us (3750 cycles) for posted writes and
// reads.
TEST_F(PhyTest, UpdatesOfEitherPolicy) {
    auto dllps = [&](UpdateFc policy, unsigned writes) {
        make(false, kRootPortCredits, card_credits(512), {{policy}});
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
