// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The card's streams and their rules, byte order, credits, completion buffers, replay.
#include "card/phy.h"
#include "referee/tlp_checker.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace litepcie;

namespace {
constexpr unsigned kRequests = 0, kCompletions = 1;
constexpr uint16_t kCard = 0x0100, kHost = 0;
constexpr unsigned kDwords = 4;

CardInfo small_card(bool split, CompletionSpace space = {512, 32768}) {
    CardInfo info{2, 4, 32 * kDwords, 125000000, {1 << 21}, 0, 0, 0, 0, 0, 1 << 20, space};
    info.split = split;
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

// The PHY and the link, with a card and a host that the test controls.
class PhyTest : public testing::Test {
  protected:
    void make(bool split, const Credits &root_port = kRootPortCredits, const Credits &card = card_credits(512),
              const PhyPolicy &policy = {}) {
        make(small_card(split), root_port, card, policy);
    }
    void make(const CardInfo &info, const Credits &root_port = kRootPortCredits,
              const Credits &card = card_credits(512), const PhyPolicy &policy = {}) {
        phy = std::make_unique<Phy>(info, root_port, card, policy);
        phy->set_mps(256);
        little = info.little_endian;
        egress.clear();
        beats = {};
        received.clear();
        taken = {};
        sent = 0;
        in = {};
        out = {};
        cycle = 0;
    }

    // Queues the beats of TLPs on a stream of the card.
    void card_sends(unsigned channel, const Tlp &tlp, unsigned times = 1) {
        for (; times; times--)
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
    // Assembles the beats that the card accepted on a stream into the host's TLPs.
    std::vector<uint32_t> taken_dwords(unsigned channel) const {
        std::vector<uint32_t> all;
        for (const Beat &beat : taken[channel])
            all.insert(all.end(), beat.dat, beat.dat + __builtin_popcountll(beat.be) / 4);
        return all;
    }
    // Returns how many TLPs the card can send until it waits for credit, while the host frees no buffer.
    unsigned card_sends_until_it_waits(const Tlp &tlp) {
        host_receives = false;
        card_sends(0, tlp, 200);
        run(8000);
        EXPECT_GT(phy->to_host().counts().credit_wait_cycles, 0u);
        const uint64_t before = phy->to_host().counts().tlps;
        host_receives = true;
        run(8000);
        EXPECT_EQ(phy->to_host().counts().tlps, 200u);  // all freed credits have returned
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
    CardInputs in;
    CardOutputs out;
    Egress egress;
    std::array<std::deque<Beat>, kMaxChannels> beats;
    std::array<bool, kMaxChannels> pause{}, card_takes{true, true};
    std::array<std::vector<Beat>, kMaxChannels> taken;
    bool host_receives = true;
    std::vector<Tlp> received;
    unsigned sent = 0;
    uint64_t cycle = 0;
};

Beat beat(uint32_t value, uint64_t be, bool first, bool last) {
    Beat b{};
    b.dat[0] = value;
    b.be = be;
    b.first = first;
    b.last = last;
    return b;
}
}  // namespace

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
    card_sends(kRequests, write(4), 2);
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
            make(small_card(true, space));
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
        CardInfo card = small_card(true, {1, 64});
        card.fabric_width = 128;
        card.fabric_beats = beats;
        make(card);
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
        make(card);
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
        CardInfo card = small_card(true);
        card.little_endian = true;
        make(card);
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

TEST_F(PhyTest, EachCreditIsExhausted) {
    for (UpdateFc policy : {UpdateFc::Guideline, UpdateFc::Minimum})
        for (const auto &row : kExhausted) {
            make(false, row.credits, card_credits(512), {{policy}});
            EXPECT_EQ(card_sends_until_it_waits(row.tlp), row.sent) << row.tlp.describe();
            make(true, kRootPortCredits, row.credits, {{policy}});
            EXPECT_EQ(host_sends_until_it_waits(row.tlp), row.sent) << row.tlp.describe();
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

// The buffer of a TLP that arrived is free, and its credit announced, only after the time that the root port keeps it.
TEST_F(PhyTest, CreditReturnsAfterATime) {
    constexpr Credits kOne = {{1, 1, Credits::kInfinite}, {16, 16, Credits::kInfinite}};
    auto cycles_of_three = [&](uint64_t kept) {
        make(false, kOne, card_credits(512), {{}, 0, kept});
        card_sends(0, write(64), 3);
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
    card_sends(0, write(64), 5);
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
    card_sends(0, write(64, 0x20000000), 2);
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

TEST(StreamChecker, PutsBeatsTogether) {
    StreamChecker stream(4);
    EXPECT_FALSE(stream.take(beat(1, 0xffff, true, false)));
    EXPECT_TRUE(stream.inside());
    EXPECT_TRUE(stream.take(beat(2, 0x00ff, false, true)));
    EXPECT_FALSE(stream.inside());
    EXPECT_EQ(stream.tlp().dw, (std::vector<uint32_t>{1, 0, 0, 0, 2, 0}));
    EXPECT_TRUE(stream.take(beat(3, 0x0fff, true, true)));
    EXPECT_EQ(stream.tlp().dw.size(), 3u);
}

TEST(StreamChecker, FirstAndByteEnables) {
    StreamChecker stream(4);
    EXPECT_THROW(stream.take(beat(1, 0xffff, false, false)), Violation);
    EXPECT_THROW(stream.take(beat(1, 0x0fff, true, false)), Violation);  // a gap before the end
    EXPECT_THROW(stream.take(beat(1, 0xf0ff, true, true)), Violation);
    EXPECT_THROW(stream.take(beat(1, 0x0000, true, true)), Violation);
    EXPECT_THROW(stream.take(beat(1, 0x0003, true, true)), Violation);
    stream.take(beat(1, 0xffff, true, false));
    EXPECT_THROW(stream.take(beat(1, 0xffff, true, false)), Violation);
    for (unsigned dwords : {2u, 8u, 16u})
        EXPECT_EQ(StreamChecker(dwords).dwords_of(beat(0, ~uint64_t(0) >> (64 - 4 * dwords), true, false)), dwords);
}

TEST(StreamChecker, TlpWithoutAnEnd) {
    StreamChecker stream(4);
    stream.take(beat(1, 0xffff, true, false));
    for (unsigned beats = 2; beats <= (4 + 1024) / 4; beats++)  // the longest header and payload
        stream.take(beat(1, 0xffff, false, false));
    try {
        stream.take(beat(1, 0xffff, false, false));
        ADD_FAILURE() << "a TLP of more than 1028 dwords";
    } catch (const Violation &rule) {
        EXPECT_NE(std::string(rule.what()).find("longer than the longest possible"), std::string::npos) << rule.what();
    }
}

TEST(StreamChecker, HoldsUntilTaken) {
    StreamChecker stream(4);
    stream.observe(true, false, beat(1, 0xffff, true, false));
    stream.observe(true, false, beat(1, 0xffff, true, false));
    stream.observe(true, true, beat(1, 0xffff, true, false));
    stream.observe(false, true, beat(0, 0, false, false));
    stream.observe(true, false, beat(2, 0xffff, true, false));
    EXPECT_THROW(stream.observe(false, false, beat(2, 0xffff, true, false)), Violation);
    stream.reset();
    stream.observe(true, false, beat(2, 0xffff, true, false));
    EXPECT_THROW(stream.observe(true, true, beat(3, 0xffff, true, false)), Violation);
}

TEST(StreamChecker, WhatIsNotEnabledMayChange) {
    StreamChecker stream(4);
    Beat last = beat(1, 0x0fff, true, true);
    stream.observe(true, false, last);
    last.dat[3] = 5;
    EXPECT_NO_THROW(stream.observe(true, false, last));
    last.dat[2] = 5;
    EXPECT_THROW(stream.observe(true, true, last), Violation);
}
