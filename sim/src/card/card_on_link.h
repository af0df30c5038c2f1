// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"
#include "common/program.h"

#include <memory>

namespace litepcie {

// A link, a clock and a hard block in place of those that the card was built for. 0 leaves the value as built.
struct LinkOptions {
    unsigned gen = 0, lanes = 0;
    uint64_t clock_hz = 0;
    unsigned block_width = 0;
    uint64_t block_clock_hz = 0;
    uint64_t completion_headers = 0, completion_data = 0;
};

inline void add_link_options(CommandLine &line, LinkOptions &link) {
    line.choice("--gen", "generation of the link, in place of the one the card was built for", link.gen, {1, 2, 3});
    line.choice("--lanes", "lanes of the link, in place of those the card was built for", link.lanes, {1, 2, 4, 8, 16});
    line.number("--clock-hz", "HZ", "clock of the card, in place of the one it was built for", link.clock_hz, 1000000,
                1000000000);
    line.choice("--block-width", "bits of the hard block behind a clock crossing; 0: it limits nothing (0)",
                link.block_width, {0, 64, 128, 256, 512});
    line.number("--block-clock-hz", "HZ", "clock of the hard block behind a clock crossing", link.block_clock_hz,
                1000000, 1000000000);
    line.number("--completion-headers", "N", "completions that the hard block holds", link.completion_headers, 1,
                1 << 20);
    line.number("--completion-data", "BYTES", "data of completions that the hard block holds", link.completion_data, 1,
                1 << 30);
    line.check([&link] {
        if (!link.block_width != !link.block_clock_hz)
            throw UsageError("--block-width needs --block-clock-hz and the other way round; give both or neither");
    });
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
        if (link.completion_headers)
            info_.completion_space.headers = link.completion_headers;
        if (link.completion_data)
            info_.completion_space.data = link.completion_data;
        info_.block_width = link.block_width;
        info_.block_clock_hz = link.block_clock_hz;
    }

    const CardInfo &info() const override { return info_; }
    void settle(CardInputs &inputs, CardOutputs &outputs) override { card_->settle(inputs, outputs); }
    void edge() override { card_->edge(); }

  private:
    std::unique_ptr<Card> card_;
    CardInfo info_;
};

}  // namespace litepcie
