// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/phy.h"

#include <gtest/gtest.h>

#include <numeric>

namespace litepcie {

constexpr unsigned kRequests = 0, kCompletions = 1;
constexpr uint16_t kCard = 0x0100, kHost = 0;
constexpr unsigned kDwords = 4;

inline CardInfo small_card(bool split, bool little_endian = false) {
    CardInfo info{2, 4, 32 * kDwords, 125000000, 1 << 21, 0, 0, 0, 0, 0, 1 << 20, {512, 32768}};
    info.split = split;
    info.little_endian = little_endian;
    return info;
}

inline Tlp write(unsigned bytes, uint64_t address = 0x10000000) {
    std::vector<uint8_t> data(bytes);
    std::iota(data.begin(), data.end(), 1);
    return Tlp::memory_write(kCard, address, data.data(), bytes);
}
inline Tlp read(uint8_t tag = 0) { return Tlp::memory_read(kCard, tag, 0x10000000, 256); }
inline Tlp completion(unsigned bytes) {
    std::vector<uint8_t> data(bytes, 0x55);
    return Tlp::completion_data(kCard, kHost, 0, bytes, 0, data.data(), bytes / 4);
}

// The PHY and the link, with a card and a host that the test controls.
class PhyTest : public testing::Test {
  protected:
    void make(bool split, const Credits &root_port = kRootPortCredits, const Credits &card = card_credits(512),
              const PhyPolicy &policy = {}, bool little_endian = false) {
        make(split, small_card(split, little_endian), root_port, card, policy);
        little = little_endian;
    }
    void make(bool split, const CompletionSpace &space) {
        CardInfo info = small_card(split);
        info.completion_space = space;
        make(split, info);
    }
    void make(bool, const CardInfo &info, const Credits &root_port = kRootPortCredits,
              const Credits &card = card_credits(512), const PhyPolicy &policy = {}) {
        phy = std::make_unique<Phy>(info, root_port, card, policy);
        phy->set_mps(256);
        little = false;
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
        for (int i = 0; i < 200; i++)
            card_sends(0, tlp);
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

}  // namespace litepcie
