// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"
#include "common/command_line.h"

#include <memory>

namespace litepcie {

// A link and a clock in place of those that the card was built for. 0 leaves the value as built.
struct LinkOptions {
    unsigned gen = 0, lanes = 0;
    uint64_t clock_hz = 0;
};

inline void add_link_options(CommandLine &line, LinkOptions &link) {
    line.choice("--gen", "generation of the link, in place of the one the card was built for", link.gen, {1, 2, 3});
    line.choice("--lanes", "lanes of the link, in place of those the card was built for", link.lanes, {1, 2, 4, 8, 16});
    line.number("--clock-hz", "HZ", "clock of the card, in place of the one it was built for", link.clock_hz, 1000000,
                1000000000);
}

// A card that runs on another link, or with another clock, than it was built for. The card's logic depends on neither,
// with two exceptions: its identity registers show the values it was built for, and its timers count microseconds in
// cycles of the clock it was built for.
class CardOnLink : public Card {
  public:
    CardOnLink(std::unique_ptr<Card> card, const LinkOptions &link) : card_(std::move(card)), info_(card_->info()) {
        if (link.gen)
            info_.gen = link.gen;
        if (link.lanes)
            info_.lanes = link.lanes;
        if (link.clock_hz)
            info_.clock_hz = link.clock_hz;
    }

    const CardInfo &info() const override { return info_; }
    void settle(CardInputs &inputs, CardOutputs &outputs) override { card_->settle(inputs, outputs); }
    void edge() override { card_->edge(); }

  private:
    std::unique_ptr<Card> card_;
    CardInfo info_;
};

}  // namespace litepcie
