// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/flow_control.h"
#include "link/link_rate.h"

namespace litepcie {

// Bytes a second of each direction. "Read" is host memory to FPGA.
struct Rates {
    double read = 0, write = 0;
};

// Application notes' form (AN 456, AN 855): payload / (payload + 20), DLLPs ignored.
double application_note_rate(const LinkShape &shape, unsigned payload);

// pcie-bench (SIGCOMM 2018) with DLLPs spread over all lanes. Headers: 12 bytes below 4 GiB, 16 above.
struct PcieBench {
    double write, read, both;
};
PcieBench pcie_bench_rates(const LinkShape &shape, unsigned mps, unsigned mrrs, unsigned header_bytes);

enum class Traffic { Read, Write, Both };

struct BoundParameters {
    LinkShape shape;
    unsigned data_width = 128;       // bits, of the PHY boundary
    unsigned mps = 256, mrrs = 512;  // bytes
    unsigned completion_bytes = 0;   // largest completion; 0: MPS
    unsigned header_bytes = 12;      // of requests of the card: 12 or 16
    uint64_t descriptor_bytes = 0;   // length of one descriptor, which a TLP never spans; 0: long
    Traffic traffic = Traffic::Write;
    UpdateFc update_fc = UpdateFc::Guideline;
};

// The ceiling of this link model: what an ideal card that always has a TLP ready reaches. Each direction loses SKP and
// the ACKs and UpdateFCs that the other direction's TLPs ask for: one ACK per TLP or per limit, whichever is rarer;
// UpdateFCs the same, or as few as the policy allows. No direction is faster than its TLPs, the requests of the other
// among them, fit into beats of the data path.
Rates link_bound(const BoundParameters &parameters);

}  // namespace litepcie
