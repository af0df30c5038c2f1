// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/receiver.h"

#include <utility>

namespace litepcie::lane {

Received Receiver::take(Symbol symbol) {
    if (invert)
        symbol = inverted(symbol);
    damaged_symbols += symbol & kDamaged ? 1 : 0;
    if (symbol == kCom) {
        descrambler(symbol);
        const Received lost = inside_ ? lose_packet() : Received::Nothing;
        damaged_sets += place_ > 1 && symbols_[1] != kSkp && symbols_[1] != kIdl && symbols_[1] != kFts;
        place_ = 1;
        symbols_[0] = symbol;
        return lost;
    }
    return place_ ? in_set(symbol) : outside_set(symbol);
}

void Receiver::silence() {
    place_ = 0;
    inside_ = false;
    forget();
}

Received Receiver::in_set(Symbol symbol) {
    const Symbol kind = place_ == 1 ? symbol : symbols_[1];
    if (kind == kSkp || kind == kIdl || kind == kFts) {
        symbols_[place_ == 1 ? 1 : 2] = symbol;
        if (place_++ == 1) {
            descrambler(symbol);
            return kind == kSkp ? Received::SkipSet : kind == kIdl ? Received::IdleSet : Received::Nothing;
        }
        if (symbol == kind && (kind == kSkp || place_ <= 4)) {
            descrambler(symbol);
            return Received::Nothing;
        }
        place_ = 0;
        return outside_set(symbol);
    }
    symbols_[place_++] = descrambler(symbol, true);
    if (place_ < TrainingSet::kSymbols)
        return Received::Nothing;
    place_ = 0;
    idle_ = 0;
    TrainingSet set;
    if (!set.parse(symbols_)) {
        damaged_sets++;
        alike_ = 0;
        return Received::Nothing;
    }
    alike_ = set == set_ ? alike_ + 1 : 1;
    set_ = set;
    return Received::TrainingSet;
}

Received Receiver::outside_set(Symbol symbol) {
    symbol = descrambler(symbol);
    alike_ = 0;
    if (symbol == kStp || symbol == kSdp) {
        const Received lost = inside_ ? lose_packet() : Received::Nothing;
        inside_ = true;
        idle_ = 0;
        packet_.dllp = symbol == kSdp;
        packet_.damaged = packet_.nullified = false;
        packet_.bytes.clear();
        return lost;
    }
    if (inside_)
        return in_packet(symbol);
    if (symbol == 0) {
        idle_++;
        return Received::LogicalIdle;
    }
    idle_ = 0;
    misplaced_symbols += symbol & kDamaged ? 0 : 1;
    return Received::Nothing;
}

Received Receiver::in_packet(Symbol symbol) {
    if (symbol == kEnd || symbol == kEdb)
        return finish(symbol == kEdb, false);
    if ((symbol & kControl && !(symbol & kDamaged)) || packet_.bytes.size() == kLongest)
        return lose_packet();
    packet_.damaged |= symbol & kDamaged;
    packet_.bytes.push_back(uint8_t(symbol));
    return Received::Nothing;
}

Received Receiver::finish(bool nullified, bool damaged) {
    inside_ = false;
    packet_.nullified = nullified;
    packet_.damaged |= damaged;
    std::swap(packet_, finished_);
    return Received::Packet;
}

Received Receiver::lose_packet() { return finish(false, true); }

}  // namespace litepcie::lane
