// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/flow_control.h"
#include "link/link_rate.h"

#include <algorithm>
#include <cstdint>
#include <deque>

namespace litepcie {

// Counts of what one direction carried.
struct DirectionCounts {
    uint64_t tlps = 0;           // without replays
    uint64_t tlp_bytes = 0;      // on the wire, replays included
    uint64_t replayed_tlps = 0;  // TLPs that were sent again
    uint64_t dllps = 0;          // NAKs included
    uint64_t naks = 0;
    uint64_t skips = 0;               // SKP ordered sets
    uint64_t credit_wait_cycles = 0;  // cycles in which the wire was free, and a TLP waited for credit only
};

// When an ACK leaves. The specification has a longest time only (PCIe 3.0 3.5.3.1).
//
// Interval   At once if the previous ACK left at least that time before, else when that time is over.
// BeforeTlp  When the first TLP that it answers has waited that long. If the next TLP of this direction would make it
//            late, it goes before that TLP: a lane carries one packet at a time.
enum class AckPolicy { Interval, BeforeTlp };

// What the ends of a link do beyond sending TLPs.
struct LinkPolicy {
    UpdateFc update_fc = UpdateFc::Guideline;
    uint64_t flight_cycles = 0;  // from a byte at one end's data link layer to that of the other
    AckPolicy acks = AckPolicy::Interval;
};

// One direction of the link, paced byte by byte.
//
// The wire is modelled as a backlog: the ticks (LinkRate) until all bytes handed to it have been sent. Each clock cycle
// takes a cycle's ticks away. Each TLP, DLLP and SKP ordered set adds the ticks of its bytes.
//
// DLLPs of this direction answer TLPs of the other one. An ACK covers all TLPs that arrived before it leaves, at the
// specification's ACK interval (AckPolicy). UpdateFCs follow that interval too, or the policy UpdateFc::Minimum. A DLLP
// arrives as a TLP does: after all bytes
// that were handed to the wire before it, its own, and the time of flight. The replay buffer is never full, so only the
// arrival of an UpdateFC and of a NAK matters, and not that of an ACK.
class LinkDirection {
  public:
    LinkDirection(const LinkShape &shape, unsigned mps, const Credits &credits, const LinkPolicy &policy = {});

    // Advances by one clock cycle. `other` is the opposite direction: it gets the credits that the UpdateFCs that
    // arrive in this cycle return.
    void advance(LinkDirection &other) {
        cycle_++;
        backlog_ = std::max<int64_t>(backlog_ - rate_.cycle_ticks, 0);
        skip_ += rate_.cycle_ticks;
        if (skip_ >= skip_interval_)
            send_skip();
        if (policy_.acks == AckPolicy::Interval) {
            if (tick_and_due(ack_))
                send_dllp(ack_);
        } else if (ack_.pending) {
            ack_.wait += rate_.cycle_ticks;
            ack_before(0);
        }
        if (policy_.update_fc != UpdateFc::Guideline) {
            send_updates(other);
        } else if (tick_and_due(update_)) {
            send_dllp(update_);
            send_update(other.credits_.announce());
        }
        if (!updates_.empty())
            deliver_updates(other);
    }

    // Whether the backlog ends within this cycle. A TLP handed over now then leaves no gap on the wire.
    bool free_this_cycle() const { return backlog_ < rate_.cycle_ticks; }
    // Whether at most `bytes` wait to be sent.
    bool backlog_within(unsigned bytes) const { return backlog_ <= int64_t(bytes) * rate_.byte_ticks; }
    // Clock cycles until all bytes handed over have arrived at the receiver.
    uint64_t cycles_to_arrival() const {
        return (backlog_ + rate_.cycle_ticks - 1) / rate_.cycle_ticks + policy_.flight_cycles;
    }

