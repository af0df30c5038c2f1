// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The stack of the endpoint in gateware, compiled by Verilator, with a producer and a consumer of TLPs above it.
#pragma once

#include "Vtop.h"
#include "serdes_pins.h"
#include "tlp/tlp.h"

#include <array>
#include <deque>
#include <functional>
#include <random>
#include <vector>

using litepcie::Tlp;

class Endpoint {
  public:
    // Of physical/states.py.
    static constexpr unsigned kPollingActive = 2, kL0 = 10, kLoopback = 16;

    // `stalls`: the share of cycles, in percent, in which a received word is not taken; `pauses`: in which no TLP
    // begins.
    Endpoint(uint64_t seed, unsigned stalls, unsigned pauses) : random_(seed), stalls_(stalls), pauses_(pauses) {
        reset();
    }
    ~Endpoint() { top_.final(); }

    // PERST#.
    void reset() {
        top_.sys_rst = 1;
        cycle();
        top_.sys_rst = 0;
    }

    void send(const Tlp &tlp) { queues_[unsigned(tlp.credit_class())].push_back(tlp); }
    bool dl_up() const { return top_.dl_up; }
    unsigned state() const { return top_.state; }
    size_t waiting(litepcie::TlpClass tlp_class) const { return queues_[unsigned(tlp_class)].size(); }
    std::vector<Tlp> received;
    // Called with each received TLP.
    std::function<void(Tlp)> took = [this](Tlp tlp) { received.push_back(std::move(tlp)); };
    // Pulses: LCRC errors, DLLP errors, NAKs sent and received, replays, timeouts, protocol errors, overflows.
    std::array<uint64_t, 8> events{};
    // The received symbols go through the elastic buffer in gateware, on the clock of the line.
    bool elastic = false;
    uint64_t elastic_added = 0, elastic_removed = 0;
    uint64_t early = 0;  // cycles with symbols in Detect, before the first training

    // One cycle of the lane and of the endpoint.
    void clock(litepcie::lane::SerDesLane &lane) {
        trained_ |= top_.state >= kPollingActive;
        early += top_.serdes_tx_idle != 3 && !trained_;
        if (elastic)
            lane.line = [this](litepcie::lane::Pair pair) { line(pair); };
        clock_lane(lane, top_, in_);
        offer(0, top_.posted_valid, top_.posted_payload_data, top_.posted_first, top_.posted_last);
        offer(1, top_.nonposted_valid, top_.nonposted_payload_data, top_.nonposted_first, top_.nonposted_last);
        offer(2, top_.completion_valid, top_.completion_payload_data, top_.completion_first, top_.completion_last);
        top_.received_ready = random_() % 100 >= stalls_;
        cycle();
    }

  private:
    void cycle() {
        top_.sys_clk = 0;
        top_.eval();
        const bool accepted[] = {top_.posted_valid && top_.posted_ready, top_.nonposted_valid && top_.nonposted_ready,
                                 top_.completion_valid && top_.completion_ready};
        const bool taken = top_.received_valid && top_.received_ready;
        const unsigned word = top_.received_payload_data;
        const bool first = top_.received_first, last = top_.received_last;
        for (unsigned i = 0; i < events.size(); i++)
            events[i] += top_.events >> i & 1;
        elastic_added += top_.line_added;
        top_.sys_clk = 1;
        top_.eval();
        top_.free_ph = top_.free_pd = top_.free_nph = top_.free_npd = 0;
        for (unsigned i = 0; i < 3; i++)
            if (accepted[i])
                advance(i);
        if (taken)
            take(word, first, last);
    }

    // A cycle of the received clock. It stands still while the lane is silent, after some symbols that nobody has sent.
    void line(litepcie::lane::Pair pair) {
        using namespace litepcie::lane;
        const bool silent = (pair.first | pair.second) & kSilence;
        steady_ = silent ? 0 : steady_ + 1;
        run_on_ = silent ? run_on_ - (run_on_ > 0) : kRunOn;
        top_.use_elastic = 1;
        top_.line_ready = steady_ > kSteady || (top_.line_ready && silent && run_on_);
        if (silent && !run_on_)
            return;
        if (silent)
            pair = {kDamaged, kDamaged};
        if (top_.serdes_polarity)
            pair = {inverted(pair.first), inverted(pair.second)};
        top_.line_data = uint16_t((pair.first & 0xff) | (pair.second & 0xff) << 8);
        top_.line_k = (pair.first & kControl ? 1 : 0) | (pair.second & kControl ? 2 : 0);
        top_.line_error = (pair.first & kDamaged ? 1 : 0) | (pair.second & kDamaged ? 2 : 0);
        top_.pcie_rx_clk = 0;
        top_.eval();
        elastic_removed += top_.line_removed;
        top_.pcie_rx_clk = 1;
        top_.eval();
    }

