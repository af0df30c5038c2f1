// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "monitor.h"

#include <memory>
#include <random>

class Vlitepcie_soc_sim;

namespace judge {

struct LaneOptions {
    bool shifted = false;             // the host's symbols are late by one, so its COM is in the other half of a word
    int rates = -1;                   // that the host advertises in its training sets; -1: the model's
    unsigned damage_requests = 0;     // one TLP of the host in so many is damaged, when it is sent for the first time
    unsigned damage_acks = 0;         // the same for its ACKs
    unsigned damage_completions = 0;  // and for TLPs of the endpoint
    uint64_t most_symbols = 1000000;  // that the case may take
};

// One lane between the model of a host and the Verilated card, symbol by symbol and without a difference of clocks.
//
// It also hides from each side that the model takes the number in a NAK for that of the damaged TLP. PCIe 2.1 3.5.2.1
// has the number of the last good one there. A NAK of the model gets the number before. A NAK of the card gets the
// largest number, for which the model sends again all that it has. And the model does not know that training can end a
// packet early: it gets an END for the first COM then.
class Lane {
  public:
    explicit Lane(const LaneOptions &options);
    ~Lane();

    // One symbol in each direction. Returns the card's.
    unsigned exchange(unsigned symbol);
    void host_idle(bool idle);
    bool card_idle() const { return card_idle_; }

    Monitor &monitor() { return monitor_; }
    unsigned damaged() const { return damaged_; }
    // In Loopback: symbols after which the card returns the host's, all of the last ones; -1: it did not.
    void loopback(bool on) { loopback_ = on, monitor_.loopback(on); }
    int echo() const { return echo_; }

    LaneOptions options;

  private:
    // What is changed in one direction.
    struct Direction {
        Wire wire{};
        std::array<uint8_t, 7> dllp{};  // as it leaves
        unsigned sequence = 0, next = 0, hit = 0;
    };

    unsigned down(unsigned symbol);
    unsigned up(unsigned symbol);
    unsigned renumber(Direction &direction, const Place &place, unsigned symbol);
    unsigned damage_tlp(Direction &direction, const Place &place, unsigned symbol, unsigned every);
    unsigned damage(unsigned symbol);
    void clock(unsigned first, unsigned second);
    void edge(uint8_t &clock);

    std::unique_ptr<Vlitepcie_soc_sim> card_;
    Monitor monitor_;
    Direction down_, up_;
    std::mt19937 random_;
    std::deque<unsigned> to_card_{}, from_card_{}, sent_{}, came_{};
    unsigned time_ = 0, detecting_ = 0, damaged_ = 0;
    bool host_idle_ = true, card_idle_ = true, detected_ = false, loopback_ = false;
    int echo_ = -1;
};

}  // namespace judge
