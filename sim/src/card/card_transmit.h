// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"
#include "card/stream_checker.h"
#include "link/link_direction.h"
#include "link/replay_queue.h"

#include <deque>
#include <functional>
#include <vector>

namespace litepcie {

// What comes from the card: a TLP, or its request for an interrupt.
struct CardItem {
    Tlp tlp;
    bool interrupt = false;
    uint8_t vector = 0;

    TlpClass credit_class() const { return interrupt ? TlpClass::Posted : tlp.credit_class(); }
    unsigned data_credits() const { return interrupt ? 1 : tlp.data_credits(); }
};

// The transmit side of the card's PHY: one stream, or one for requests and one for completions. Beats are taken as long
// as no more than kBeats of them wait for the wire; a TLP whose class has no credit stops its stream.
//
// Order is that of last beats, but a completion whose last beat comes while a posted write is under way stays behind
// that: no completion passes a posted write (PCIe 4.0 2.4).
class CardTransmit {
  public:
    static constexpr unsigned kBeats = 4;

    CardTransmit(const CardInfo &card, LinkDirection &link, ReplayQueue<CardItem> &wire);

    // Inputs for the coming clock edge; then what happens at it, from what the board showed. `interrupt_bytes` is the
    // size of the memory write an MSI is.
    void drive(uint64_t cycle, CardInputs &inputs);
    void clock(uint64_t cycle, const CardInputs &inputs, const CardOutputs &outputs, unsigned interrupt_bytes);

    // Called with each TLP when its last beat is taken, before it is on the wire.
    std::function<void(const Tlp &)> on_accept;

    // No TLP is on the wire in part. One that waits for credit is not on it yet.
    bool between_tlps() const;
    bool idle() const;
    void reset();

  private:
    struct Channel {
        StreamChecker stream;
        bool credit_wait = false;  // the TLP that began has no credit yet
        TlpClass tlp_class = TlpClass::Posted;
        unsigned data = 0;  // credits

        bool open() const { return stream.inside() || credit_wait; }
    };

    void wait_for_credit(uint64_t cycle, Channel &channel);
    void begin(Channel &channel);
    void take_beat(uint64_t cycle, Channel &channel, const Beat &beat);
    void end(uint64_t cycle, Channel &channel);
    void take_interrupt(uint64_t cycle, uint8_t vector, unsigned bytes);
    Channel &requests() { return channels_.front(); }

    const unsigned beat_bytes_;
    LinkDirection &link_;
    ReplayQueue<CardItem> &wire_;
    std::vector<Channel> channels_;
    std::deque<Tlp> held_;  // completions behind the posted write under way
};

}  // namespace litepcie
