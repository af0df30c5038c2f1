// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The whole model with a card that sends damaged and random TLPs, beat by beat.
#include "machine/model.h"
#include "tlp/random_tlps.h"

#include <gtest/gtest.h>

#include <deque>
#include <set>

using namespace litepcie;

namespace {
constexpr uint32_t kBar0 = 0xe0000000;

// A card of any width that shows beats of the TLPs it is given, and answers the host's reads with any TLP.
class NoisyCard : public Card {
  public:
    explicit NoisyCard(RandomTlps &random) : random_(random) {
        const unsigned width = 64u << random.below(4);
        info_ = {2, 4, width, 1000000, {1 << 21}, 0x1234, 0x1ce0, 0, 0, 0x058000, 1 << 20, {512, 32768}};
        info_.split = random.one_in(2);
        info_.little_endian = random.one_in(2);
        info_.msi_vectors = 4;
        info_.memory_channels = 2;
        info_.streams = 1;
    }
    const CardInfo &info() const override { return info_; }

    void settle(CardInputs &inputs, CardOutputs &outputs) override {
        outputs.rx_ready.fill(true);
        outputs.msi_valid = msi_;
        outputs.msi_vector = uint8_t(msi_ - 1);
        msi_ = inputs.msi_ready ? 0 : msi_;
        for (unsigned i = 0; i < kMaxChannels; i++) {
            outputs.tx_valid[i] = !beats_[i].empty();
            if (beats_[i].empty())
                continue;
            outputs.tx[i] = beats_[i].front();
            if (inputs.tx_ready[i])
                beats_[i].pop_front();
        }
        for (const RxInput &rx : inputs.rx) {
            if (!rx.valid)
                continue;
            if (rx.beat.first)
                request_.dw.clear();
            request_.dw.insert(request_.dw.end(), rx.beat.dat, rx.beat.dat + __builtin_popcountll(rx.beat.be) / 4);
            if (rx.beat.last && request_.is_memory_read() && request_.dw.size() >= 3)
                send(random_.one_in(2) ? random_.completion(request_) : random_.any(request_));
        }
    }
    void edge() override {}

    // Queues the beats of a TLP; some of them break the rules of the stream.
    void send(const Tlp &tlp) {
        const unsigned dwords = info_.data_width / 32;
        const bool wrong_stream = random_.one_in(32);
        const unsigned channel = info_.split && tlp.is_completion() != wrong_stream ? 1 : 0;
        for (size_t at = 0; at < tlp.dw.size(); at += dwords) {
            Beat beat{};
            const unsigned n = std::min<size_t>(dwords, tlp.dw.size() - at);
            for (unsigned i = 0; i < n; i++)
                beat.dat[i] = info_.little_endian && at + i >= tlp.header_dwords() ? __builtin_bswap32(tlp.dw[at + i])
                                                                                   : tlp.dw[at + i];
            beat.be = ~uint64_t(0) >> (64 - 4 * n);
            beat.first = at == 0;
            beat.last = at + n == tlp.dw.size();
            if (random_.one_in(512))
                beat.be = random_.edge();
            if (random_.one_in(512))
                (random_.one_in(2) ? beat.first : beat.last) ^= true;
            beats_[channel].push_back(beat);
        }
    }
    void interrupt(unsigned vector) { msi_ = vector + 1; }
    bool empty() const { return beats_[0].empty() && beats_[1].empty() && !msi_; }

  private:
    RandomTlps &random_;
    CardInfo info_;
    std::array<std::deque<Beat>, kMaxChannels> beats_;
    unsigned msi_ = 0;
    Tlp request_;
};

void set(Model &model, unsigned offset, uint32_t value, unsigned bytes) {
    model.config_write(offset, reinterpret_cast<const uint8_t *>(&value), bytes);
}

// Sends TLPs until one breaks a rule; returns the rule, or nothing if none of them did.
std::string run(RandomTlps &random, unsigned &sent) {
    EndlessMemory memory;
    NoisyCard card(random);
    ModelOptions options;
    options.trace = "/dev/null";
    options.mps_supported = 1024;
    options.reorder = options.split_at_random = random.one_in(2);
    options.lcrc_every = random.one_in(4) ? 3 : 0;
    if (random.one_in(2))
        options.credits = {{16, 18, Credits::kInfinite}, {80, 18, Credits::kInfinite}};
    Model model(card, memory, options);
    set(model, 0x10, kBar0, 4);
    set(model, 0x68, random.below(4) << 5 | 0x5000 | random.below(2) << 8, 2);
    set(model, 0x4a, 0x81 | random.below(3) << 4, 2);
    set(model, 0x04, random.one_in(16) ? 2 : 6, 2);
    try {
        for (unsigned n = 1 + random.below(12); n; n--, sent++) {
            const Tlp read = Tlp::memory_read(RandomTlps::kHost, uint8_t(random.below(32)), kBar0, 4);
            card.send(random.one_in(2) ? random.request() : random.any(read));
            if (random.one_in(16))
                card.interrupt(random.below(5));
            uint8_t data[128];
            if (random.one_in(8))
                model.load(random.below(0x1000 - 128), data, 1 + random.below(128));
            // The longest TLP takes 520 beats; with the credits of others before it and replays some times as many.
            unsigned cycles = 0;
            while (!card.empty() && ++cycles < 20000)
                model.step();
            if (!card.empty())
                return "hang";
        }
        for (unsigned i = 0; i < 4096; i++)
            model.step();
    } catch (const Violation &violation) {
        return violation.what();
    }
    return "";
}
}  // namespace

// The run of each card ends with the name of a rule, or all its TLPs were served.
TEST(ModelFuzz, EndsWithARuleOrGoesOn) {
    RandomTlps random(fuzz_seed());
    std::set<std::string> rules;
    unsigned whole = 0, sent = 0;
    for (const unsigned end = fuzz_tlps(4000); sent < end;) {
        const std::string rule = run(random, sent);
        ASSERT_NE(rule, "hang") << "after " << sent << " TLPs";
        whole += rule.empty();
        rules.insert(rule.substr(0, rule.find_first_of("0123456789\n")));
    }
    EXPECT_GT(whole, 0u);
    EXPECT_GE(rules.size(), 20u);
}
