// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Shapes of the card's streams, byte order, replay.
#include "link/tlp_checker.h"
#include "phy_test.h"

using namespace litepcie;

// The card is sending a write when its completion ends, so the completion leaves after the write.
TEST_F(PhyTest, CompletionStaysBehindThePostedWrite) {
    make(true);
    card_sends(kRequests, write(256));
    run(4);
    pause[kRequests] = true;
    card_sends(kCompletions, completion(4));
    run(200);
    EXPECT_TRUE(received.empty());
    EXPECT_FALSE(phy->quiet());
    pause[kRequests] = false;
    run(200);
    ASSERT_EQ(received.size(), 2u);
    EXPECT_TRUE(received[0].is_memory_write());
    EXPECT_TRUE(received[1].is_completion());
    EXPECT_TRUE(phy->quiet());
}

// A write that waits for credit delays the completion too.
TEST_F(PhyTest, CompletionStaysBehindAWriteWithoutCredit) {
    make(true, {{1, 1, Credits::kInfinite}, {16, 1, Credits::kInfinite}});
    host_receives = false;
    card_sends(kRequests, write(4));
    card_sends(kRequests, write(4));
    run(4);
    card_sends(kCompletions, completion(4));
    run(400);
    EXPECT_EQ(phy->to_host().counts().tlps, 2u);  // the second write waits
    host_receives = true;
    run(400);
    ASSERT_EQ(received.size(), 3u);
    EXPECT_TRUE(received[1].is_memory_write());
    EXPECT_TRUE(received[2].is_completion());
}

TEST_F(PhyTest, CompletionPassesARead) {
    make(true, {{1, 0, Credits::kInfinite}, {16, 0, Credits::kInfinite}});
    card_sends(kRequests, read());
    run(4);
    card_sends(kCompletions, completion(4));
    run(200);
    ASSERT_EQ(received.size(), 1u);
    EXPECT_TRUE(received[0].is_completion());
}

TEST_F(PhyTest, EachStreamHasItsKind) {
    make(true);
    card_sends(kRequests, completion(4));
    EXPECT_THROW(run(10), Violation);
    make(true);
    card_sends(kCompletions, write(4));
    EXPECT_THROW(run(10), Violation);
}

// A completion of the host is presented only after the card accepted the posted write that arrived before it. A read
// does not delay it.
TEST_F(PhyTest, HostsCompletionWaitsForItsPostedWrite) {
    make(true);
    card_takes = {false, true};
    egress.push({write(64, 0xe0000000), false});
    egress.push({completion(64), true});
    run(200);
    EXPECT_TRUE(taken[kCompletions].empty());
    card_takes[kRequests] = true;
    run(20);
    EXPECT_EQ(taken_dwords(kCompletions), completion(64).dw);
    taken = {};
    card_takes = {false, true};
    egress.push({read(), false});
    egress.push({completion(64), true});
    run(200);
    EXPECT_EQ(taken_dwords(kCompletions), completion(64).dw);
}

TEST_F(PhyTest, SharedStreamKeepsTheOrderOfArrival) {
    make(false);
    egress.push({completion(64), true});
    egress.push({write(64, 0xe0000000), false});
    run(200);
    std::vector<uint32_t> both = completion(64).dw;
    const Tlp second = write(64, 0xe0000000);
    both.insert(both.end(), second.dw.begin(), second.dw.end());
    EXPECT_EQ(taken_dwords(0), both);
    EXPECT_TRUE(taken[1].empty());
}

// A completion with the Relaxed Ordering attribute passes a posted write that waits.
TEST_F(PhyTest, RelaxedCompletionPassesAPostedWrite) {
    make(true);
    card_takes = {false, true};
    Tlp relaxed = completion(64);
    relaxed.dw[0] |= 1u << 13;
    egress.push({write(64, 0xe0000000), false});
    egress.push({relaxed, true});
    run(200);
    EXPECT_EQ(taken_dwords(kCompletions), relaxed.dw);
}

// The hard block holds three completions, or 160 bytes of data. The card takes none.
TEST_F(PhyTest, CompletionsOverflowTheHardBlock) {
    for (const CompletionSpace &space : {CompletionSpace{3, 32768}, CompletionSpace{512, 160}})
        for (unsigned count : {2, 4}) {
            make(true, space);
            card_takes = {true, false};
            for (unsigned i = 0; i < count; i++)
                egress.push({completion(64), true});
            if (count > 3)
                EXPECT_THROW(run(400), Violation);
            else
                run(400);
        }
}

