// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The PHY and the link with a card and a host that do what the test says.
#include "phy.h"
#include "tlp_checker.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

using namespace litepcie;

namespace {

constexpr unsigned kRequests = 0, kCompletions = 1;
constexpr uint16_t kCard = 0x0100, kHost = 0;
constexpr unsigned kDwords = 4;

BoardInfo board(bool split, bool little_endian = false) {
    BoardInfo info{2, 4, 32 * kDwords, 125000000, 1 << 21, 0, 0, 0, 0, 0, 1 << 20, 32768};
    info.split = split;
    info.little_endian = little_endian;
    return info;
}

Tlp write(unsigned bytes, uint64_t address = 0x10000000) {
    std::vector<uint8_t> data(bytes);
    std::iota(data.begin(), data.end(), 1);
    return Tlp::memory_write(kCard, address, data.data(), bytes);
}
Tlp read(uint8_t tag = 0) { return Tlp::memory_read(kCard, tag, 0x10000000, 256); }
Tlp completion(unsigned bytes) {
    std::vector<uint8_t> data(bytes, 0x55);
    return Tlp::completion_data(kCard, kHost, 0, bytes, 0, data.data(), bytes / 4);
}

class PhyTest : public testing::Test {
  protected:
    void make(bool split, const Credits &root_port = kRootPortCredits, const Credits &card = card_credits(512),
              const LinkPolicy &policy = {}, bool little_endian = false) {
        phy = std::make_unique<Phy>(board(split, little_endian), root_port, card, policy);
        phy->set_mps(256);
        little = little_endian;
        egress.clear();
        beats = {};
        received.clear();
        taken = {};
        sent = 0;
        in = {};
        out = {};
        cycle = 0;
    }

    // Queues the beats of a TLP on a stream of the card.
    void card_sends(unsigned channel, const Tlp &tlp) {
        for (size_t at = 0; at < tlp.dw.size(); at += kDwords) {
            Beat beat{};
            const size_t n = std::min<size_t>(kDwords, tlp.dw.size() - at);
            for (size_t i = 0; i < n; i++)
                beat.dat[i] =
                    little && at + i >= tlp.header_dwords() ? __builtin_bswap32(tlp.dw[at + i]) : tlp.dw[at + i];
            beat.be = ~uint64_t(0) >> (64 - 4 * n);
            beat.first = at == 0;
            beat.last = at + n == tlp.dw.size();
            beats[channel].push_back(beat);
        }
    }

    void step() {
        phy->advance(cycle);
        CardItem item;
        while (host_receives && phy->receive(cycle, item))
            received.push_back(item.tlp);
        phy->send(egress, cycle, [this](const Tlp &) { sent++; });
        phy->drive(cycle, in);
        for (unsigned i = 0; i < kMaxChannels; i++) {
            out.tx_valid[i] = !beats[i].empty() && !pause[i];
            if (out.tx_valid[i])
                out.tx[i] = beats[i].front();
            out.rx_ready[i] = card_takes[i];
            if (in.rx[i].valid && card_takes[i])
                taken[i].push_back(in.rx[i].beat);
        }
        phy->clock(cycle, in, out, 24);
        for (unsigned i = 0; i < kMaxChannels; i++)
            if (out.tx_valid[i] && in.tx_ready[i])
                beats[i].pop_front();
        cycle++;
    }
    void run(unsigned cycles) {
        for (unsigned i = 0; i < cycles; i++)
            step();
    }
    // The host's TLPs the card took the beats of, one after the other on a stream.
    std::vector<uint32_t> taken_dwords(unsigned channel) const {
        std::vector<uint32_t> all;
        for (const Beat &beat : taken[channel])
            all.insert(all.end(), beat.dat, beat.dat + __builtin_popcountll(beat.be) / 4);
        return all;
    }
    // TLPs of the card that begin before it waits for credit, with a host that frees nothing.
    unsigned card_sends_until_it_waits(const Tlp &tlp) {
        host_receives = false;
        for (int i = 0; i < 200; i++)
            card_sends(0, tlp);
        run(8000);
        EXPECT_GT(phy->to_host().counts().credit_wait_cycles, 0u);
        const uint64_t before = phy->to_host().counts().tlps;
        host_receives = true;
        run(8000);
        EXPECT_EQ(phy->to_host().counts().tlps, 200u);  // all that was freed came back
        return before;
    }
    unsigned host_sends_until_it_waits(const Tlp &tlp) {
        card_takes = {false, false};
        for (int i = 0; i < 200; i++)
            egress.push({tlp, false});
        run(8000);
        EXPECT_GT(phy->to_card().counts().credit_wait_cycles, 0u);
        const unsigned before = sent;
        card_takes = {true, true};
        run(16000);
        EXPECT_EQ(sent, 200u);
        return before;
    }

