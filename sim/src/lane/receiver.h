// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/packet.h"
#include "lane/scrambler.h"
#include "lane/training_set.h"

#include <cstddef>

namespace litepcie::lane {

// What a symbol completed.
enum class Received { Nothing, LogicalIdle, SkipSet, IdleSet, TrainingSet, Packet };

// The receiver of the physical layer: finds ordered sets and packets in the symbols of the lane.
class Receiver {
  public:
    // `symbol` is not kSilence.
    Received take(Symbol symbol);
    // Electrical idle: what was begun is lost.
    void silence();

    const TrainingSet &training_set() const { return set_; }
    // How many of the last training sets were alike, and how many symbols of logical idle came in a row.
    unsigned alike() const { return alike_; }
    unsigned idle() const { return idle_; }
    void forget() { alike_ = idle_ = 0; }
    // Valid until the next packet.
    const Packet &packet() const { return finished_; }

    bool invert = false;  // the wires are swapped
    Scrambler descrambler;
    uint64_t damaged_symbols = 0, damaged_sets = 0, misplaced_symbols = 0;

  private:
    static constexpr size_t kLongest = 4096 + 16 + 4 + 6;  // bytes of a packet

    Received in_set(Symbol symbol);
    Received outside_set(Symbol symbol);
    Received in_packet(Symbol symbol);
    Received finish(bool nullified, bool damaged);
    Received lose_packet();

    unsigned place_ = 0;  // of the next symbol in an ordered set; 0: there is none
    std::array<Symbol, TrainingSet::kSymbols> symbols_{};
    TrainingSet set_;
    unsigned alike_ = 0, idle_ = 0;
    bool inside_ = false;  // a packet has begun
    Packet packet_, finished_;
};

}  // namespace litepcie::lane
