// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "link/link_direction.h"

namespace litepcie {

// Direction -----------------------------------------------------------------------------------------------------------

LinkDirection::LinkDirection(const LinkShape &shape, unsigned mps, const Credits &credits, const LinkPolicy &policy)
    : shape_(shape), rate_(shape), policy_(policy), credits_(credits), skips_(skip_sets(shape.gen)),
      skip_interval_(skips_.interval_symbols * rate_.symbol_ticks),
      update_period_(int64_t(kUpdateFcSeconds * double(shape.clock_hz)) * rate_.cycle_ticks) {
    set_mps(mps);
}

void LinkDirection::set_mps(unsigned mps) {
    mps_ = mps;
    dllp_interval_ = ack_limit_symbols(shape_, mps) * rate_.symbol_ticks;
}

void LinkDirection::send_dllp() {
    counts_.dllps++;
    send_overhead(kDllpBytes);
}

void LinkDirection::send_dllp(DllpTimer &timer) {
    timer.pending = false;
    timer.wait += dllp_interval_;
    send_dllp();
}

void LinkDirection::send_update(const Credits &announced) {
    updates_.push_back({cycle_ + cycles_to_arrival(), announced});
}

void LinkDirection::deliver_updates(LinkDirection &other) {
    for (; !updates_.empty() && updates_.front().arrival <= cycle_; updates_.pop_front())
        other.credits_.grant(updates_.front().announced);
}

void LinkDirection::send_skip() {
    skip_ -= skip_interval_;
    counts_.skips++;
    send_overhead(skips_.bytes(shape_.lanes));
}

void LinkDirection::send_nak() {
    counts_.naks++;
    send_dllp();
    ack_ = {false, policy_.acks == AckPolicy::Interval ? dllp_interval_ : 0};
}

// Those of each class: UpdateFc::Minimum and UpdateFc::PerType.
void LinkDirection::send_updates(LinkDirection &other) {
    for (size_t i = 0; i < kTlpClasses; i++) {
        since_update_[i] += rate_.cycle_ticks;
        if (!other.credits_.advertised().finite(i))
            continue;
        const bool periodic = since_update_[i] >= update_period_;
        const bool recommended = policy_.update_fc == UpdateFc::PerType && other.credits_.unannounced(i) &&
                                 since_update_[i] >= dllp_interval_;
        if (!periodic && !recommended && !other.credits_.must_update(i, mps_))
            continue;
        // Its time runs from where it leaves, behind what is on the wire.
        since_update_[i] = policy_.update_fc == UpdateFc::PerType ? -backlog_ : 0;
        send_dllp();
        send_update(other.credits_.announce(i));
    }
}

// Egress --------------------------------------------------------------------------------------------------------------

void Egress::push(HostTlp tlp) {
    if (tlp.tlp.is_memory_read()) {
        reads_.push_back({std::move(tlp), pushed_});
        return;
    }
    completions_ += tlp.tlp.is_completion();
    queue_.push_back(std::move(tlp));
    pushed_++;
}

HostTlp Egress::pop() {
    HostTlp tlp;
    if (next_is_read_) {
        tlp = std::move(reads_.front().tlp);
        reads_.pop_front();
        return tlp;
    }
    tlp = std::move(queue_.front());
    queue_.pop_front();
    popped_++;
    completions_ -= tlp.tlp.is_completion();
    return tlp;
}

void Egress::clear() {
    queue_.clear();
    reads_.clear();
    pushed_ = popped_ = 0;
    completions_ = 0;
}

}  // namespace litepcie