    std::unique_ptr<Phy> phy;
    bool little = false;
    BoardInputs in;
    BoardOutputs out;
    Egress egress;
    std::array<std::deque<Beat>, kMaxChannels> beats;
    std::array<bool, kMaxChannels> pause{}, card_takes{true, true};
    std::array<std::vector<Beat>, kMaxChannels> taken;
    bool host_receives = true;
    std::vector<Tlp> received;
    unsigned sent = 0;
    uint64_t cycle = 0;
};

}  // namespace

// Shapes -------------------------------------------------------------------------------------------

// The card's write is under way when its completion ends: that goes behind it.
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

// A write that waits for credit holds it too.
TEST_F(PhyTest, CompletionStaysBehindAWriteWithoutCredit) {
    make(true, {{1, 1, Credits::kInfinite}, {16, 1, Credits::kInfinite}});
    host_receives = false;
    card_sends(kRequests, write(4));
    card_sends(kRequests, write(4));
    run(4);
    card_sends(kCompletions, completion(4));
    run(400);
    EXPECT_EQ(phy->to_host().counts().tlps, 2u);  // the second write has not gone
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

// A completion of the host is not shown before the posted write that came before it was taken; reads do not hold it.
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

// Payload dwords are swapped in both directions, header dwords are not, whatever their place in a beat.
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

// Credits ------------------------------------------------------------------------------------------

// Each kind of credit, exhausted by the card; the one that begins without credit is not counted.
TEST_F(PhyTest, CardExhaustsEachCredit) {
    constexpr int64_t kMany = 1000;
    const struct {
        Credits credits;
        Tlp tlp;
        unsigned sent;
    } rows[] = {
        {{{5, kMany, kMany}, {kMany, kMany, kMany}}, write(64), 5},
        {{{kMany, kMany, kMany}, {50, kMany, kMany}}, write(256), 3},  // 16 each
        {{{kMany, kMany, kMany}, {50, kMany, kMany}}, write(4), 50},   // 1 each
        {{{kMany, 7, kMany}, {kMany, kMany, kMany}}, read(), 7},
        {{{kMany, kMany, 9}, {kMany, kMany, kMany}}, completion(16), 9},
        {{{kMany, kMany, kMany}, {kMany, kMany, 40}}, completion(64), 10},  // 4 each
    };
    for (UpdateFc policy : {UpdateFc::Guideline, UpdateFc::Minimum})
        for (const auto &row : rows) {
            make(false, row.credits, card_credits(512), {policy, 0});
            EXPECT_EQ(card_sends_until_it_waits(row.tlp), row.sent) << row.tlp.describe();
        }
}

TEST_F(PhyTest, HostExhaustsEachCredit) {
    constexpr int64_t kMany = 1000;
    const struct {
        Credits credits;
        Tlp tlp;
        unsigned sent;
    } rows[] = {
        {{{5, kMany, kMany}, {kMany, kMany, kMany}}, write(64), 5},
        {{{kMany, kMany, kMany}, {50, kMany, kMany}}, write(256), 3},
        {{{kMany, 7, kMany}, {kMany, kMany, kMany}}, read(), 7},
        {{{kMany, kMany, 9}, {kMany, kMany, kMany}}, completion(16), 9},
        {{{kMany, kMany, kMany}, {kMany, kMany, 40}}, completion(64), 10},
    };
    for (UpdateFc policy : {UpdateFc::Guideline, UpdateFc::Minimum})
        for (const auto &row : rows) {
            make(true, kRootPortCredits, row.credits, {policy, 0});
            EXPECT_EQ(host_sends_until_it_waits(row.tlp), row.sent) << row.tlp.describe();
        }
}

// The real sets: a hard block's and a root port's.
TEST_F(PhyTest, CreditsAdvertised) {
    make(false);
    EXPECT_EQ(card_sends_until_it_waits(write(256)), 16u);  // 4 KiB
    make(false);
    EXPECT_EQ(card_sends_until_it_waits(read()), 64u);
    make(false);
    EXPECT_EQ(host_sends_until_it_waits(write(64)), 32u);
    make(false);
    EXPECT_EQ(host_sends_until_it_waits(read()), 12u);
    EXPECT_EQ(card_credits(4096).data[0], 256);  // one payload at least
}

// UpdateFC -----------------------------------------------------------------------------------------

// The card writes 4 bytes a TLP, far apart: an ACK each. At the guideline an UpdateFC each; at the minimum when half of
// 64 headers are used, and 30 us (3750 cycles) after the last one, for posted writes and for reads.
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

// Charged to the direction they travel in: writes of the card cost the way to the card alone, and the other way round.
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

// Replay -------------------------------------------------------------------------------------------

// Every third TLP of each direction damaged, with both directions busy: all arrive, once, in order.
TEST_F(PhyTest, ReplayKeepsOrderAndContent) {
    for (bool split : {false, true})
        for (uint64_t every : {1, 2, 3, 10}) {
            make(split, kRootPortCredits, card_credits(512), {UpdateFc::Guideline, every});
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

// An interrupt is a TLP like any other: replayed behind the write it follows.
TEST_F(PhyTest, ReplayOfAnInterrupt) {
    make(false, kRootPortCredits, card_credits(512), {UpdateFc::Guideline, 1});
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
