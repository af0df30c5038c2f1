// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/flow_control.h"

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

// Bytes per second in each direction. "Read" is host memory to FPGA.
struct Rates {
    double read = 0, write = 0;
};

// The formula of the application notes AN 456 and AN 855: payload / (payload + 20), without DLLPs.
double application_note_rate(const LinkShape &shape, unsigned payload);

// The model of pcie-bench (SIGCOMM 2018), with DLLPs spread over all lanes. `header_bytes` is 12 for addresses below
// 4 GiB and 16 above.
struct PcieBench {
    double write, read, both;
};
PcieBench pcie_bench_rates(const LinkShape &shape, unsigned mps, unsigned mrrs, unsigned header_bytes);

enum class Traffic { Read, Write, Both };

struct BoundParameters {
    LinkShape shape;
    unsigned data_width = 128;       // of the PHY boundary, bits
    unsigned block_width = 0;        // of a hard block with another clock, bits; 0: there is none
    uint64_t block_clock_hz = 0;     // of that hard block
    bool straddle = false;           // completions share beats of that hard block
    unsigned mps = 256, mrrs = 512;  // bytes
    unsigned completion_bytes = 0;   // bytes of the largest completion; 0: MPS
    unsigned header_bytes = 12;      // of the card's requests: 12 or 16
    uint64_t descriptor_bytes = 0;   // length of a descriptor, as no TLP spans two; 0: much more than MPS and MRRS
    bool with_descriptors = false;   // each descriptor of 16 bytes is fetched from the host
    Traffic traffic = Traffic::Write;
    Rates most;  // with Traffic::Both: what each direction really moves, 0: as much as it can
    UpdateFc update_fc = UpdateFc::Guideline;
    bool dllps = true;  // without: what no traffic exceeds, however it bunches its TLPs
};

// The rate of an ideal card in this link model, which always has a TLP ready.
//
// Without DLLPs it is a bound: no card moves more, whatever the order and the distances of its TLPs. Let C be the rate
// of a direction less its SKP ordered sets. In any T seconds a direction carries at most C T bytes, and one SKP ordered
// set more or less. A read of r bytes puts r and 8 + 12 bytes for each completion on the way to the card, and 8 and a
// header for each request on the way to the host; a write puts its bytes, and 8 and a header for each TLP, there. There
// is at least a completion for each MPS, a request for each MRRS, and a TLP for each MPS of a descriptor. So, with the
// bytes on the link for one byte of data (c: completions, q: requests, w: writes):
//
//     read c <= C        read q + write w <= C
//
// and the same for the beats that TLPs take on the data path, of which a direction has as many as there are cycles.
//
// DLLPs take away what ACKs and UpdateFCs need. There is one ACK per TLP of the other direction or per ACK interval,
// whichever is rarer; the same holds for UpdateFCs, unless the policy needs fewer. That is so for TLPs at even
// distances, and then it is what the link model reaches. It is no bound for other cards: TLPs that come in bursts are
// answered together, so less may be taken away.
//
// With descriptors, the card requests as many as MRRS allows in one TLP, and their completions of up to MPS share the
// receive path with the data of reads.
Rates link_bound(const BoundParameters &parameters);

// What a direction moved, from a moment at which both began.
struct Moved {
    double bytes = 0, seconds = 0;
    double rate() const { return bytes / seconds; }
};

// The rates of both directions at once, each beside what the other one really moved: a direction that is slower, or
// that ends earlier, leaves more of the link to the other. While both run, a direction has what the other one leaves;
// after that it has the rate alone.
//
// Without DLLPs they are bounds, too. If the writes end first, at Tw, the reads bring at most their bound alone in the
// rest of their time Tr. All other data came before Tw, and their requests left before them. So requests for at least
//
//     bytes of reads - bound alone (Tr - Tw)
//
// shared the way to the host with the writes. If the reads end first, all their requests left in their time; what the
// writes moved in it is bounded by the sum of both, and the rest by their bound alone.
//
// With DLLPs, the reads' average stands for the requests beside the writes: those of an ideal card do not change.
Rates bound_beside(const BoundParameters &parameters, const Moved &read, const Moved &write);
// Each direction alone.
Rates bound_alone(BoundParameters parameters);

}  // namespace litepcie
