// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"
#include "common/command_line.h"

#include <memory>

namespace litepcie {

// A link and clock other than those a board was built for; 0: as built.
struct LinkOptions {
    unsigned gen = 0, lanes = 0;
    uint64_t clock_hz = 0;
};

inline void add_link_options(CommandLine &line, LinkOptions &link) {
    line.choice("--gen", "of the link, instead of the board's own", link.gen, {1, 2, 3});
    line.choice("--lanes", "of the link, instead of the board's own", link.lanes, {1, 2, 4, 8, 16});
    line.number("--clock-hz", "HZ", "of the board, instead of its own", link.clock_hz, 1000000, 1000000000);
}

// A board behind another link, or at another clock. Its logic knows neither, but for what its identity registers say
// and for the microseconds of its timers, which it counts in cycles of the clock it was built for.
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
