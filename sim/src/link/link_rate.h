// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstdint>

namespace litepcie {

constexpr unsigned kFramingBytes = 8;    // STP, sequence number, LCRC and END around each TLP
constexpr unsigned kDllpBytes = 8;       // a DLLP with its framing
constexpr unsigned kSkpSymbols = 4;      // symbols of a SKP ordered set on every lane
constexpr unsigned kSkpInterval = 1538;  // most symbol times between SKP ordered sets

// Generation and width of a link, and the clock of the card's PHY boundary.
struct LinkShape {
    unsigned gen = 2;    // 1, 2, 3
    unsigned lanes = 4;  // 1, 2, 4, 8, 16
    uint64_t clock_hz = 125000000;
};

// Rate of a link in whole numbers. A tick is a unit of time chosen so that a clock cycle and a byte on the link both
// take a whole number of ticks: no rounding error accumulates, whatever the ratio of clock and link rate.
struct LinkRate {
    int64_t cycle_ticks;   // ticks of a clock cycle
    int64_t byte_ticks;    // ticks to send one byte, spread over all lanes
    int64_t symbol_ticks;  // ticks of a symbol time, in which every lane sends one byte

    // Throws std::invalid_argument if the generation or the number of lanes does not exist.
    explicit LinkRate(const LinkShape &shape);
};

// Bytes per second over all lanes after encoding: 250, 500 or 984.6 MB/s per lane.
double raw_bytes_per_second(const LinkShape &shape);

// The longest time from a received TLP to its ACK or UpdateFC, in symbol times (PCIe 3.0 3.5.3.1):
// (MPS + 28) * AckFactor / lanes + internal delay. The model uses it as the shortest interval between two ACKs and
// between two UpdateFCs.
unsigned ack_limit_symbols(const LinkShape &shape, unsigned mps);

}  // namespace litepcie
