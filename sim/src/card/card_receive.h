// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"
#include "link/egress.h"

#include <deque>
#include <functional>
#include <vector>

namespace litepcie {

// The receive side of the card's PHY. It buffers whole TLPs from the host and presents them beat by beat to the card:
// on one stream, or on one for requests and one for completions. A completion is presented only after the card has
// accepted all posted writes that arrived before it (PCIe 4.0 2.4).
class CardReceive {
  public:
    // `link` is the direction of the TLPs, `back` the direction of the DLLPs that answer them.
    CardReceive(const CardInfo &card, LinkDirection &link, LinkDirection &back);

    // Puts a TLP into the PHY's buffer. Throws Violation if completions overflow it: the card requested more data than
    // it can accept. Stray completions do not count, as that is the host's fault.
    void arrive(HostTlp tlp);

    // drive() sets the card's inputs for the next clock edge; clock() removes the beats accepted at that edge.
    void drive(CardInputs &inputs);
    void clock(const CardInputs &inputs, const CardOutputs &outputs);

    // Called when the card accepts the first beat of a TLP, and the last one.
    std::function<void(const HostTlp &)> on_begin, on_end;

    bool empty() const;
    unsigned completion_peak() const { return completion_peak_; }  // most bytes of completions held at once
    void reset();

  private:
    struct Waiting {
        HostTlp tlp;
        uint64_t posted_before;  // number of posted writes that arrived before it
    };
    struct Channel {
        std::deque<Waiting> waiting;
        size_t position = 0;  // dwords of the first TLP that the card has accepted
        bool shown = false;   // the inputs already hold the beat at `position`
    };

    void show_beat(const Channel &channel, RxInput &rx) const;
    void beat_taken(Channel &channel);
    // Frees the buffer space of a TLP and returns its credit.
    void release(const HostTlp &tlp);

    const unsigned dwords_;
    const bool little_endian_;
    const unsigned completion_buffer_;  // bytes
    LinkDirection &link_, &back_;
    std::vector<Channel> channels_;
    uint64_t posted_arrived_ = 0, posted_taken_ = 0;
    unsigned completion_bytes_ = 0, completion_peak_ = 0;
};

}  // namespace litepcie
