// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/data_link.h"

#include "lane/packet.h"

#include <algorithm>
#include <utility>

namespace litepcie::lane {

// Retry Buffer --------------------------------------------------------------------------------------------------------

Packet framed(unsigned sequence, const Tlp &tlp) {
    Packet packet;
    packet.bytes.reserve(6 + 4 * tlp.dw.size());
    packet.bytes = {uint8_t(sequence >> 8 & 15), uint8_t(sequence)};
    for (const uint32_t dword : tlp.dw)
        for (int shift = 24; shift >= 0; shift -= 8)
            packet.bytes.push_back(uint8_t(dword >> shift));
    const uint32_t crc = Lcrc::of(packet.bytes.data(), packet.bytes.size());
    for (int shift = 0; shift < 32; shift += 8)
        packet.bytes.push_back(uint8_t(crc >> shift));
    return packet;
}

Intact take_apart(const Packet &packet, unsigned &sequence, Tlp &tlp) {
    const auto &bytes = packet.bytes;
    if (packet.damaged || bytes.size() < 2 + 12 + 4 || bytes.size() % 4 != 2)
        return Intact::Bad;
    const size_t end = bytes.size() - 4;
    const uint32_t crc = Lcrc::of(bytes.data(), end);
    const uint32_t got = bytes[end] | bytes[end + 1] << 8 | bytes[end + 2] << 16 | uint32_t(bytes[end + 3]) << 24;
    if (packet.nullified)
        return got == ~crc ? Intact::Nullified : Intact::Bad;
    if (got != crc)
        return Intact::Bad;
    sequence = (bytes[0] << 8 | bytes[1]) & 0xfff;
    tlp.dw.clear();
    for (size_t i = 2; i < end; i += 4)
        tlp.dw.push_back(uint32_t(bytes[i]) << 24 | bytes[i + 1] << 16 | bytes[i + 2] << 8 | bytes[i + 3]);
    return Intact::Good;
}

const Packet &RetryBuffer::add(const Tlp &tlp) {
    sent_.push_back(framed(next_, tlp));
    next_ = (next_ + 1) % kNumbers;
    again_ = sent_.size();
    return sent_.back();
}

int RetryBuffer::acknowledge(unsigned sequence) {
    const unsigned acknowledged = (next_ - 1 - unsigned(sent_.size())) % kNumbers;
    const unsigned ahead = (sequence - acknowledged) % kNumbers;
    if (ahead > sent_.size())
        return -1;
    sent_.erase(sent_.begin(), sent_.begin() + ahead);
    again_ = again_ > ahead ? again_ - ahead : 0;
    return int(ahead);
}

// Data Link Layer -----------------------------------------------------------------------------------------------------

namespace {

constexpr unsigned kUpdateInterval = 30 * kSymbolsPerMicrosecond;  // PCIe 2.1 2.6.1.2, -0 to +50 %
constexpr unsigned kLatestUpdate = kUpdateInterval * 3 / 2;
constexpr unsigned kInitPause = 2 * kSymbolsPerMicrosecond;  // after three InitFC; they come every 34 us at most
constexpr unsigned kMostReplays = 3;                         // the next one retrains
constexpr unsigned kSkip = 4;                                // symbols that may come before a packet

// Limits for one lane, in symbols (PCIe 2.1 tables 3-4 and 3-5). The timer may take up to twice as long. UpdateFCs have
// the guideline of ACKs (2.6.1.2); here it is the shortest time between two of a type.
constexpr unsigned ack_limit(unsigned mps) { return mps == 128 ? 237 : mps == 256 ? 416 : 559; }
constexpr unsigned replay_limit(unsigned mps) { return mps == 128 ? 711 : mps == 256 ? 1248 : 1677; }

}  // namespace

DataLink::DataLink(const DataLinkOptions &options) : options_(options), grants_(options.credits) {
    set_mps(options.mps);
}

void DataLink::set_mps(unsigned mps) {
    options_.mps = mps;
    ack_limit_ = ack_limit(mps);
    replay_limit_ = replay_limit(mps) * 3 / 2;
}

void DataLink::reset() {
    state_ = State::Down;
    limits_ = {};
    grants_.reset();
    updates_ = {};
    heard_ = {};
    asked_ = Sleep::None;
    init_turn_ = init_timer_ = expected_ = ack_timer_ = replay_timer_ = replays_ = 0;
    confirmed_ = nak_scheduled_ = nak_due_ = ack_wanted_ = ack_now_ = wants_retrain_ = false;
    retry_.clear();
    received_.clear();
    for (auto &queue : queues_)
        queue.clear();
}

void DataLink::advance(bool link_up, bool active) {
    if (!link_up) {
        if (state_ != State::Down)
            reset();
        return;
    }
    if (state_ == State::Down)
        state_ = State::Init1;
    if (!active) {
        wants_retrain_ = false;
        asked_ = Sleep::None;  // In Recovery, the card begins anew too.
        heard_ = {};           // An UpdateFC may have been cut.
        return;
    }
    init_timer_ += init_timer_ > 0;
    ack_timer_ += ack_wanted_;
    for (auto &update : updates_) {
        update.since++;
        update.waits += update.wanted;
    }
    for (unsigned i = 0; i < kTlpClasses && up(); i++)
        counts_.late_updates += limits_.finite(i) && ++heard_[i] == kLatestUpdate;
    if (!retry_.empty() && !retry_.replaying() && ++replay_timer_ > replay_limit_) {
        counts_.timeouts++;
        replay();
    }
}

void DataLink::replay() {
    replay_timer_ = 0;
    if (retry_.empty())
        return;
    counts_.replays++;
    if (++replays_ > kMostReplays) {
        replays_ = 0;
        wants_retrain_ = true;
    }
    retry_.replay();
}

// Receive -------------------------------------------------------------------------------------------------------------

void DataLink::receive(const Packet &packet) {
    if (state_ == State::Down)
        return;
    Dllp dllp;
    if (!packet.dllp)
        receive_tlp(packet);
    else if (dllp.parse(packet))
        receive_dllp(dllp);
    else
        counts_.bad_dllps++;
}

void DataLink::receive_tlp(const Packet &packet) {
    if (state_ == State::Init1)
        return;
    unsigned sequence = 0;
    Tlp tlp;
    const Intact intact = take_apart(packet, sequence, tlp);
    const unsigned behind = (expected_ - sequence) % RetryBuffer::kNumbers;
    if (intact == Intact::Nullified) {
        counts_.nullified++;
    } else if (intact == Intact::Bad || behind > RetryBuffer::kWindow) {
        counts_.bad_tlps++;
        nak_due_ |= !nak_scheduled_;
        nak_scheduled_ = true;
    } else if (behind) {
        counts_.duplicates++;
        ack_wanted_ = ack_now_ = true;
    } else {
        confirmed_ = true;
        counts_.received++;
        counts_.protocol_errors += !grants_.receive(tlp);
        expected_ = (expected_ + 1) % RetryBuffer::kNumbers;
        nak_scheduled_ = nak_due_ = false;
        ack_wanted_ = true;
        received_.push_back(std::move(tlp));
    }
}

void DataLink::receive_dllp(const Dllp &dllp) {
    if (dllp.is_ack() || dllp.is_nak()) {
        if (up())
            receive_ack(dllp.sequence(), dllp.is_nak());
    } else if (dllp.is_flow_control()) {
        const bool init = dllp.kind() != Dllp::Update;
        if (init && state_ == State::Init1)
            limits_.record(dllp.tlp_class(), dllp.headers(), dllp.data());
        confirmed_ |= state_ >= State::Init2 && dllp.kind() != Dllp::Init1;
        if (!init && state_ >= State::Init2) {
            limits_.update(dllp.tlp_class(), dllp.headers(), dllp.data());
            heard_[dllp.tlp_class()] = 0;
        }
        update_seen_ |= !init;
        counts_.updates_received += !init;
    } else if (up() && (dllp.is_power(Dllp::EnterL1) || dllp.is_power(Dllp::EnterL23))) {
        counts_.sleep_requests++;
        if (options_.sleeps)
            asked_ = dllp.is_power(Dllp::EnterL1) ? Sleep::L1 : Sleep::L2;
    }
    if (state_ == State::Init1 && limits_.recorded())
        state_ = State::Init2, init_turn_ = init_timer_ = 0;
    else if (state_ == State::Init2 && confirmed_ && init_turn_ >= kTlpClasses)
        come_up();
}

void DataLink::come_up() {
    state_ = State::Up;
    if (options_.power_limit)
        send(Tlp::slot_power_limit(0, options_.power_limit));
}

void DataLink::receive_ack(unsigned sequence, bool nak) {
    const int freed = retry_.acknowledge(sequence);
    if (freed < 0) {
        counts_.protocol_errors++;
        return;
    }
    if (freed)
        replay_timer_ = replays_ = 0;
    counts_.acks_received += !nak;
    if (nak) {
        counts_.naks_received++;
        replay();
    }
}

bool DataLink::receive(Tlp &tlp) {
    if (received_.empty())
        return false;
    tlp = std::move(received_.front());
    received_.pop_front();
    return true;
}

void DataLink::release(const Tlp &tlp) {
    grants_.release(tlp);
    updates_[unsigned(tlp.credit_class())].wanted = true;
}

// Send ----------------------------------------------------------------------------------------------------------------

// Whether the ACK for a TLP that came `waited` symbols ago misses its limit, if the TLP that is ready goes first. ACKs
// wait that long, so that TLPs in a row share one.
bool DataLink::too_late(unsigned waited) {
    unsigned next = kSkip;
    if (up() && retry_.replaying())
        next += retry_.replayed_symbols();
    else if (const auto *queue = up() ? next_queue() : nullptr)
        next += queue->front().tlp.wire_bytes();
    return waited + next > ack_limit_;
}

const Packet *DataLink::next() {
    Dllp dllp;
    if (next_dllp(dllp)) {
        dllp_ = dllp.packet();
        return &dllp_;
    }
    if (!up())
        return nullptr;
    if (retry_.replaying()) {
        replay_timer_ = 0;
        return &retry_.next_replayed();
    }
    if (asked_ == Sleep::None)
        return next_tlp();
    if (agreed() == Sleep::None)
        return nullptr;
    counts_.sleep_acks++;
    dllp_ = Dllp::power(Dllp::RequestAck).packet();
    return &dllp_;
}

bool DataLink::next_dllp(Dllp &dllp) {
    const unsigned newest = expected_ - 1;
    if (nak_due_) {
        counts_.naks_sent++;
        dllp = Dllp::nak(newest);
        nak_due_ = ack_wanted_ = ack_now_ = false, ack_timer_ = 0;
        return true;
    }
    if (ack_wanted_ && (ack_now_ || too_late(ack_timer_))) {
        counts_.acks++;
        dllp = Dllp::ack(newest);
        ack_wanted_ = ack_now_ = false, ack_timer_ = 0;
        return true;
    }
    if (!up())
        return state_ != State::Down && next_init(dllp);
    return next_update(dllp);
}

bool DataLink::next_update(Dllp &dllp) {
    const auto due = [this](unsigned i) {
        const Update &update = updates_[i];
        if (!update.wanted || update.since >= kUpdateInterval)
            return update.since >= kUpdateInterval;
        if (options_.update_delay)
            return update.waits >= *options_.update_delay;
        return grants_.scarce(i, options_.mps) ||
               (options_.update_fc == UpdateFc::Minimum ? grants_.half(i) : update.since >= ack_limit_);
    };
    for (unsigned i = 0; i < kTlpClasses; i++) {
        if (grants_.infinite(i) || !due(i))
            continue;
        updates_[i] = {};
        counts_.updates++;
        grants_.announce(i);
        dllp = Dllp::flow_control(Dllp::Update, i, grants_.headers(i), grants_.data(i));
        return true;
    }
    return false;
}

// Three of a kind follow each other, then there is a pause.
bool DataLink::next_init(Dllp &dllp) {
    if (init_turn_ && init_turn_ % kTlpClasses == 0 && init_timer_ < kInitPause)
        return false;
    const unsigned i = init_turn_++ % kTlpClasses;
    init_timer_ = 1;
    dllp =
        Dllp::flow_control(state_ == State::Init1 ? Dllp::Init1 : Dllp::Init2, i, grants_.headers(i), grants_.data(i));
    if (state_ == State::Init2 && confirmed_ && init_turn_ >= kTlpClasses)
        come_up();
    return true;
}

bool DataLink::waiting() const {
    return std::any_of(queues_.begin(), queues_.end(), [](const auto &queue) { return !queue.empty(); });
}

// That of the oldest TLP that has credits. Only posted writes pass TLPs of other classes (PCIe 2.1 2.4.1).
std::deque<DataLink::Queued> *DataLink::next_queue() {
    if (retry_.full())
        return nullptr;
    const auto &posted = queues_[unsigned(TlpClass::Posted)];
    std::deque<Queued> *chosen = nullptr;
    for (auto &queue : queues_) {
        if (queue.empty() || (!options_.greedy && !limits_.allow(queue.front().tlp)) ||
            (chosen && chosen->front().number < queue.front().number))
            continue;
        if (&queue == &posted || posted.empty() || posted.front().number > queue.front().number)
            chosen = &queue;
    }
    return chosen;
}

const Packet *DataLink::next_tlp() {
    std::deque<Queued> *const chosen = next_queue();
    if (!chosen)
        return nullptr;
    const Tlp tlp = std::move(chosen->front().tlp);
    chosen->pop_front();
    limits_.consume(tlp);
    counts_.sent++;
    if (retry_.empty())
        replay_timer_ = 0;
    return &retry_.add(tlp);
}

}  // namespace litepcie::lane
