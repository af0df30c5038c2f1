// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/loopback_master.h"

#include "lane/transmitter.h"

#include <iterator>

namespace litepcie::lane {

void LoopbackMaster::begin() {
    set_.clear(), expected_.clear();
    mark_left_ = kMark, marks_seen_ = 0, until_skip_ = Transmitter::kShortestInterval;
}

// No COM, which begins a set, and no IDL: the master must not send an EIOS before it ends Loopback.
Symbol LoopbackMaster::any() {
    constexpr Symbol kOthers[] = {kStp, kSdp, kEnd, kEdb, kPad, kFts};
    return random_() % 16 ? Symbol(random_() & 0xff) : kOthers[random_() % std::size(kOthers)];
}

Symbol LoopbackMaster::next() {
    if (mark_left_) {
        mark_left_--;
        return kPad;
    }
    if (set_.empty() && until_skip_-- == 0) {
        const unsigned longest = Transmitter::kLongestInterval - Transmitter::kShortestInterval;
        until_skip_ = Transmitter::kShortestInterval + random_() % (longest + 1);
        set_ = {kCom, kSkp, kSkp, kSkp};
    }
    Symbol symbol;
    if (set_.empty()) {
        symbol = any();
    } else {
        symbol = set_.front();
        set_.pop_front();
    }
    if (symbol != kSkp)
        expected_.push_back(symbol);
    return symbol;
}

void LoopbackMaster::take(Symbol symbol) {
    if (symbol == kSkp)
        return;
    if (marks_seen_ < kMark) {
        marks_seen_ = symbol == kPad ? marks_seen_ + 1 : 0;
        return;
    }
    compared_++;
    wrong_ += expected_.empty() || symbol != expected_.front();
    if (!expected_.empty())
        expected_.pop_front();
}

}  // namespace litepcie::lane
