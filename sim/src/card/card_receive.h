// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"
#include "link/egress.h"

#include <deque>
#include <functional>
#include <vector>

namespace litepcie {

// The receive side of the card's PHY: TLPs of the host, as a whole, shown beat by beat on one stream, or on one for
// requests and one for completions. A completion is not shown before the card took all posted writes that arrived
// before it (PCIe 4.0 2.4).
class CardReceive {
  public:
    // `link` is the direction the TLPs come in, `back` the one their DLLPs take.
    CardReceive(const CardInfo &card, LinkDirection &link, LinkDirection &back);

    // A TLP is in the PHY's buffer. Throws Violation if completions overflow it: the card asked for more than it takes.
    void arrive(HostTlp tlp);

    // Inputs for the coming clock edge; then what happens at it.
    void drive(CardInputs &inputs);
    void clock(const CardInputs &inputs, const CardOutputs &outputs);

    // Called when the card takes the first beat of a TLP, and when it has taken the last one.
    std::function<void(const HostTlp &)> on_begin, on_end;

    bool empty() const;
    unsigned completion_peak() const { return completion_peak_; }  // bytes
    void reset();

  private:
    struct Waiting {
        HostTlp tlp;
        uint64_t behind;  // posted writes to be taken before
    };
    struct Channel {
        std::deque<Waiting> waiting;
        size_t position = 0;  // dwords of the front that were taken
        bool shown = false;   // the beat at `position` is in the inputs
    };

    void show_beat(const Channel &channel, RxInput &rx) const;
    void beat_taken(Channel &channel);
    // Of the receiver's buffer: free again.
    void release(const Tlp &tlp);

    const unsigned dwords_;
    const bool little_endian_;
    const unsigned completion_buffer_;  // bytes
    LinkDirection &link_, &back_;
    std::vector<Channel> channels_;
    uint64_t posted_arrived_ = 0, posted_taken_ = 0;
    unsigned completion_bytes_ = 0, completion_peak_ = 0;
};

}  // namespace litepcie
