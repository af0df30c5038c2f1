// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstdint>

namespace litepcie {

constexpr unsigned kFramingBytes = 8;    // STP, sequence number, LCRC, END around each TLP
constexpr unsigned kDllpBytes = 8;       // a DLLP with its framing
constexpr unsigned kSkpSymbols = 4;      // of a SKP ordered set, on every lane
constexpr unsigned kSkpInterval = 1538;  // symbol times from one to the next, at most

// A link and the clock of the card behind it.
struct LinkShape {
    unsigned gen = 2;               // 1, 2, 3
    unsigned lanes = 4;             // 1, 2, 4, 8, 16
    uint64_t clock_hz = 125000000;  // of the PHY boundary
};

// Rate of a link in whole numbers: a tick is a unit of link time such that a clock cycle and a byte both are whole
// numbers of ticks, so that nothing drifts whatever the ratio of clock and link.
struct LinkRate {
    int64_t cycle_ticks;   // ticks in a clock cycle
    int64_t byte_ticks;    // ticks to send a byte over all lanes
    int64_t symbol_ticks;  // ticks of a symbol time: every lane sends one byte

    // Throws std::invalid_argument for a generation or a number of lanes that does not exist.
    explicit LinkRate(const LinkShape &shape);
};

// Bytes a second over all lanes after encoding: 250, 500, 984.6 MB/s a lane.
double raw_bytes_per_second(const LinkShape &shape);

// Longest time from a received TLP to its ACK, in symbol times, and the same for an update of flow control credits:
// PCIe 3.0 3.5.3.1, ((MPS + 28) * AckFactor / lanes) + internal delay. It is the shortest interval at which the model
// sends either.
unsigned ack_limit_symbols(const LinkShape &shape, unsigned mps);

}  // namespace litepcie
