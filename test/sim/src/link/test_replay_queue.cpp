// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "link/replay_queue.h"

#include <gtest/gtest.h>

#include <map>

using namespace litepcie;

namespace {

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
