// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/block_side.h"
#include "card/card.h"
#include "link/egress.h"

#include <deque>
#include <functional>
#include <vector>

namespace litepcie {

// The receive side of the card's PHY. It buffers whole TLPs from the host and presents them beat by beat to the card:
// on one stream, or on one for requests and one for completions. A completion is presented only after the card has
// accepted all posted writes that arrived before it, unless it has the Relaxed Ordering attribute (PCIe 4.0 2.4; PG213,
// "Receive Transaction Ordering").
class CardReceive {
  public:
    // `link` is the direction of the TLPs, `back` the direction of the DLLPs that answer them.
    CardReceive(const CardInfo &card, LinkDirection &link, LinkDirection &back);

    // Puts a TLP into the PHY's buffer. Throws Violation if completions overflow it, in number or in data: the card
    // requested more than it can accept, and a real hard block would lose completions. Stray completions do not count,
    // as they are the host's fault.
    void arrive(HostTlp tlp);

    // drive() sets the card's inputs for the next clock edge; clock() removes the beats accepted at that edge.
    void drive(CardInputs &inputs);
    void clock(const CardInputs &inputs, const CardOutputs &outputs);

    // Called when the card accepts the first beat of a TLP, and the last one.
    std::function<void(const HostTlp &)> on_begin, on_end;

    bool empty() const;
    // The most completions, and the most of their data in bytes, that were held at once.
    const CompletionSpace &completion_peak() const { return peak_; }
    void reset();

  private:
    struct Waiting {
        HostTlp tlp;
        uint64_t posted_before;  // number of posted writes that arrived before it
    };
    struct Channel {
        explicit Channel(const BlockSide &side) : block(side) {}
        BlockSide block;
        std::deque<Waiting> waiting;
        size_t in_fabric = 0;  // the first TLPs of `waiting`, which are in the buffer in the fabric
        size_t position = 0;   // dwords of the first TLP that the card has accepted
        bool shown = false;    // the inputs already hold the beat at `position`
    };

    // Bytes of the beat that is next on a channel.
    unsigned beat_bytes(const Channel &channel) const;
    // Beats that a completion takes in the buffer in the fabric.
    unsigned fabric_beats(const HostTlp &tlp) const;
    // Moves completions from the hard block into the buffer in the fabric.
    void fill_fabric(Channel &channel);
    bool may_pass(const Waiting &waiting) const;
    void show_beat(const Channel &channel, RxInput &rx) const;
    void beat_taken(Channel &channel);
    // Frees the buffer space of a TLP and returns its credit.
    void release(const HostTlp &tlp);

    const unsigned dwords_;
    const bool little_endian_;
    const CompletionSpace space_;
    const unsigned fabric_bytes_, fabric_space_;  // bytes of a beat of the buffer in the fabric, and its beats
    unsigned fabric_held_ = 0;                    // beats
    LinkDirection &link_, &back_;
    std::vector<Channel> channels_;
    uint64_t posted_arrived_ = 0, posted_taken_ = 0;
    CompletionSpace held_{}, peak_{};
};

}  // namespace litepcie
