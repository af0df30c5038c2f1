// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/serdes_lane.h"

#include <utility>

namespace litepcie::lane {

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
