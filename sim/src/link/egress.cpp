// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "link/egress.h"

namespace litepcie {

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
