// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/flow_control.h"
#include "link/link_rate.h"
#include "tlp/tlp.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

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

// The TLPs of one direction that are on the wire or in the transmitter's replay buffer (PCIe 3.0 3.5).
//
// Every `damage_every`-th TLP arrives damaged, once; 0 means none. The receiver drops the damaged TLP and all TLPs
// after it, and sends a NAK on `back`. Until the NAK arrives, the transmitter sends new TLPs. Then it sends the damaged
// TLP and all TLPs after it again, in order, and their bytes take time on the wire again.
template <typename Item> class ReplayQueue {
  public:
    ReplayQueue(LinkDirection &link, LinkDirection &back, uint64_t damage_every)
        : link_(link), back_(back), damage_every_(damage_every) {}

    // Adds a TLP whose last byte was just handed to the link. Not allowed while replaying().
    void push(Item item, unsigned wire_bytes, uint64_t cycle) {
        sent_.push_back({std::move(item), wire_bytes, cycle + link_.cycles_to_arrival(), false});
    }

    bool arrived(uint64_t cycle) const { return !sent_.empty() && sent_.front().arrival <= cycle; }
    // Gives the next TLP that has arrived by `cycle`; false if none has, or if the receiver drops it.
    bool receive(uint64_t cycle, Item &item) {
        if (nak_ || !arrived(cycle))
            return false;
        Sent &front = sent_.front();
        if (damage_every_ && !front.damaged && ++accepted_ % damage_every_ == 0) {
            front.damaged = nak_ = true;
            back_.send_nak();
            nak_arrival_ = cycle + back_.cycles_to_arrival();
            return false;
        }
        item = std::move(front.item);
        sent_.pop_front();
        return true;
    }

    // Hands the TLPs of a replay to the link, one by one, whenever the link is free. A replay begins only when
    // `between_tlps` is true, so that a TLP that is handed to the link in parts is finished first.
    void replay(uint64_t cycle, bool between_tlps) {
        if (nak_ && nak_arrival_ <= cycle && between_tlps) {
            nak_ = false;
            to_replay_ = sent_.size();
            for (Sent &sent : sent_)
                sent.arrival = UINT64_MAX;
        }
        while (to_replay_ && link_.free_this_cycle()) {
            Sent &next = sent_[sent_.size() - to_replay_--];
            link_.begin_tlp(next.wire_bytes);
            link_.send_bytes(next.wire_bytes);
            link_.count_replay();
            next.arrival = cycle + link_.cycles_to_arrival();
        }
    }

    // Whether replay() has work: a NAK is on its way, or a replay has begun.
    bool replay_pending() const { return nak_ || to_replay_; }
    // Whether a replay has begun. No new TLP is sent until it is over.
    bool replaying() const { return to_replay_; }
    bool empty() const { return sent_.empty(); }
    // Drops all TLPs, and calls `lost` for each.
    template <typename Lost> void clear(Lost lost) {
        for (const Sent &sent : sent_)
            lost(sent.item);
        sent_.clear();
        to_replay_ = 0;
        nak_ = false;
    }

  private:
    struct Sent {
        Item item;
        unsigned wire_bytes;
        uint64_t arrival;  // cycle of its last byte at the receiver
        bool damaged;      // has arrived damaged once already
    };

    LinkDirection &link_, &back_;
    uint64_t damage_every_;
    std::deque<Sent> sent_;
    size_t to_replay_ = 0;  // how many TLPs, at the end of `sent_`, are still to be sent again
    uint64_t accepted_ = 0;
    bool nak_ = false;  // a NAK is on its way to the transmitter
    uint64_t nak_arrival_ = 0;
};

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