    // A TLP of so many bytes begins now: bytes of it follow, at once or in parts.
    void begin_tlp(unsigned bytes) {
        if (policy_.acks == AckPolicy::BeforeTlp && ack_.pending)
            ack_before(bytes);
    }
    void send_bytes(unsigned bytes) {
        send_overhead(bytes);
        counts_.tlp_bytes += bytes;
    }
    void count_tlp() { counts_.tlps++; }
    void count_replay() { counts_.replayed_tlps++; }
    void count_credit_wait() { counts_.credit_wait_cycles++; }

    // Credits for the receiver's buffer at the end of this direction. A returned credit can be used only after an
    // UpdateFC has announced it.
    bool has_credit(TlpClass tlp_class, unsigned data) const { return credits_.has(tlp_class, data); }
    // Whether the receiver's whole buffer is enough for a TLP.
    bool holds(TlpClass tlp_class, unsigned data) const {
        return credits_.advertised().data[size_t(tlp_class)] >= int64_t(data);
    }
    void take_credit(TlpClass tlp_class, unsigned data) { credits_.take(tlp_class, data); }
    void return_credit(TlpClass tlp_class, unsigned data) { credits_.free(tlp_class, data); }
    void grant_returned() { credits_.grant_all(); }
    // Loses the UpdateFCs on the wire. What they announced is only granted by grant_returned() of the other direction.
    void lose_updates() { updates_.clear(); }

    // A TLP of the other direction arrived, so an ACK is due.
    void want_ack() { ack_.pending = true; }
    // The buffer of a TLP of the other direction was freed, so an UpdateFC is due.
    void want_update() { update_.pending = true; }
    // A TLP of the other direction arrived damaged. The NAK also acknowledges the TLPs before it.
    void send_nak();

    bool quiet() const { return backlog_ == 0 && !ack_.pending && !update_.pending && updates_.empty(); }
    void set_mps(unsigned mps);
    const DirectionCounts &counts() const { return counts_; }

  private:
    struct DllpTimer {
        bool pending = false;
        int64_t wait = 0;  // ticks until the next one may be sent; AckPolicy::BeforeTlp: since the first TLP arrived
    };

    // An UpdateFC on the wire.
    struct Update {
        uint64_t arrival;  // cycle
        Credits announced;
    };

    // Advances a timer by one cycle; true if its DLLP is to be sent now. `wait` may fall below zero by up to one cycle,
    // so that the rest of the cycle in which the wait ended shortens the next one.
    bool tick_and_due(DllpTimer &timer) {
        timer.wait = std::max(timer.wait - rate_.cycle_ticks, -rate_.cycle_ticks);
        return timer.pending && timer.wait <= 0;
    }
    // AckPolicy::BeforeTlp: sends the ACK if it were late behind so many bytes and a SKP ordered set.
    void ack_before(unsigned bytes) {
        const int64_t behind = backlog_ + int64_t(bytes + skips_.bytes(shape_.lanes)) * rate_.byte_ticks;
        if (ack_.wait + behind <= dllp_interval_)
            return;
        ack_ = {};
        send_dllp();
    }
    void send_dllp(DllpTimer &timer);
    void send_dllp();
    void send_update(const Credits &announced);
    void deliver_updates(LinkDirection &other);
    void send_skip();
    void send_updates(LinkDirection &other);
    void send_overhead(unsigned bytes) { backlog_ += int64_t(bytes) * rate_.byte_ticks; }

    LinkShape shape_;
    LinkRate rate_;
    LinkPolicy policy_;
    FlowControl credits_;
    SkipSets skips_;
    unsigned mps_ = 128;
    uint64_t cycle_ = 0;
    int64_t backlog_ = 0;
    int64_t skip_ = 0;
    int64_t skip_interval_;
    int64_t dllp_interval_ = 0;
    int64_t update_period_;
    std::array<int64_t, kTlpClasses> since_update_{};  // ticks, by class
    DllpTimer ack_, update_;
    std::deque<Update> updates_;
    DirectionCounts counts_;
};

}  // namespace litepcie
