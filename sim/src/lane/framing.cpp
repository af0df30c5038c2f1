// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/framing.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace litepcie::lane {

// Training Sets -------------------------------------------------------------------------------------------------------

namespace {

bool number_or_pad(Symbol symbol) { return symbol < kControl || symbol == kPad; }

}  // namespace

bool TrainingSet::parse(const std::array<Symbol, kSymbols> &set) {
    const Symbol identifier = set[6];
    const bool all_same = std::all_of(set.begin() + 6, set.end(), [&](Symbol symbol) { return symbol == identifier; });
    const bool all_data = std::all_of(set.begin() + 3, set.end(), [](Symbol symbol) { return symbol < kControl; });
    if (!all_same || !all_data || !number_or_pad(set[1]) || !number_or_pad(set[2]))
        return false;
    inverted = identifier == lane::inverted(kIdentifiers[0]) || identifier == lane::inverted(kIdentifiers[1]);
    const Symbol plain = inverted ? lane::inverted(identifier) : identifier;
    if (plain != kIdentifiers[0] && plain != kIdentifiers[1])
        return false;
    second = plain == kIdentifiers[1];
    link = set[1], lane = set[2], n_fts = set[3], rates = set[4], control = set[5];
    return true;
}

// Receiver ------------------------------------------------------------------------------------------------------------

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

// Transmitter ---------------------------------------------------------------------------------------------------------

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

// Loopback ------------------------------------------------------------------------------------------------------------

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
