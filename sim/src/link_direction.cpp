// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "link_direction.h"

#include <algorithm>

namespace litepcie {

LinkDirection::LinkDirection(const LinkShape &shape, unsigned mps, const Credits &credits)
    : shape_(shape), rate_(shape), skip_interval_(kSkpInterval * rate_.symbol_ticks), available_(credits) {
    set_mps(mps);
}

void LinkDirection::set_mps(unsigned mps) { dllp_interval_ = ack_limit_symbols(shape_, mps) * rate_.symbol_ticks; }

bool LinkDirection::dllp_due(DllpTimer &timer) {
    // What is left of the cycle in which the wait ended counts for the next one, but no more than a cycle.
    timer.wait = std::max(timer.wait - rate_.cycle_ticks, -rate_.cycle_ticks);
    if (!timer.pending || timer.wait > 0)
        return false;
    timer.pending = false;
    timer.wait += dllp_interval_;
    counts_.dllps++;
    send_overhead(kDllpBytes);
    return true;
}

bool LinkDirection::advance() {
    backlog_ = std::max<int64_t>(backlog_ - rate_.cycle_ticks, 0);
    skip_ += rate_.cycle_ticks;
    if (skip_ >= skip_interval_) {
        skip_ -= skip_interval_;
        counts_.skips++;
        send_overhead(kSkpSymbols * shape_.lanes);
    }
    dllp_due(ack_);
    return dllp_due(update_);
}

bool LinkDirection::has_credit(TlpClass tlp_class, unsigned data) const {
    size_t i = size_t(tlp_class);
    return available_.header[i] >= 1 && available_.data[i] >= int64_t(data);
}

void LinkDirection::take_credit(TlpClass tlp_class, unsigned data) {
    size_t i = size_t(tlp_class);
    available_.header[i] -= 1;
    available_.data[i] -= data;
}

void LinkDirection::return_credit(TlpClass tlp_class, unsigned data) {
    size_t i = size_t(tlp_class);
    returned_.header[i] += 1;
    returned_.data[i] += data;
}

void LinkDirection::grant_returned() {
    for (size_t i = 0; i < kTlpClasses; i++) {
        available_.header[i] += returned_.header[i];
        available_.data[i] += returned_.data[i];
    }
    returned_ = Credits{};
}

DirectionCounts LinkDirection::counts() const {
    DirectionCounts counts = counts_;
    counts.tlp_bytes = tlp_bytes_;
    return counts;
}

}  // namespace litepcie
