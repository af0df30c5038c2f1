// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/data_link.h"
#include "lane/framing.h"
#include "lane/packet.h"
#include "lane/training.h"

#include <array>
#include <deque>
#include <functional>

namespace litepcie::lane {

struct RootPortOptions {
    TrainingOptions training;
    DataLinkOptions data_link;
    unsigned skips = 3;          // SKP symbols of a set; 0: 1 to 5
    unsigned skip_interval = 0;  // symbols between two SKP sets; 0: random ones
    unsigned damage_every = 0;   // one TLP of the card in so many arrives damaged, on average; 0: none
};

// A root port with one lane: one symbol in, one symbol out.
class RootPort {
  public:
    RootPort(const RootPortOptions &options, uint64_t seed);

    Symbol step(Symbol symbol);

    Training &training() { return training_; }
    const Training &training() const { return training_; }
    DataLink &data_link() { return data_link_; }
    const DataLink &data_link() const { return data_link_; }
    FaultInjector &faults() { return faults_; }
    const Receiver &receiver() const { return receiver_; }
    const Transmitter &transmitter() const { return transmitter_; }
    const LoopbackMaster &loopback_master() const { return master_; }
    uint64_t idle_sets() const { return idle_sets_; }  // EIOS received
    uint64_t damaged() const { return damaged_; }
    uint64_t injected() const { return faults_.injected(); }

  private:
    void take(Symbol symbol);
    Symbol give();
    Symbol give_data();
    Symbol give_loopback();
    const Packet *next_packet();

    std::minstd_rand random_;
    Receiver receiver_;
    Transmitter transmitter_;
    Training training_;
    DataLink data_link_;
    FaultInjector faults_;
    LoopbackMaster master_;
    unsigned damage_every_;
    uint64_t damaged_ = 0, idle_sets_ = 0;
    Training::Send loaded_ = Training::Send::Silence;  // what the transmitter holds
    bool was_active_ = false;
};

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

// The boundary of an endpoint in gateware to its SerDes, as gateware/endpoint/serdes/interface.py has it.
struct SerDesInputs {
    uint16_t rx_data = 0;
    uint8_t rx_k = 0, rx_error = 0;
    bool rx_valid = false, rx_idle = true, rx_overflow = false;
    bool ready = false, detect_done = false, detect_present = false;
};
struct SerDesOutputs {
    uint16_t tx_data = 0;
    uint8_t tx_k = 0, tx_idle = 3;
    bool polarity = false, detect = false;
};

struct LaneOptions {
    int drift = 0;                   // of the clock of the root port, in millionths
    bool down_swapped = false;       // the wires to the card are swapped
    bool up_swapped = false;         // the wires to the root port are swapped
    unsigned down_shift = 0;         // symbols, 0 or 1, by which words begin late at the card
    unsigned up_shift = 0;           // the same at the root port
    unsigned down_errors_every = 0;  // one damaged symbol in so many on average, in L0; 0: none
    unsigned up_errors_every = 0;
    bool absent = false;           // receiver detection finds nobody, and nothing comes
    bool silent = false;           // a receiver is found, but nothing comes
    unsigned delay = 0;            // cycles that a symbol takes in each direction
    unsigned reset_cycles = 20;    // until the SerDes is ready
    unsigned detect_cycles = 500;  // that receiver detection takes
};

// The lane between a root port and the SerDes of an endpoint, with the clocks, wires and errors of both directions.
class SerDesLane {
  public:
    SerDesLane(const LaneOptions &options, const RootPortOptions &port, uint64_t seed);

    // One cycle of the endpoint: what it drives, and what it sees at the next clock edge.
    void clock(const SerDesOutputs &endpoint, SerDesInputs &inputs);

    // If set, called in each cycle of the root port with what the receiver of the SerDes sees, on its own clock. The
    // endpoint then has an elastic buffer of its own, and of its inputs only those without rx_ count, and rx_idle.
    std::function<void(Pair)> line;

    RootPort &port() { return port_; }
    const RootPort &port() const { return port_; }
    uint64_t injected() const { return down_.injected + up_.injected; }
    uint64_t added() const { return down_.buffer.added + up_.buffer.added; }
    uint64_t removed() const { return down_.buffer.removed + up_.buffer.removed; }

  private:
    struct Direction {
        ElasticBuffer buffer;
        bool swapped;
        unsigned shift, errors_every;
        std::deque<Pair> wire{};  // on their way
        Symbol late = kSilence;   // a symbol that waits for its pair
        uint64_t until_error = 0, injected = 0;
        bool flagged = false;  // the next symbol shows the error of the one before
    };

    void step_port();
    Pair sent(Direction &direction, Pair pair);
    Symbol damaged(Direction &direction, Symbol symbol);
    void draw(Direction &direction);
    void detect(const SerDesOutputs &endpoint, SerDesInputs &inputs);

    LaneOptions options_;
    std::mt19937_64 random_;
    RootPort port_;
    Direction down_, up_;
    uint64_t cycle_ = 0, phase_ = 0;
    unsigned detecting_ = 0;
    bool silent_ = true;
    bool detected_ = false;
};

}  // namespace litepcie::lane