// The hard block sends all of them to the buffer in the fabric: five beats of 16 bytes each.
TEST_F(PhyTest, CompletionsWaitInTheFabric) {
    for (unsigned beats : {20, 19}) {
        CardInfo card = small_card(true);
        card.completion_space = {1, 64};
        card.fabric_width = 128;
        card.fabric_beats = beats;
        make(true, card);
        card_takes = {true, false};
        for (unsigned i = 0; i < 4; i++)
            egress.push({completion(64), true});
        if (beats < 20) {
            EXPECT_THROW(run(400), Violation);
            continue;
        }
        run(400);
        EXPECT_TRUE(taken[kCompletions].empty());
        card_takes = {true, true};
        run(40);
        EXPECT_EQ(taken_dwords(kCompletions).size(), 4 * completion(64).dw.size());
        EXPECT_TRUE(phy->quiet());
    }
}

// A hard block of half the width and the same clock: a completion of 76 bytes takes 10 cycles instead of 5, a write of
// 80 bytes too. With the straddle option parts of 16 bytes count, at 256 bits and half of the clock.
TEST_F(PhyTest, RateOfTheHardBlock) {
    const struct {
        unsigned width;
        uint64_t clock;
        unsigned fabric;
        unsigned cycles;
    } blocks[] = {{0, 0, 0, 6}, {64, 125000000, 0, 10}, {128, 62500000, 0, 10}, {256, 31250000, 256, 10}};
    for (const auto &block : blocks) {
        CardInfo card = small_card(true);
        card.gen = 3, card.lanes = 16;
        card.block_width = block.width;
        card.block_clock_hz = block.clock;
        card.fabric_width = block.fabric;
        card.fabric_beats = block.fabric ? 512 : 0;
        make(true, card);
        for (unsigned i = 0; i < 60; i++)
            egress.push({completion(64), true});
        unsigned cycles = 0;
        while (taken_dwords(kCompletions).size() < 60 * completion(64).dw.size() && cycles < 2000)
            run(1), cycles++;
        EXPECT_NEAR(cycles / 60.0, block.cycles, 1) << block.width;
    }
}

// Payload dwords are swapped in both directions; header dwords are not, at any position in a beat.
TEST_F(PhyTest, LittleEndianPayload) {
    for (uint64_t address : {uint64_t(0x10000000), uint64_t(0x100000000)}) {
        make(true, kRootPortCredits, card_credits(512), {}, true);
        const Tlp tlp = write(23, address);
        card_sends(kRequests, tlp);
        egress.push({tlp, false});
        run(100);
        ASSERT_EQ(received.size(), 1u);
        EXPECT_EQ(received[0].dw, tlp.dw);
        std::vector<uint32_t> shown = tlp.dw;
        for (size_t i = tlp.header_dwords(); i < shown.size(); i++)
            shown[i] = __builtin_bswap32(shown[i]);
        EXPECT_EQ(taken_dwords(kRequests), shown);
    }
}

// Every third TLP of each direction arrives damaged while both directions are busy. All arrive once, in order.
TEST_F(PhyTest, ReplayKeepsOrderAndContent) {
    for (bool split : {false, true})
        for (uint64_t every : {1, 2, 3, 10}) {
            make(split, kRootPortCredits, card_credits(512), {{}, every});
            std::vector<uint32_t> expected;
            for (unsigned i = 0; i < 60; i++) {
                card_sends(kRequests, write(4 + i, 0x10000000 + 1024 * i));
                const Tlp tlp = write(4 + i, 0xe0000000 + 1024 * i);
                egress.push({tlp, false});
                expected.insert(expected.end(), tlp.dw.begin(), tlp.dw.end());
            }
            run(6000);
            ASSERT_EQ(received.size(), 60u) << "every " << every;
            for (unsigned i = 0; i < 60; i++)
                EXPECT_EQ(received[i].dw, write(4 + i, 0x10000000 + 1024 * i).dw);
            EXPECT_EQ(taken_dwords(kRequests), expected);
            EXPECT_EQ(phy->to_host().counts().naks, 60 / every);
            EXPECT_EQ(phy->to_card().counts().naks, 60 / every);
            EXPECT_EQ(phy->to_host().counts().tlps, 60u);
            EXPECT_GE(phy->to_host().counts().replayed_tlps, 60 / every);
            EXPECT_TRUE(phy->quiet());
        }
}

// An interrupt is a TLP too, and is replayed after the write that it follows.
TEST_F(PhyTest, ReplayOfAnInterrupt) {
    make(false, kRootPortCredits, card_credits(512), {{}, 1});
    card_sends(0, write(64));
    run(20);
    out.msi_valid = true;
    run(1);
    out.msi_valid = false;
    std::vector<bool> interrupts;
    host_receives = false;
    for (int i = 0; i < 300; i++) {
        step();
        CardItem item;
        while (phy->receive(cycle, item))
            interrupts.push_back(item.interrupt);
    }
    EXPECT_EQ(interrupts, std::vector<bool>{true});
    EXPECT_EQ(received.size(), 1u);
    EXPECT_EQ(phy->to_card().counts().naks, 2u);
}
