// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// A root port whose partner sends damaged and hostile symbols, and then becomes a correct card.
#include "lane/hostile_partner.h"

#include <gtest/gtest.h>

#include <set>

using namespace litepcie;
using namespace litepcie::lane;

namespace {
constexpr uint64_t kMillisecond = 1000 * kSymbolsPerMicrosecond;

class StormFuzz : public testing::Test {
  protected:
    StormFuzz() : random(fuzz_seed()), card(fuzz_seed()), port(options(), fuzz_seed()) {
        port.training().entered = [this](LinkState state) {
            entered.insert(state);
            began |= state == LinkState::DetectQuiet;
        };
    }
    static RootPortOptions options() {
        RootPortOptions options;
        options.damage_every = 50;
        options.data_link.power_limit = 0x1fa;
        return options;
    }
    void step() {
        to_card = port.step(to_port);
        to_port = card.step(to_card);
        for (Tlp tlp; port.data_link().receive(tlp); port.data_link().release(tlp))
            at_host = tlp.hex();
        for (Tlp tlp; card.link.receive(tlp); card.link.release(tlp))
            at_card = tlp.hex();
    }
    bool run(uint64_t symbols, const std::function<bool()> &done) {
        for (; symbols && !done(); symbols--)
            step();
        return done();
    }
    // What the host asks of its port while the card rages.
    void ask() {
        Training &training = port.training();
        switch (random.below(8)) {
        case 0: training.retrain(); break;
        case 1: training.hot_reset(); break;
        case 2: random.one_in(2) ? training.disable() : training.enable(); break;
        case 3: random.one_in(4) ? training.loopback() : training.end_loopback(); break;
        default: port.data_link().send(random.request());
        }
    }
    void storm() {
        card.hostile = true;
        for (unsigned left = 1000 + random.below(20000); left; left--) {
            step();
            if (random.one_in(2000))
                ask();
        }
        port.training().enable();
        port.training().end_loopback();
    }
    // A TLP each way.
    void works() {
        ASSERT_TRUE(run(kMillisecond, [&] { return port.data_link().up() && card.link.up(); }));
        const Tlp down = random.request(), up = random.request();
        at_card = at_host = "";
        port.data_link().send(down);
        card.link.send(up);
        ASSERT_TRUE(run(kMillisecond, [&] { return at_card == down.hex() && at_host == up.hex(); }));
    }

    RandomTlps random;
    HostilePartner card;
    RootPort port;
    Symbol to_card = kSilence, to_port = kSilence;
    std::string at_card, at_host;
    std::set<LinkState> entered;
    bool began = false;
};
}  // namespace

// The host resets the link, and the card is a correct one.
TEST_F(StormFuzz, AResetEndsIt) {
    for (unsigned n = fuzz_tlps(4000) / 200; n; n--) {
        ASSERT_NO_FATAL_FAILURE(works()) << n;
        storm();
        card.reset();
        began = false;
        port.training().hot_reset();
        ASSERT_TRUE(run(100 * kMillisecond, [&] { return began; })) << info(port.training().state()).name << n;
        ASSERT_TRUE(run(20 * kMillisecond, [&] { return port.data_link().up(); }))
            << info(port.training().state()).name << n;
    }
    ASSERT_NO_FATAL_FAILURE(works());
    for (const LinkState state : {LinkState::RecoveryIdle, LinkState::L1, LinkState::HotReset, LinkState::Disabled})
        EXPECT_TRUE(fuzz_tlps(4000) < 4000 || entered.count(state)) << info(state).name;
    EXPECT_GT(port.data_link().counts().protocol_errors, 0u);
}

// STP and END with nothing between them. Such a packet must not be damaged either.
TEST_F(StormFuzz, PacketsWithoutBytes) {
    ASSERT_NO_FATAL_FAILURE(works());
    for (unsigned i = 0; i < 1000; i++)
        card.add(Packet());
    run(20000, [] { return false; });
    EXPECT_GT(port.data_link().counts().bad_tlps, 500u);
    ASSERT_NO_FATAL_FAILURE(works());
}

// Nobody resets it: the card is silent for a time, as one that is powered on again.
TEST_F(StormFuzz, SilenceEndsIt) {
    for (unsigned n = 1 + fuzz_tlps(4000) / 2000; n; n--) {
        ASSERT_NO_FATAL_FAILURE(works()) << n;
        storm();
        card.reset();
        began = false;
        for (uint64_t i = 0; i < 75 * kMillisecond && !began; i++)
            port.step(kSilence);
        to_port = to_card = kSilence;
        // In L1 and L2, silence is what the port expects. Then symbols wake it.
        ASSERT_TRUE(run(150 * kMillisecond, [&] { return began && port.data_link().up(); }))
            << info(port.training().state()).name << n;
    }
    ASSERT_NO_FATAL_FAILURE(works());
}
