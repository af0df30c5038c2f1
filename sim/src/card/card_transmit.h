// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/block_side.h"
#include "card/card.h"
#include "card/stream_checker.h"
#include "link/link_direction.h"
#include "link/replay_queue.h"
#include "referee/tlp_checker.h"

#include <deque>
#include <functional>
#include <vector>

namespace litepcie {

// What the card sends to the host: a TLP, or an MSI, which is a posted write on the link.
struct CardItem {
    Tlp tlp;
    bool interrupt = false;
    uint8_t vector = 0;
    bool discarded = false;  // the root port only counts its credits

    TlpClass credit_class() const { return interrupt ? TlpClass::Posted : tlp.credit_class(); }
    unsigned data_credits() const { return interrupt ? 1 : tlp.data_credits(); }
};

// The transmit side of the card's PHY, with one stream, or one for requests and one for completions. It accepts beats
// while at most kBeats of them wait for the wire. A TLP without credit stops its stream.
//
// TLPs leave in the order of their last beats, with one exception. A completion that ends while the card is sending a
// posted write leaves after that write, as no completion may pass a posted write (PCIe 4.0 2.4).
class CardTransmit {
  public:
    static constexpr unsigned kBeats = 4;
    static constexpr unsigned kCrossingBeats = 16;  // that a crossing to the hard block stores

    CardTransmit(const CardInfo &card, LinkDirection &link, ReplayQueue<CardItem> &wire);

    // drive() sets the card's inputs for the next clock edge. clock() accepts the beats and the MSI that the card
    // shows; `interrupt_bytes` is the size of the memory write that an MSI is on the link.
    void drive(uint64_t cycle, CardInputs &inputs);
    void clock(uint64_t cycle, const CardInputs &inputs, const CardOutputs &outputs, unsigned interrupt_bytes);

    // Called with each TLP when its last beat is accepted. The TLP may still wait for credit. False: the root port
    // discards the TLP.
    std::function<bool(const Tlp &)> on_accept;
    // Called while a Violation is handled after which the stream can go on.
    std::function<void(const Violation &)> on_broken = [](const Violation &) { throw; };
    // Called with each MSI that is accepted.
    std::function<void(uint8_t vector)> on_interrupt;

    // Whether no TLP is partly on the wire. A TLP that waits for credit has not begun.
    bool between_tlps() const;
    bool idle() const;
    void reset();

  private:
    struct Channel {
        StreamChecker stream;
        BlockSide block;
        bool credit_wait = false;  // the current TLP waits for credit
        bool discarded = false;    // of the current TLP, once it is accepted
        TlpClass tlp_class = TlpClass::Posted;
        unsigned data = 0;  // data credits of the current TLP

        bool open() const { return stream.inside() || credit_wait; }
    };

    void wait_for_credit(uint64_t cycle, Channel &channel);
    void begin(Channel &channel);
    void observe(StreamChecker &stream, bool valid, bool ready, const Beat &beat);
    void take_beat(uint64_t cycle, Channel &channel, const Beat &beat);
    void end(uint64_t cycle, Channel &channel);
    void take_interrupt(uint64_t cycle, uint8_t vector, unsigned bytes);
    Channel &requests() { return channels_.front(); }

    const unsigned beat_bytes_;
    LinkDirection &link_;
    ReplayQueue<CardItem> &wire_;
    std::vector<Channel> channels_;
    std::deque<CardItem> held_;  // completions that leave after the posted write that the card is sending
};

}  // namespace litepcie
