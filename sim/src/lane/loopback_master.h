// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/symbols.h"

#include <deque>
#include <random>

namespace litepcie::lane {

// What a loopback master sends, and how it compares what comes back (PCIe 2.1 4.2.6.10.2): a mark, then random data and
// control symbols with SKP sets between them. SKP symbols are not compared, as the slave may add and remove them.
class LoopbackMaster {
  public:
    explicit LoopbackMaster(uint64_t seed) : random_(seed) {}

    // Loopback.Active begins.
    void begin();
    // The next symbol to be sent.
    Symbol next();
    // A symbol came back.
    void take(Symbol symbol);

    uint64_t compared() const { return compared_; }
    uint64_t wrong() const { return wrong_; }

  private:
    static constexpr unsigned kMark = 8;  // PAD in a row, as in no set

    Symbol any();

    std::minstd_rand random_;
    std::deque<Symbol> set_{}, expected_{};
    unsigned mark_left_ = 0, marks_seen_ = 0, until_skip_ = 0;
    uint64_t compared_ = 0, wrong_ = 0;
};

}  // namespace litepcie::lane
