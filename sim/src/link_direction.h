// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link_rate.h"
#include "tlp.h"

#include <array>
#include <cstdint>

namespace litepcie {

// Flow control credits a receiver advertises, by class (TlpClass): headers, and data in units of 16 bytes.
struct Credits {
    static constexpr int64_t kInfinite = INT64_MAX / 2;
    std::array<int64_t, kTlpClasses> header;
    std::array<int64_t, kTlpClasses> data;
};

// What travelled in one direction, in bytes on the wire.
struct DirectionCounts {
    uint64_t tlps = 0, tlp_bytes = 0, dllps = 0, skips = 0;
    uint64_t credit_wait_cycles = 0;  // a TLP was there, the wire free, and no credit
};

// One direction of the link, paced byte by byte.
//
// The wire is a backlog: ticks until everything handed to it has been sent. Each cycle takes a cycle's ticks away; each
// TLP, DLLP and SKP ordered set adds the ticks of its bytes. DLLPs of this direction answer TLPs of the other one: an
// ACK and an UpdateFC, each at once if the last one is at least the limit of the specification ago, otherwise when that
// has passed. One of them covers all TLPs that arrived since.
class LinkDirection {
  public:
    LinkDirection(const LinkShape &shape, unsigned mps, const Credits &credits);

    // One clock cycle passes. Returns true if an UpdateFC was sent: the other direction then gets its credits.
    bool advance();

    // Free before the next clock cycle, so a TLP handed over now leaves no gap.
    bool free_this_cycle() const { return backlog_ < rate_.cycle_ticks; }
    // Not more than `bytes` wait to be sent.
    bool backlog_within(unsigned bytes) const { return backlog_ <= int64_t(bytes) * rate_.byte_ticks; }
    // Clock cycles until all handed over has arrived at the other end.
    uint64_t cycles_to_drain() const { return (backlog_ + rate_.cycle_ticks - 1) / rate_.cycle_ticks; }

    void send_bytes(unsigned bytes) {
        backlog_ += int64_t(bytes) * rate_.byte_ticks;
        tlp_bytes_ += bytes;
    }
    void count_tlp() { counts_.tlps++; }
    void count_credit_wait() { counts_.credit_wait_cycles++; }

    bool has_credit(TlpClass tlp_class, unsigned data) const;
    void take_credit(TlpClass tlp_class, unsigned data);
    // Credits come back from the receiver when the other direction's UpdateFC does.
    void return_credit(TlpClass tlp_class, unsigned data);
    void grant_returned();

    // A TLP of the other direction arrived here: it wants an ACK; its buffer was freed: it wants an UpdateFC.
    void want_ack() { ack_.pending = true; }
    void want_update() { update_.pending = true; }

    bool quiet() const { return backlog_ == 0 && !ack_.pending && !update_.pending; }
    void set_mps(unsigned mps);
    DirectionCounts counts() const;

  private:
    struct DllpTimer {
        bool pending = false;
        int64_t wait = 0;  // ticks until the next one may go
    };

    bool dllp_due(DllpTimer &timer);
    void send_overhead(unsigned bytes) { backlog_ += int64_t(bytes) * rate_.byte_ticks; }

    LinkShape shape_;
    LinkRate rate_;
    int64_t backlog_ = 0;
    int64_t skip_ = 0;
    int64_t skip_interval_;
    int64_t dllp_interval_;
    DllpTimer ack_, update_;
    Credits available_;
    Credits returned_{};
    uint64_t tlp_bytes_ = 0;
    DirectionCounts counts_;
};

}  // namespace litepcie
