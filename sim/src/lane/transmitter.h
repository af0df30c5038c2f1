// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/packet.h"
#include "lane/scrambler.h"
#include "lane/training_set.h"

#include <random>
#include <vector>

namespace litepcie::lane {

// The transmitter of the physical layer: sets, packets and idle as symbols, one per call, and SKP sets at the intervals
// of PCIe 2.1 4.2.7.1. Those that fall due during a packet follow it, one behind the other.
class Transmitter {
  public:
    static constexpr unsigned kShortestInterval = 1180, kLongestInterval = 1538;

    explicit Transmitter(uint64_t seed) : random_(seed), interval_(next_interval()) {}

    // What was loaded has been sent. Then one of the load functions must be called before the next symbol.
    bool empty() const { return next_ == queue_.size(); }
    Symbol pop() {
        count();
        return scrambler(queue_[next_++], plain_);
    }
    // One symbol of electrical idle or of logical idle, instead of what was loaded.
    Symbol silence();
    Symbol idle() {
        count();
        return scrambler(0);
    }

    // Loads a SKP set if one is due.
    bool load_skip();
    void load(const TrainingSet &set);
    // A damaged packet has no end.
    void load(const Packet &packet);
    void load_idle_set() { load_ordered(kIdl, 3); }
    // Drops the rest of what was loaded.
    void cut() { next_ = queue_.size(); }

    Scrambler scrambler;
    unsigned skips = 3;           // SKP symbols of a set; 0: 1 to 5, as after repeaters
    unsigned fixed_interval = 0;  // symbols between two SKP sets; 0: random ones
    uint64_t skip_sets = 0;

  private:
    void count() {
        if (++since_ >= interval_) {
            since_ = 0;
            interval_ = next_interval();
            due_++;
        }
    }
    unsigned next_interval();
    void load_ordered(Symbol symbol, unsigned count);

    std::minstd_rand random_;
    std::vector<Symbol> queue_;
    size_t next_ = 0;
    bool plain_ = false;
    unsigned since_ = 0, interval_, due_ = 0;
};

}  // namespace litepcie::lane
