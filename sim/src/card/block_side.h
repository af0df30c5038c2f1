// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"

#include <algorithm>

namespace litepcie {

// Limits a stream of the card to the rate of the hard block's interface, which may have another clock and another
// width. The time that a beat takes to cross the clocks is part of the host's latency.
class BlockSide {
  public:
    // A beat of the block carries parts of `part` bytes, none of two TLPs in one part: all of the beat, or a segment
    // with the straddle option. `ahead` beats may leave at once after a pause.
    BlockSide(const CardInfo &card, unsigned part, unsigned ahead)
        : part_bytes_(part), width_bytes_(card.block_width / 8), clock_(card.block_clock_hz),
          card_clock_(card.clock_hz), most_(clock_ + ahead * card_clock_), left_(most_) {}

    // Once in each clock cycle of the card.
    void clock() { left_ = std::min(left_ + clock_, most_); }
    bool ready() const { return left_ > 0 || !width_bytes_; }
    // `bytes` bytes of a TLP leave. The next ones wait until the interface had the time for them.
    void take(unsigned bytes) {
        if (width_bytes_)
            left_ -= (bytes + part_bytes_ - 1) / part_bytes_ * part_bytes_ * card_clock_ / width_bytes_;
    }

  private:
    // Times are in units that make a cycle of the card `clock_` long, and one of the block `card_clock_`.
    int64_t part_bytes_, width_bytes_;
    int64_t clock_, card_clock_;
    int64_t most_, left_;
};

}  // namespace litepcie
