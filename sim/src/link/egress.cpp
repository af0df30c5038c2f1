// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "link/egress.h"

namespace litepcie {

namespace {

bool may_go(const Tlp &tlp, const LinkDirection &link) {
    return link.has_credit(tlp.credit_class(), tlp.data_credits());
}

}  // namespace

void Egress::push(HostTlp tlp) {
    if (tlp.tlp.is_memory_read()) {
        reads_.push_back({std::move(tlp), pushed_});
        return;
    }
    completions_ += tlp.tlp.is_completion();
    queue_.push_back(std::move(tlp));
    pushed_++;
}

HostTlp *Egress::next(const LinkDirection &link) {
    if (!reads_.empty() && reads_.front().position <= popped_ && may_go(reads_.front().tlp.tlp, link)) {
        next_is_read_ = true;
        return &reads_.front().tlp;
    }
    next_is_read_ = false;
    if (!queue_.empty() && may_go(queue_.front().tlp, link))
        return &queue_.front();
    return nullptr;
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
