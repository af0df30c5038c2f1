// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/elastic_buffer.h"
#include "lane/root_port.h"

#include <deque>
#include <functional>

namespace litepcie::lane {

// The boundary of an endpoint in gateware to its SerDes, as gateware/phy/soft/symbols.py has it.
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
