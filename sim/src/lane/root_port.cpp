// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/root_port.h"

#include <utility>

namespace litepcie::lane {

// Root Port -----------------------------------------------------------------------------------------------------------

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

// Lane ----------------------------------------------------------------------------------------------------------------

namespace {

constexpr uint64_t kMillion = 1000000;

}  // namespace

SerDesLane::SerDesLane(const LaneOptions &options, const RootPortOptions &port, uint64_t seed)
    : options_(options), random_(seed),
      port_(port, seed), down_{{}, options.down_swapped, options.down_shift, options.down_errors_every},
      up_{{}, options.up_swapped, options.up_shift, options.up_errors_every} {
    draw(down_);
    draw(up_);
}

void SerDesLane::clock(const SerDesOutputs &endpoint, SerDesInputs &inputs) {
    const auto sent_by = [&](unsigned n) -> Symbol {
        if (endpoint.tx_idle >> n & 1)
            return kSilence;
        return (endpoint.tx_data >> 8 * n & 0xff) | (endpoint.tx_k >> n & 1 ? kControl : 0);
    };
    up_.buffer.push(sent(up_, {sent_by(0), sent_by(1)}));
    for (phase_ += kMillion + options_.drift; phase_ >= kMillion; phase_ -= kMillion)
        step_port();

    if (line) {
        inputs.rx_idle = silent_;
        detect(endpoint, inputs);
        return;
    }
    Pair pair;
    inputs.rx_valid = down_.buffer.pop(pair) && !((pair.first | pair.second) & kSilence);
    inputs.rx_overflow = down_.buffer.lost();
    inputs.rx_idle = pair.second == kSilence;
    if (endpoint.polarity)
        pair = {inverted(pair.first), inverted(pair.second)};
    inputs.rx_data = (pair.first & 0xff) | (pair.second & 0xff) << 8;
    inputs.rx_k = (pair.first & kControl ? 1 : 0) | (pair.second & kControl ? 2 : 0);
    inputs.rx_error = (pair.first & kDamaged ? 1 : 0) | (pair.second & kDamaged ? 2 : 0);
    detect(endpoint, inputs);
}

// A cycle of the root port. Its elastic buffer is behind its own clock.
void SerDesLane::step_port() {
    Pair in;
    up_.buffer.pop(in);
    Pair out;
    out.first = port_.step(in.first);
    out.second = port_.step(in.second);
    const Pair arrived = options_.absent || options_.silent ? Pair{kSilence, kSilence} : sent(down_, out);
    silent_ = arrived.second == kSilence;
    if (line)
        line(arrived);
    else
        down_.buffer.push(arrived);
}

// What is on the wire, in the pairs of the receiver.
Pair SerDesLane::sent(Direction &direction, Pair pair) {
    pair.first = damaged(direction, pair.first);
    pair.second = damaged(direction, pair.second);
    if (direction.swapped)
        pair = {inverted(pair.first), inverted(pair.second)};
    if (direction.shift)
        pair = {std::exchange(direction.late, pair.second), pair.first};
    if (!options_.delay)
        return pair;
    direction.wire.push_back(pair);
    if (direction.wire.size() <= options_.delay)
        return {};
    pair = direction.wire.front();
    direction.wire.pop_front();
    return pair;
}

void SerDesLane::draw(Direction &direction) {
    if (direction.errors_every)
        direction.until_error = std::geometric_distribution<uint64_t>(1.0 / direction.errors_every)(random_);
}

// A wrong bit gives a wrong code, or that of another symbol. Then the running disparity shows it at the next one.
Symbol SerDesLane::damaged(Direction &direction, Symbol symbol) {
    if (std::exchange(direction.flagged, false) && symbol != kSilence)
        symbol |= kDamaged;
    const bool tested = port_.training().active() || port_.training().state() == LinkState::LoopbackActive;
    if (!direction.errors_every || symbol == kSilence || !tested || direction.until_error-- > 0)
        return symbol;
    draw(direction);
    direction.injected++;
    direction.flagged = random_() % 4 == 0;
    const Symbol other = (symbol & ~0xff) | (random_() & 0xff);
    return direction.flagged ? other & ~kControl : other | kDamaged;
}

void SerDesLane::detect(const SerDesOutputs &endpoint, SerDesInputs &inputs) {
    inputs.ready = ++cycle_ > options_.reset_cycles;
    if (endpoint.detect)
        detecting_ = options_.detect_cycles, detected_ = false;
    else if (detecting_ && --detecting_ == 0)
        detected_ = true;
    inputs.detect_done = detected_;
    inputs.detect_present = detected_ && !options_.absent;
}

}  // namespace litepcie::lane
