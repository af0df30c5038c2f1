// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/flow_control.h"
#include "link/link_rate.h"

namespace litepcie {

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

// The upper bound of this link model: the rate of an ideal card that always has a TLP ready.
//
// Each direction loses the bytes of SKP ordered sets, and of the ACKs and UpdateFCs that answer the other direction's
// TLPs. There is one ACK per TLP or per ACK interval, whichever is rarer; the same holds for UpdateFCs, unless the
// policy needs fewer. That is so for TLPs at even distances. Those of a burst are answered together, so a transfer
// whose requests leave in bursts may exceed this bound, but never the one without DLLPs. A direction is also limited by
// the beats that its TLPs take on the data path; read requests share them with writes.
//
// With descriptors, the card requests as many as MRRS allows in one TLP, and their completions of up to MPS share the
// receive path with the data of reads.
Rates link_bound(const BoundParameters &parameters);

}  // namespace litepcie
