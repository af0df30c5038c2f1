// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "link/link_rate.h"

#include <numeric>
#include <stdexcept>
#include <string>

namespace litepcie {

namespace {

// Bytes per second of a lane as a fraction: Gen3 is 8 GT/s with 128b/130b encoding.
struct Fraction {
    int64_t numerator, denominator;
};

Fraction lane_rate(unsigned gen) {
    switch (gen) {
    case 1: return {250000000, 1};
    case 2: return {500000000, 1};
    case 3: return {int64_t(8000000000) * 128 / 8, 130};
    }
    throw std::invalid_argument("link generation " + std::to_string(gen) + " is not 1, 2 or 3");
}

void check_lanes(unsigned lanes) {
    if (lanes != 1 && lanes != 2 && lanes != 4 && lanes != 8 && lanes != 16)
        throw std::invalid_argument("link of " + std::to_string(lanes) + " lanes is not 1, 2, 4, 8 or 16");
}

// AckFactor of PCIe 3.0 tables 3-7 to 3-9, in tenths.
unsigned ack_factor_tenths(unsigned lanes, unsigned mps) {
    if (mps <= 256)
        return lanes <= 4 ? 14 : lanes == 8 ? 25 : 30;
    return lanes <= 8 ? 10 : 20;
}

constexpr SkipSets kSymbolSkips = {1538, 4, 0};
constexpr unsigned kBlockSymbols = 16;
constexpr SkipSets kBlockSkips = {375 * kBlockSymbols, kBlockSymbols, 4};

}  // namespace

SkipSets skip_sets(unsigned gen) { return gen >= 3 ? kBlockSkips : kSymbolSkips; }

LinkRate::LinkRate(const LinkShape &shape) {
    check_lanes(shape.lanes);
    if (!shape.clock_hz)
        throw std::invalid_argument("a clock of 0 Hz is not possible");
    Fraction lane = lane_rate(shape.gen);
    cycle_ticks = lane.numerator * shape.lanes;
    byte_ticks = lane.denominator * int64_t(shape.clock_hz);
    int64_t common = std::gcd(cycle_ticks, byte_ticks);
    cycle_ticks /= common;
    byte_ticks /= common;
    symbol_ticks = byte_ticks * shape.lanes;
}

double raw_bytes_per_second(const LinkShape &shape) {
    Fraction lane = lane_rate(shape.gen);
    return double(lane.numerator) / lane.denominator * shape.lanes;
}

unsigned ack_limit_symbols(const LinkShape &shape, unsigned mps) {
    const unsigned internal_delay = shape.gen == 1 ? 19 : shape.gen == 2 ? 70 : 115;
    return (mps + 28) * ack_factor_tenths(shape.lanes, mps) / (10 * shape.lanes) + internal_delay;
}

}  // namespace litepcie
