// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "theory.h"

#include <algorithm>
#include <cmath>

namespace litepcie {

namespace {

constexpr unsigned kCompletionHeader = 12;

double skip_share() { return double(kSkpSymbols) / kSkpInterval; }

// Splitting `total` bytes into packets of at most `limit`.
struct Split {
    double count;  // packets per `total`
    double total;
    double average() const { return total / count; }
};

Split split(uint64_t descriptor_bytes, unsigned limit) {
    uint64_t total = descriptor_bytes ? descriptor_bytes : limit;
    return {std::ceil(double(total) / limit), double(total)};
}

// Largest x with x * wire + dllps(x) = capacity, where dllps(x) = 16 * min(x * tlps, most): payload bytes a second that
// fit beside the DLLPs which `tlps` TLPs per payload byte of the other direction ask for.
double payload_beside_dllps(double capacity, double wire, double tlps, double most) {
    double each = capacity / (wire + 2 * kDllpBytes * tlps);
    if (each * tlps <= most)
        return each;
    return (capacity - 2 * kDllpBytes * most) / wire;
}

// Beats of the data path a TLP takes; each begins a new one.
double beats(const BoundParameters &p, double payload, unsigned header) {
    return std::ceil((header + payload) * 8 / p.data_width);
}

}  // namespace

double application_note_rate(const LinkShape &shape, unsigned payload) {
    return raw_bytes_per_second(shape) * payload / (payload + kFramingBytes + kCompletionHeader);
}

PcieBench pcie_bench_rates(const LinkShape &shape, unsigned mps, unsigned mrrs, unsigned header_bytes) {
    double limit = ack_limit_symbols(shape, mps) * double(shape.lanes);
    double capacity = raw_bytes_per_second(shape) * (1 - 2 * kDllpBytes / limit - skip_share());
    double write_wire = double(mps + kFramingBytes + header_bytes) / mps;
    double read_wire = double(mps + kFramingBytes + kCompletionHeader) / mps;
    double request_wire = double(kFramingBytes + header_bytes) / mrrs;
    return {capacity / write_wire, capacity / std::max(read_wire, request_wire),
            std::min(capacity / (write_wire + request_wire), capacity / read_wire)};
}

Rates link_bound(const BoundParameters &p) {
    const bool reads = p.traffic != Traffic::Write, writes = p.traffic != Traffic::Read;
    const double raw = raw_bytes_per_second(p.shape);
    const double capacity = raw * (1 - skip_share());
    const double dllps_most = raw / (ack_limit_symbols(p.shape, p.mps) * double(p.shape.lanes));
    const Split write = split(p.descriptor_bytes, p.mps);
    const Split request = split(p.descriptor_bytes, p.mrrs);
    const Split completion =
        split(p.descriptor_bytes, std::min(p.completion_bytes ? p.completion_bytes : p.mps, p.mps));
    const double write_wire = 1 + write.count * (kFramingBytes + p.header_bytes) / write.total;
    const double completion_wire = 1 + completion.count * (kFramingBytes + kCompletionHeader) / completion.total;
    const double request_wire = request.count * (kFramingBytes + p.header_bytes) / request.total;

    Rates rates;
    if (reads) {
        double asking = request.count / request.total + (writes ? write.count / write.total : 0);
        double link = payload_beside_dllps(capacity, completion_wire, asking, dllps_most);
        double path = p.shape.clock_hz / beats(p, completion.average(), kCompletionHeader) * completion.average();
        rates.read = std::min(link, path);
    }
    if (writes) {
        double dllps = reads ? std::min(rates.read * completion.count / completion.total, dllps_most) : 0;
        double left = capacity - rates.read * request_wire - 2 * kDllpBytes * dllps;
        double free_beats = p.shape.clock_hz - rates.read / request.average() * beats(p, 0, p.header_bytes);
        double path = free_beats / beats(p, write.average(), p.header_bytes) * write.average();
        rates.write = std::min(left / write_wire, path);
    }
    return rates;
}

}  // namespace litepcie
