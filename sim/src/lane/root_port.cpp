// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/root_port.h"

namespace litepcie::lane {

RootPort::RootPort(const RootPortOptions &options, uint64_t seed)
    : random_(seed), transmitter_(seed + 1), training_(options.training, seed + 2), data_link_(options.data_link),
      master_(seed + 3), damage_every_(options.damage_every) {
    transmitter_.skips = options.skips;
    transmitter_.fixed_interval = options.skip_interval;
}

Symbol RootPort::step(Symbol symbol) {
    training_.advance(symbol == kSilence);
    take(symbol);
    data_link_.advance(training_.link_up(), training_.active());
    if (data_link_.wants_retrain())
        training_.retrain();
    training_.power(data_link_.agreed(), data_link_.waiting());
    receiver_.descrambler.off = transmitter_.scrambler.off = training_.scrambling_off();
    return give();
}

void RootPort::take(Symbol symbol) {
    if (symbol == kSilence) {
        receiver_.silence();
        return;
    }
    if (loaded_ == Training::Send::Loopback) {
        master_.take(receiver_.invert ? inverted(symbol) : symbol);
        return;
    }
    const Received what = receiver_.take(symbol);
    idle_sets_ += what == Received::IdleSet;
    if (what == Received::Nothing)
        return;
    if (what != Received::Packet) {
        training_.received(what, receiver_);
        return;
    }
    const Packet &packet = receiver_.packet();
    const bool may_be_damaged = damage_every_ && !packet.dllp && !packet.bytes.empty() && data_link_.up();
    if (may_be_damaged && random_() % damage_every_ == 0) {
        Packet damaged = packet;
        damaged.bytes[damaged_++ % damaged.bytes.size()] ^= 1;
        data_link_.receive(damaged);
    } else {
        data_link_.receive(packet);
    }
    if (data_link_.update_seen())
        training_.alive();
}

Symbol RootPort::give() {
    const Training::Send send = training_.send();
    if (send == Training::Send::Silence) {
        loaded_ = send;
        return transmitter_.silence();
    }
    // What was begun before the link left L0 is cut, or not: both are allowed.
    if (was_active_ && !training_.active() && random_() & 1)
        transmitter_.cut();
    was_active_ = training_.active();
    if (transmitter_.empty()) {
        if (loaded_ == Training::Send::Sets || loaded_ == Training::Send::IdleSet)
            training_.sent_set(loaded_ == Training::Send::IdleSet);
        if (training_.send() == Training::Send::Loopback)
            return give_loopback();
        loaded_ = Training::Send::Data;
        if (!transmitter_.load_skip())
            return give_data();
    }
    return transmitter_.pop();
}

// Its symbols are not scrambled, and it has SKP sets of its own.
Symbol RootPort::give_loopback() {
    if (loaded_ != Training::Send::Loopback)
        master_.begin();
    loaded_ = Training::Send::Loopback;
    return master_.next();
}

// Faults begin when flow control is initialized.
const Packet *RootPort::next_packet() {
    const Packet *packet = faults_.extra();
    if (packet)
        return packet;
    packet = data_link_.next();
    return data_link_.up() ? faults_.change(packet) : packet;
}

// What training asks for now: it may have changed with the set that ended.
Symbol RootPort::give_data() {
    loaded_ = training_.send();
    switch (loaded_) {
    case Training::Send::Silence: return transmitter_.silence();
    case Training::Send::Loopback: return give_loopback();
    case Training::Send::Sets: transmitter_.load(training_.set()); break;
    case Training::Send::IdleSet: transmitter_.load_idle_set(); break;
    case Training::Send::Data: {
        const Packet *packet = training_.active() ? next_packet() : nullptr;
        if (!packet) {
            training_.sent_idle();
            return transmitter_.idle();
        }
        transmitter_.load(*packet);
    }
    }
    return transmitter_.pop();
}

}  // namespace litepcie::lane