    // One word of the first TLP of a class; after its first word, one in every cycle.
    void offer(unsigned i, uint8_t &valid, uint16_t &data, uint8_t &first, uint8_t &last) {
        if (queues_[i].empty() || !top_.dl_up || (places_[i] == 0 && random_() % 100 < pauses_)) {
            valid = valid && !queues_[i].empty();
            return;
        }
        const Tlp &tlp = queues_[i].front();
        const uint32_t dword = tlp.dw[places_[i] / 2];
        const unsigned half = places_[i] % 2 ? dword & 0xffff : dword >> 16;
        valid = 1;
        data = uint16_t(half >> 8 | half << 8);
        first = places_[i] == 0;
        last = places_[i] == 2 * tlp.dw.size() - 1;
    }
    void advance(unsigned i) {
        if (++places_[i] == 2 * queues_[i].front().dw.size()) {
            places_[i] = 0;
            queues_[i].pop_front();
            (i == 0 ? top_.posted_valid : i == 1 ? top_.nonposted_valid : top_.completion_valid) = 0;
        }
    }

    void take(unsigned word, bool first, bool last) {
        if (first)
            words_.clear();
        words_.push_back(uint16_t(word >> 8 | word << 8));
        if (!last)
            return;
        Tlp tlp;
        for (size_t i = 0; i + 1 < words_.size(); i += 2)
            tlp.dw.push_back(uint32_t(words_[i]) << 16 | words_[i + 1]);
        const unsigned data = tlp.data_credits();
        if (tlp.credit_class() == litepcie::TlpClass::Posted)
            top_.free_ph = 1, top_.free_pd = data;
        else if (tlp.credit_class() == litepcie::TlpClass::NonPosted)
            top_.free_nph = 1, top_.free_npd = data;
        took(std::move(tlp));
    }

    Vtop top_;
    std::minstd_rand random_;
    unsigned stalls_, pauses_;
    bool trained_ = false;
    static constexpr unsigned kSteady = 50;  // cycles of the line until the receiver is ready
    static constexpr unsigned kRunOn = 16;   // cycles of the line until it sees that the lane is silent
    unsigned steady_ = 0, run_on_ = 0;
    litepcie::lane::SerDesInputs in_;
    std::array<std::deque<Tlp>, 3> queues_;
    std::array<size_t, 3> places_{};
    std::vector<uint16_t> words_;
};

inline litepcie::Tlp random_tlp(std::minstd_rand &random) {
    uint8_t data[128];
    for (auto &byte : data)
        byte = uint8_t(random() >> 8);
    const uint64_t address = random() % 3 ? 0x1000 * (random() % 1000) : 0x123400000000 + 4 * (random() % 1000);
    switch (random() % 3) {
    case 0: return litepcie::Tlp::memory_write(0x0100, address, data, 1 + random() % 120);
    case 1: return litepcie::Tlp::memory_read(0x0100, random() % 256, address, 1 + random() % 500);
    default: return litepcie::Tlp::completion_data(0x0100, 0, random() % 256, 128, 0, data, 1 + random() % 32);
    }
}

// Whether all TLPs arrived once, and in the order of their class.
inline bool same(const std::vector<litepcie::Tlp> &sent, const std::vector<litepcie::Tlp> &received) {
    if (sent.size() != received.size())
        return false;
    for (unsigned i = 0; i < litepcie::kTlpClasses; i++) {
        std::vector<std::vector<uint32_t>> one, other;
        for (const litepcie::Tlp &tlp : sent)
            if (unsigned(tlp.credit_class()) == i)
                one.push_back(tlp.dw);
        for (const litepcie::Tlp &tlp : received)
            if (unsigned(tlp.credit_class()) == i)
                other.push_back(tlp.dw);
        if (one != other)
            return false;
    }
    return true;
}
