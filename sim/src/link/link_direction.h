// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/flow_control.h"
#include "link/link_rate.h"

#include <algorithm>
#include <cstdint>

namespace litepcie {

// What travelled in one direction, in bytes on the wire.
struct DirectionCounts {
    uint64_t tlps = 0;           // each once
    uint64_t tlp_bytes = 0;      // replays among them
    uint64_t replayed_tlps = 0;  // sent again
    uint64_t dllps = 0;          // NAKs among them
    uint64_t naks = 0;
    uint64_t skips = 0;
    uint64_t credit_wait_cycles = 0;  // a TLP was there, the wire free, and no credit
};

// One direction of the link, paced byte by byte.
//
// The wire is a backlog: ticks until everything handed to it has been sent. Each cycle takes a cycle's ticks away; each
// TLP, DLLP and SKP ordered set adds the ticks of its bytes. DLLPs of this direction answer TLPs of the other one: an
// ACK at once if the last one is at least the limit of the specification ago, otherwise when that has passed; one
// covers all TLPs that arrived since. UpdateFCs do the same or follow the other policy of flow_control.h.
class LinkDirection {
  public:
    LinkDirection(const LinkShape &shape, unsigned mps, const Credits &credits, UpdateFc policy = UpdateFc::Guideline);

    // One clock cycle passes. UpdateFCs sent in it give `other`, whose TLPs they answer, its credits.
    void advance(LinkDirection &other) {
        backlog_ = std::max<int64_t>(backlog_ - rate_.cycle_ticks, 0);
        skip_ += rate_.cycle_ticks;
        if (skip_ >= skip_interval_)
            send_skip();
        if (passes(ack_))
            send_dllp(ack_);
        if (policy_ == UpdateFc::Minimum) {
            update_sparingly(other);
        } else if (passes(update_)) {
            send_dllp(update_);
            other.credits_.grant();
        }
    }

    // Free before the next clock cycle, so a TLP handed over now leaves no gap.
    bool free_this_cycle() const { return backlog_ < rate_.cycle_ticks; }
    // Not more than `bytes` wait to be sent.
    bool backlog_within(unsigned bytes) const { return backlog_ <= int64_t(bytes) * rate_.byte_ticks; }
    // Clock cycles until all handed over has arrived at the other end.
    uint64_t cycles_to_drain() const { return (backlog_ + rate_.cycle_ticks - 1) / rate_.cycle_ticks; }

    void send_bytes(unsigned bytes) {
        send_overhead(bytes);
        counts_.tlp_bytes += bytes;
    }
    void count_tlp() { counts_.tlps++; }
    void count_replay() { counts_.replayed_tlps++; }
    void count_credit_wait() { counts_.credit_wait_cycles++; }

    // Credits of the receiver at the end of this direction. What is returned counts when an UpdateFC told of it.
    bool has_credit(TlpClass tlp_class, unsigned data) const { return credits_.has(tlp_class, data); }
    void take_credit(TlpClass tlp_class, unsigned data) { credits_.take(tlp_class, data); }
    void return_credit(TlpClass tlp_class, unsigned data) { credits_.free(tlp_class, data); }
    void grant_returned() { credits_.grant(); }

    // A TLP of the other direction arrived here: it wants an ACK; its buffer was freed: it wants an UpdateFC.
    void want_ack() { ack_.pending = true; }
    void want_update() { update_.pending = true; }
    // A TLP of the other direction arrived damaged. The NAK acknowledges those before it.
    void send_nak();

    bool quiet() const { return backlog_ == 0 && !ack_.pending && !update_.pending; }
    void set_mps(unsigned mps);
    const DirectionCounts &counts() const { return counts_; }

  private:
    struct DllpTimer {
        bool pending = false;
        int64_t wait = 0;  // ticks until the next one may go
    };

    // A cycle passes: true if the DLLP is due. What is left of the cycle in which the wait ended counts for the next
    // one, but no more than a cycle.
    bool passes(DllpTimer &timer) {
        timer.wait = std::max(timer.wait - rate_.cycle_ticks, -rate_.cycle_ticks);
        return timer.pending && timer.wait <= 0;
    }
    void send_dllp(DllpTimer &timer);
    void send_dllp();
    void send_skip();
    void update_sparingly(LinkDirection &other);
    void send_overhead(unsigned bytes) { backlog_ += int64_t(bytes) * rate_.byte_ticks; }

    LinkShape shape_;
    LinkRate rate_;
    UpdateFc policy_;
    FlowControl credits_;
    unsigned mps_ = 128;
    int64_t backlog_ = 0;
    int64_t skip_ = 0;
    int64_t skip_interval_;
    int64_t dllp_interval_ = 0;
    int64_t update_period_;
    std::array<int64_t, kTlpClasses> since_update_{};  // ticks, by class
    DllpTimer ack_, update_;
    DirectionCounts counts_;
};

}  // namespace litepcie
