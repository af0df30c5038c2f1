// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/link_direction.h"
#include "tlp/tlp.h"

#include <deque>
#include <utility>

namespace litepcie {

// A TLP from the host to the card. `ends_request` marks the last completion of a request: when it arrives, the card may
// use the tag again. A `late` completion may come after the card's timeout; the card keeps its tag and its room. For a
// `stray` completion the card has no room: it comes a second time, or is for another function.
struct HostTlp {
    Tlp tlp;
    bool ends_request = false;
    bool late = false, stray = false;
};

// The root port's queue towards the card, which keeps the order that PCIe 4.0 2.4 demands. Posted writes and
// completions share one queue, so no completion passes a posted write. A read passes neither of them; both may pass a
// read that has no credit.
class Egress {
  public:
    void push(HostTlp tlp);
    // The TLP to send next, or nullptr if none has credit.
    HostTlp *next(const LinkDirection &link) {
        return next([&link](const Tlp &tlp) { return link.has_credit(tlp.credit_class(), tlp.data_credits()); });
    }
    // The same, for those that `may_go`.
    template <typename MayGo> HostTlp *next(MayGo may_go) {
        next_is_read_ =
            !reads_.empty() && reads_.front().position <= popped_ && may_go(std::as_const(reads_.front().tlp.tlp));
        if (next_is_read_)
            return &reads_.front().tlp;
        return !queue_.empty() && may_go(std::as_const(queue_.front().tlp)) ? &queue_.front() : nullptr;
    }
    // Removes and returns the TLP that next() gave.
    HostTlp pop();
    bool empty() const { return queue_.empty() && reads_.empty(); }
    size_t completions() const { return completions_; }
    size_t tlps() const { return queue_.size() + reads_.size(); }
    void clear();

  private:
    struct Read {
        HostTlp tlp;
        uint64_t position;  // value of `popped_` from which on it may be sent
    };

    std::deque<HostTlp> queue_;
    std::deque<Read> reads_;
    uint64_t pushed_ = 0, popped_ = 0;
    size_t completions_ = 0;
    bool next_is_read_ = false;
};

}  // namespace litepcie
