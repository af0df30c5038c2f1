// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/transmitter.h"

namespace litepcie::lane {

unsigned Transmitter::next_interval() {
    if (fixed_interval)
        return fixed_interval;
    return kShortestInterval + random_() % (kLongestInterval - kShortestInterval + 1);
}

Symbol Transmitter::silence() {
    cut();
    since_ = due_ = 0;
    return kSilence;
}

bool Transmitter::load_skip() {
    if (!due_)
        return false;
    due_--;
    skip_sets++;
    load_ordered(kSkp, skips ? skips : 1 + random_() % 5);
    return true;
}

void Transmitter::load_ordered(Symbol symbol, unsigned count) {
    queue_.assign(1 + count, symbol);
    queue_[0] = kCom;
    next_ = 0;
    plain_ = true;
}

void Transmitter::load(const TrainingSet &set) {
    const auto symbols = set.symbols();
    queue_.assign(symbols.begin(), symbols.end());
    next_ = 0;
    plain_ = true;
}

void Transmitter::load(const Packet &packet) {
    queue_.clear();
    queue_.push_back(packet.dllp ? kSdp : kStp);
    queue_.insert(queue_.end(), packet.bytes.begin(), packet.bytes.end());
    if (!packet.damaged)
        queue_.push_back(packet.nullified ? kEdb : kEnd);
    next_ = 0;
    plain_ = false;
}

}  // namespace litepcie::lane
