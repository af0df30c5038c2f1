// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// When DLLPs, SKP ordered sets and replays are sent, and when they arrive.
#include "link/link_direction.h"

#include <gtest/gtest.h>

#include <map>

using namespace litepcie;

namespace {
constexpr Credits kUnlimited = {{Credits::kInfinite, Credits::kInfinite, Credits::kInfinite},
                                {Credits::kInfinite, Credits::kInfinite, Credits::kInfinite}};
constexpr unsigned kTlp = 276;     // bytes on the wire, 256 of them payload
constexpr unsigned kCycle = 16;    // bytes per cycle: Gen2 x4 at 125 MHz
constexpr uint64_t kCycles = 380;  // the first SKP comes after 1538 symbols = 384.5 cycles

// The cycle in which the last of `bytes` bytes has arrived.
uint64_t cycle_of(unsigned bytes) { return (bytes + kCycle - 1) / kCycle; }

// Sends TLPs 0, 1, 2 ... of 276 bytes back to back.
class Wire {
  public:
    explicit Wire(uint64_t damage_every) : queue(link, back, damage_every) {}

    // Returns the cycle in which each is accepted. The other direction sends `busy` bytes at cycle `busy_at`.
    std::map<int, uint64_t> run(uint64_t busy_at = 0, unsigned busy = 0) {
        std::map<int, uint64_t> accepted;
        for (uint64_t cycle = 0; cycle < kCycles; cycle++) {
            link.advance(back);
            back.advance(link);
            queue.replay(cycle, true);
            if (busy && cycle == busy_at)
                back.send_bytes(busy);
            int item;
            while (queue.receive(cycle, item)) {
                EXPECT_EQ(item, int(accepted.size()));  // in order, without loss and repetition
                accepted[item] = cycle;
            }
            while (link.free_this_cycle()) {
                link.send_bytes(kTlp);
                queue.push(next++, kTlp, cycle);
            }
        }
        return accepted;
    }

    static constexpr LinkShape kShape = {2, 4, 125000000};
    LinkDirection link{kShape, 256, kRootPortCredits}, back{kShape, 256, kRootPortCredits};
    ReplayQueue<int> queue;
    int next = 0;
};
}  // namespace

// MPS 256 at Gen1 x1: 416 symbols, one in a cycle of 250 MHz. A SKP ordered set of four may be before the ACK.
TEST(LinkDirection, AcksBeforeATlp) {
    LinkPolicy policy;
    policy.acks = AckPolicy::BeforeTlp;
    const auto acks = [&policy](unsigned waited, unsigned tlp) {
        LinkDirection link({1, 1, 250000000}, 256, kUnlimited, policy), back = link;
        link.want_ack();
        for (unsigned i = 0; i < waited; i++)
            link.advance(back);
        link.want_ack();  // a second TLP, which it answers too
        if (tlp)
            link.begin_tlp(tlp);
        return link.counts().dllps;
    };
    EXPECT_EQ(acks(416 - 4 - 276, 276), 0u);
    EXPECT_EQ(acks(416 - 4 - 276 + 1, 276), 1u);
    EXPECT_EQ(acks(416 - 4 - 20, 20), 0u);
    EXPECT_EQ(acks(416 - 4 - 20 + 1, 20), 1u);
    EXPECT_EQ(acks(416 - 4, 0), 0u);
    EXPECT_EQ(acks(416 - 4 + 1, 0), 1u);
}

// A class with infinite credits has no UpdateFC, and the others have one each.
TEST(LinkDirection, UpdatesPerType) {
    constexpr Credits kSome = {{64, 64, Credits::kInfinite}, {256, 64, Credits::kInfinite}};
    for (const auto &[policy, updates] : {std::pair{UpdateFc::PerType, 2u}, std::pair{UpdateFc::Guideline, 1u}}) {
        LinkDirection to_host({1, 1, 250000000}, 256, kSome, {policy}), to_card = to_host;
        for (int i = 0; i < 500; i++)
            to_card.advance(to_host);
        for (TlpClass tlp_class : {TlpClass::Posted, TlpClass::NonPosted, TlpClass::Completion}) {
            to_host.take_credit(tlp_class, 1);
            to_host.return_credit(tlp_class, 1);
            to_card.want_update();
        }
        to_card.advance(to_host);
        EXPECT_EQ(to_card.counts().dllps, updates);
        for (int i = 0; i < 416; i++)
            to_card.advance(to_host);
        EXPECT_EQ(to_card.counts().dllps, updates) << "nothing more was freed";
    }
}

// 375 blocks of 130 bits at 8 GT/s take 6093.75 ns: 1523.4 cycles of 250 MHz. The SKP ordered set has 132 bytes at x8,
// which take 4.2 cycles.
TEST(LinkDirection, SkipSetsOfGen3) {
    LinkDirection link({3, 8, 250000000}, 256, kUnlimited);
    LinkDirection back = link;
    for (int i = 0; i < 1523; i++)
        link.advance(back);
    EXPECT_EQ(link.counts().skips, 0u);
    link.advance(back);
    EXPECT_EQ(link.counts().skips, 1u);
    EXPECT_EQ(link.cycles_to_arrival(), 5u);
    for (int i = 0; i < 1000; i++)
        link.advance(back);
    EXPECT_EQ(link.counts().skips, 1u);
}

