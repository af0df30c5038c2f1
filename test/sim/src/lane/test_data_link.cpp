// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// When the root port sends ACK and UpdateFC, symbol by symbol.
#include "lane/data_link.h"

#include <gtest/gtest.h>

using namespace litepcie;
using namespace litepcie::lane;

namespace {

constexpr unsigned kSkip = 4;

// A data link layer whose partner initializes flow control, and acknowledges nothing.
class Sender {
  public:
    explicit Sender(const DataLinkOptions &options) : link_(options) {
        link_.advance(true, true);
        for (const auto kind : {Dllp::Init1, Dllp::Init2})
            for (unsigned i = 0; i < kTlpClasses; i++)
                link_.receive(Dllp::flow_control(kind, i, 0, 0).packet());
        while (!link_.up() || now < free_)
            step();
        dllps.clear();
    }

    // One symbol. A packet has as many as its bytes and the symbols around them.
    void step() {
        now++;
        link_.advance(true, true);
        if (now < free_)
            return;
        const Packet *packet = link_.next();
        if (!packet)
            return;
        free_ = now + packet->bytes.size() + 2;
        Dllp dllp;
        if (dllp.parse(*packet))
            dllps.push_back({now, dllp});
    }
    void run(unsigned symbols) {
        for (const uint64_t end = now + symbols; now < end;)
            step();
    }
    // A TLP comes whole in this symbol, and its room is free at once.
    void arrive(const Tlp &tlp) {
        link_.receive(framed(sequence_++, tlp));
        for (Tlp got; link_.receive(got);)
            link_.release(got);
    }
    void send(const Tlp &tlp) { link_.send(tlp); }
    bool room() const { return link_.room(TlpClass::Completion); }

    std::vector<std::pair<uint64_t, Dllp>> sent(bool acks) const {
        std::vector<std::pair<uint64_t, Dllp>> some;
        for (const auto &one : dllps)
            if (one.second.is_ack() == acks)
                some.push_back(one);
        return some;
    }

    std::vector<std::pair<uint64_t, Dllp>> dllps;
    uint64_t now = 0;

  private:
    DataLink link_;
    uint64_t free_ = 0;
    unsigned sequence_ = 0;
};

DataLinkOptions with(unsigned mps, UpdateFc policy = UpdateFc::Guideline, Credits credits = kRootPortCredits) {
    DataLinkOptions options;
    options.mps = mps;
    options.update_fc = policy;
    options.credits = credits;
    return options;
}

Tlp write(unsigned bytes) {
    static const uint8_t data[512] = {};
    return Tlp::memory_write(0, 0, data, bytes);
}

Tlp completion(unsigned bytes) {
    static const uint8_t data[512] = {};
    return Tlp::completion_data(0, 0, 0, bytes, 0, data, bytes / 4);
}

constexpr std::pair<unsigned, unsigned> kLimits[] = {{128, 237}, {256, 416}, {512, 559}};  // PCIe 2.1 table 3-5

}  // namespace

TEST(DataLink, AcknowledgesOnAnIdleLinkAtTheLimit) {
    for (const auto &[mps, limit] : kLimits) {
        Sender sender(with(mps));
        const uint64_t came = sender.now;
        for (unsigned i = 0; i < 10; i++) {
            sender.arrive(write(4));
            sender.run(20);
        }
        sender.run(limit);
        const auto acks = sender.sent(true);
        ASSERT_EQ(acks.size(), 1u);
        EXPECT_EQ(acks[0].second.sequence(), 9u);
        EXPECT_LE(acks[0].first - came, limit);
        EXPECT_GE(acks[0].first - came, limit - kSkip);
    }
}

// At any distance of the TLPs that come, while those that leave fill the link. If both ways have a TLP in the same
// time, each may get an ACK of its own: the next place between TLPs would be too late. With 512 bytes it always is.
TEST(DataLink, TlpsShareAcksUpToTheLimit) {
    for (const auto &[mps, limit] : {kLimits[0], kLimits[1]}) {
        size_t sent = 0, all = 0;
        for (unsigned gap = mps + 24; gap < mps + 60; gap++) {
            Sender sender(with(mps));
            std::vector<uint64_t> came;
            for (const uint64_t end = sender.now + 200 * gap; sender.now < end; sender.step()) {
                if (sender.room())
                    sender.send(completion(mps));
                if (sender.now % gap == 0)
                    came.push_back(sender.now), sender.arrive(write(mps));
            }
            size_t oldest = 0;
            for (const auto &[at, ack] : sender.sent(true)) {
                EXPECT_LE(at - came[oldest], limit) << "MPS " << mps << ", a TLP every " << gap << " symbols";
                oldest = ack.sequence() + 1;
                sent++;
            }
            all += came.size();
        }
        EXPECT_LT(sent, all * 9 / 10) << "MPS " << mps;
    }
}

// The first one at once, and then one for all that was freed in the time of the guideline.
TEST(DataLink, UpdatesByTheGuidelineHaveADistance) {
    for (const auto &[mps, limit] : kLimits) {
        Sender sender(with(mps));
        sender.run(2000);
        const uint64_t began = sender.now;
        for (unsigned i = 0; i < 2 * limit + 100; i += 20) {
            sender.arrive(write(16));
            sender.run(20);
        }
        const auto updates = sender.sent(false);
        ASSERT_EQ(updates.size(), 3u);
        EXPECT_LE(updates[0].first - began, 2u);
        for (unsigned i = 1; i < 3; i++) {
            EXPECT_GE(updates[i].first - updates[i - 1].first, limit);
            EXPECT_LE(updates[i].first - updates[i - 1].first, limit + 20 + 8);
        }
    }
}

// Half of 256 units are eight TLPs of 256 bytes.
TEST(DataLink, FewestUpdatesWaitForHalfOfTheRoom) {
    Sender sender(with(256, UpdateFc::Minimum));
    for (unsigned i = 0; i < 24; i++) {
        sender.arrive(write(256));
        sender.run(20);
    }
    const auto updates = sender.sent(false);
    ASSERT_EQ(updates.size(), 3u);
    EXPECT_EQ(updates[2].second.data(), 256u + 24 * 16);
}

TEST(DataLink, UpdatesAtOnceIfTheCreditsAreScarce) {
    for (const auto policy : {UpdateFc::Guideline, UpdateFc::Minimum}) {
        Sender sender(with(256, policy, {{8, 1, Credits::kInfinite}, {16, 1, Credits::kInfinite}}));
        const uint64_t came = sender.now;
        sender.arrive(write(256));
        sender.run(2);
        const auto updates = sender.sent(false);
        ASSERT_EQ(updates.size(), 1u);
        EXPECT_LE(updates[0].first - came, 2u);
    }
}
