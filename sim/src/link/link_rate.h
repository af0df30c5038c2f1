// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstdint>

namespace litepcie {

constexpr unsigned kLcrcBytes = 4, kSequenceBytes = 2;
// Around each TLP. Gen1 and Gen2: STP and END of one symbol, the sequence number, LCRC (PCIe 3.0 4.2.1.2). Gen3: the
// STP token, which contains length and sequence number, and LCRC; there is no END (4.2.2.3.1).
constexpr unsigned kFramingBytes = 1 + kSequenceBytes + kLcrcBytes + 1;
constexpr unsigned kStpTokenBytes = 4;
static_assert(kFramingBytes == kStpTokenBytes + kLcrcBytes, "framing of a TLP is equally long in all generations");

constexpr unsigned kDllpBodyBytes = 6;  // with its CRC
// A DLLP. Gen1 and Gen2: between SDP and END of one symbol. Gen3: after an SDP token of two, without END.
constexpr unsigned kDllpBytes = 1 + kDllpBodyBytes + 1;
constexpr unsigned kSdpTokenBytes = 2;
static_assert(kDllpBytes == kSdpTokenBytes + kDllpBodyBytes, "a DLLP is equally long in all generations");

// Generation and width of a link, and the clock of the card's PHY boundary.
struct LinkShape {
    unsigned gen = 2;    // 1, 2, 3
    unsigned lanes = 4;  // 1, 2, 4, 8, 16
    uint64_t clock_hz = 125000000;
};

// SKP ordered sets: how often they are sent, and what they take.
//
// Gen1 and Gen2 (PCIe 3.0 4.2.7.1): four symbols on every lane, at most 1538 symbol times apart. Gen3 (4.2.7.2): one
// block of 16 symbols, at most 375 blocks apart. The data stream before it ends with an EDS token of four bytes
// (4.2.2.3.1). The two bits of the sync header of each block are part of the link's rate, 128/130.
struct SkipSets {
    unsigned interval_symbols;
    unsigned symbols;      // on every lane
    unsigned token_bytes;  // once for all lanes

    unsigned bytes(unsigned lanes) const { return symbols * lanes + token_bytes; }
    // Of the bytes of a link.
    double share(unsigned lanes) const { return double(bytes(lanes)) / (interval_symbols * lanes); }
};
SkipSets skip_sets(unsigned gen);

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