// A credit that is returned while 276 bytes wait for the wire arrives after these and its own eight: 284 bytes at 16 in
// a cycle, and the time of flight.
TEST(LinkDirection, UpdateFcTravels) {
    for (UpdateFc update_fc : {UpdateFc::Guideline, UpdateFc::Minimum})
        for (uint64_t flight : {0, 25}) {
            constexpr Credits kOne = {{1, 1, 1}, {16, 1, 1}};
            const LinkShape shape{2, 4, 125000000};
            LinkDirection to_host(shape, 256, kOne, {update_fc, flight}), to_card = to_host;
            to_host.take_credit(TlpClass::Posted, 16);
            to_host.return_credit(TlpClass::Posted, 16);
            to_card.want_update();
            to_card.send_bytes(276 + 16);  // the first cycle sends 16 of them
            unsigned cycles = 0;
            while (!to_host.has_credit(TlpClass::Posted, 16) && cycles < 1000) {
                to_host.advance(to_card);
                to_card.advance(to_host);
                cycles++;
            }
            EXPECT_EQ(cycles, 1 + 18 + flight);
            EXPECT_EQ(to_card.counts().dllps, 1u);
            EXPECT_EQ(to_card.cycles_to_arrival(), flight);
        }
}

// An UpdateFC that a reset loses announces nothing, but its credits are not lost.
TEST(LinkDirection, CreditsOfALostUpdateFc) {
    constexpr Credits kOne = {{1, 1, 1}, {16, 1, 1}};
    LinkDirection to_host({2, 4, 125000000}, 256, kOne, {UpdateFc::Guideline, 50}), to_card = to_host;
    to_host.take_credit(TlpClass::Posted, 16);
    to_host.return_credit(TlpClass::Posted, 16);
    to_card.want_update();
    to_card.advance(to_host);
    EXPECT_FALSE(to_card.quiet());
    to_card.lose_updates();
    to_host.grant_returned();
    EXPECT_TRUE(to_host.has_credit(TlpClass::Posted, 16));
    for (int i = 0; i < 100; i++)
        to_card.advance(to_host);
    to_host.take_credit(TlpClass::Posted, 16);
    EXPECT_FALSE(to_host.has_credit(TlpClass::Posted, 0));  // nothing was granted twice
}

TEST(LinkDirection, ArrivalIsTheLastByte) {
    LinkDirection link({2, 4, 125000000}, 256, kUnlimited);  // 16 bytes per cycle
    LinkDirection back = link;
    link.send_bytes(276);
    EXPECT_EQ(link.cycles_to_arrival(), 18u);
    for (int i = 0; i < 17; i++) {
        EXPECT_FALSE(link.quiet());
        link.advance(back);
    }
    EXPECT_TRUE(link.free_this_cycle());
    link.advance(back);
    EXPECT_TRUE(link.quiet());
}

TEST(ReplayQueue, NothingDamaged) {
    Wire wire(0);
    std::map<int, uint64_t> accepted = wire.run();
    ASSERT_GT(accepted.size(), 20u);
    for (const auto &[item, cycle] : accepted)
        EXPECT_EQ(cycle, cycle_of(kTlp * (item + 1)));
    EXPECT_EQ(wire.link.counts().replayed_tlps, 0u);
    EXPECT_EQ(wire.back.counts().naks, 0u);
}

// TLP 4 arrives damaged at byte 5 * 276, cycle 87. The NAK takes 8 bytes, one cycle, and TLP 5 is on the wire by then.
// Both are sent again after it: bytes 6 * 276 to 8 * 276.
TEST(ReplayQueue, TimeOfOneReplay) {
    Wire wire(5);
    std::map<int, uint64_t> accepted = wire.run();
    EXPECT_EQ(accepted.at(3), cycle_of(4 * kTlp));
    EXPECT_EQ(accepted.at(4), cycle_of(7 * kTlp));
    EXPECT_EQ(accepted.at(5), cycle_of(8 * kTlp));
    EXPECT_EQ(accepted.at(8), cycle_of(11 * kTlp));
    EXPECT_EQ(accepted.at(9), cycle_of(14 * kTlp));  // TLP 10 is the next one damaged
    EXPECT_EQ(wire.back.counts().naks, accepted.size() / 5);
    EXPECT_EQ(wire.link.counts().replayed_tlps, 2 * (accepted.size() / 5));
}

// A NAK replaces an ACK that was due, and the next ACK waits for the ACK interval.
TEST(ReplayQueue, NakAcknowledges) {
    LinkDirection link(Wire::kShape, 256, kRootPortCredits), other = link;
    link.want_ack();
    link.send_nak();
    for (int i = 0; i < 40; i++)
        link.advance(other);
    EXPECT_EQ(link.counts().dllps, 1u);
    link.want_ack();
    for (int i = 0; i < 4; i++)  // 169 symbols = 42.25 cycles
        link.advance(other);
    EXPECT_EQ(link.counts().dllps, 2u);
}

TEST(ReplayQueue, ClearForgetsTheNak) {
    Wire wire(5);
    wire.run();
    unsigned lost = 0;
    wire.queue.clear([&](int) { lost++; });
    EXPECT_GT(lost, 0u);
    EXPECT_TRUE(wire.queue.empty());
    EXPECT_FALSE(wire.queue.replaying());
}
