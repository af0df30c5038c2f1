// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/link_direction.h"
#include "link/tlp.h"

#include <deque>

namespace litepcie {

// A TLP on its way to the card. `ends_request`: the card's request of this tag is over when the card has taken it.
struct HostTlp {
    Tlp tlp;
    bool ends_request = false;
};

// The root port's queue towards the card, with the order PCIe 4.0 2.4 asks for: posted writes and completions in one
// queue, so that no completion passes a posted write; a read passes neither, and is passed by both if it has no credit.
class Egress {
  public:
    void push(HostTlp tlp);
    // The TLP that may go now, nullptr if none has the credit.
    HostTlp *next(const LinkDirection &link);
    // Takes away the one next() gave.
    HostTlp pop();
    bool empty() const { return queue_.empty() && reads_.empty(); }
    size_t completions() const { return completions_; }
    void clear();

  private:
    struct Read {
        HostTlp tlp;
        uint64_t behind;  // how many of the queue must have gone before
    };

    std::deque<HostTlp> queue_;
    std::deque<Read> reads_;
    uint64_t pushed_ = 0, popped_ = 0;
    size_t completions_ = 0;
    bool next_is_read_ = false;
};

}  // namespace litepcie
