// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/symbols.h"

#include <array>

namespace litepcie::lane {

// Two symbols that move in one cycle of 125 MHz, the first one in `first`.
struct Pair {
    Symbol first = kSilence, second = kSilence;
};

// The elastic buffer between two clocks (PCIe 2.1 4.2.7): whole pairs of SKP are dropped or repeated.
class ElasticBuffer {
  public:
    void push(Pair pair) {
        if (size() == kDepth) {
            lost_ = true;
            read_ = written_;
        }
        pairs_[written_++ % kDepth] = pair;
    }
    // The next pair; false while the buffer fills.
    bool pop(Pair &pair) {
        if (!running_ && size() < kMiddle)
            return false;
        running_ = true;
        if (size() > kMiddle + 1 && skip(read_))
            read_++, removed++;
        if (size() == 0) {
            running_ = false;
            lost_ = true;
            return false;
        }
        pair = pairs_[read_ % kDepth];
        if (size() < kMiddle - 1 && skip(read_) && !repeated_) {
            repeated_ = true, added++;
            return true;
        }
        repeated_ = false;
        read_++;
        return true;
    }
    // Symbols were lost, or there were none; said once.
    bool lost() {
        const bool lost = lost_;
        lost_ = false;
        return lost;
    }

    uint64_t added = 0, removed = 0;

  private:
    static constexpr unsigned kDepth = 16, kMiddle = 6;

    unsigned size() const { return unsigned(written_ - read_); }
    bool skip(uint64_t place) const {
        const Pair &pair = pairs_[place % kDepth];
        return place != written_ && pair.first == kSkp && pair.second == kSkp;
    }

    std::array<Pair, kDepth> pairs_;
    uint64_t written_ = 0, read_ = 0;
    bool running_ = false, repeated_ = false, lost_ = false;
};

}  // namespace litepcie::lane
