// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "link/link_rate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

namespace litepcie {

// Rates ---------------------------------------------------------------------------------------------------------------

namespace {

// Bytes per second of a lane as a fraction: Gen3 and Gen4 are 8 and 16 GT/s with 128b/130b encoding.
struct Fraction {
    int64_t numerator, denominator;
};

Fraction lane_rate(unsigned gen) {
    switch (gen) {
    case 1: return {250000000, 1};
    case 2: return {500000000, 1};
    case 3: return {int64_t(8000000000) * 128 / 8, 130};
    case 4: return {int64_t(16000000000) * 128 / 8, 130};
    }
    throw std::invalid_argument("link generation " + std::to_string(gen) + " is not 1, 2, 3 or 4");
}

void check_lanes(unsigned lanes) {
    if (lanes != 1 && lanes != 2 && lanes != 4 && lanes != 8 && lanes != 16)
        throw std::invalid_argument("link of " + std::to_string(lanes) + " lanes is not 1, 2, 4, 8 or 16");
}

// AckFactor of PCIe 3.0 tables 3-7 to 3-9, in tenths; PCIe 4.0 has the same at 16 GT/s.
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
    static const unsigned internal_delay[] = {19, 70, 115, 185};
    return (mps + 28) * ack_factor_tenths(shape.lanes, mps) / (10 * shape.lanes) + internal_delay[shape.gen - 1];
}

// Bounds --------------------------------------------------------------------------------------------------------------

namespace {

constexpr unsigned kCompletionHeader = 12;
constexpr unsigned kDescriptorBytes = 16;
constexpr unsigned kSegmentBits = 128;  // at whose multiples a completion begins with the straddle option

// Of SKP ordered sets in the published formula, which has those of Gen1 and Gen2 for all generations.
constexpr double kPublishedSkipShare = 4.0 / 1538;

// A transfer of `total` bytes, split into `count` packets of `limit` bytes, of which the last may be shorter.
struct Split {
    double count;
    double total;
    double limit;
    double average() const { return total / count; }
    double last() const { return total - (count - 1) * limit; }
};

Split split(uint64_t descriptor_bytes, unsigned limit) {
    uint64_t total = descriptor_bytes ? descriptor_bytes : limit;
    return {std::ceil(double(total) / limit), double(total), double(limit)};
}

// TLPs per second of one direction, by class.
struct TlpRates {
    double posted = 0, non_posted = 0, completions = 0;
    double sum() const { return posted + non_posted + completions; }
};

// UpdateFCs per second of one class with UpdateFc::Minimum: one per half of the credits, at least one per 30 us.
double fewest_updates(double tlps, int64_t headers, double data_of_each, int64_t data) {
    const double per_update = std::min(std::ceil(headers / 2.0), std::ceil(data / 2.0 / std::max(data_of_each, 1e-9)));
    return std::max(tlps / per_update, 1 / kUpdateFcSeconds);
}

// The same of one class with UpdateFc::PerType: the interval may end as a TLP begins, behind which the UpdateFC leaves.
double recommended_updates(const BoundParameters &p, double tlps) {
    const double interval =
        ack_limit_symbols(p.shape, p.mps) * double(p.shape.lanes) + (p.mps + kFramingBytes + p.header_bytes);
    return std::max(std::min(tlps, raw_bytes_per_second(p.shape) / interval), tlps > 0 ? 1 / kUpdateFcSeconds : 0);
}

// Bytes per second of the DLLPs that answer `tlps`, where the receiver advertises `credits`.
double dllp_bytes(const BoundParameters &p, const TlpRates &tlps, double posted_bytes, const Credits &credits) {
    if (!p.dllps)
        return 0;
    const double limit = raw_bytes_per_second(p.shape) / (ack_limit_symbols(p.shape, p.mps) * double(p.shape.lanes));
    const double acks = std::min(tlps.sum(), limit);
    if (p.update_fc == UpdateFc::Guideline)
        return 2 * kDllpBytes * acks;
    if (p.update_fc == UpdateFc::PerType)
        return kDllpBytes * (acks + recommended_updates(p, tlps.posted) + recommended_updates(p, tlps.non_posted));
    const double posted_credits = std::ceil(posted_bytes / kCreditBytes);
    return kDllpBytes * (acks + fewest_updates(tlps.posted, credits.header[0], posted_credits, credits.data[0]) +
                         fewest_updates(tlps.non_posted, credits.header[1], 0, credits.data[1]));
}

// Clock cycles of the card that TLPs take on the data path, and at the hard block.
struct Beats {
    double of_card = 0, of_block = 0;
    double slower() const { return std::max(of_card, of_block); }
};

// Those of one TLP. Each TLP begins in a beat of its own, unless it `shares` beats of the hard block.
Beats beats(const BoundParameters &p, double payload, unsigned header, bool shares = false) {
    const double bits = (header + payload) * 8;
    Beats found = {std::ceil(bits / p.data_width), 0};
    if (p.block_width)
        found.of_block =
            (shares ? std::ceil(bits / kSegmentBits) * kSegmentBits / p.block_width : std::ceil(bits / p.block_width)) *
            p.shape.clock_hz / p.block_clock_hz;
    return found;
}

// Those of an average packet of a transfer.
Beats average_beats(const BoundParameters &p, const Split &packets, unsigned header, bool shares = false) {
    const Beats whole = beats(p, std::min(packets.limit, packets.total), header, shares);
    const Beats last = beats(p, packets.last(), header, shares);
    const double others = packets.count - 1;
    return {(others * whole.of_card + last.of_card) / packets.count,
            (others * whole.of_block + last.of_block) / packets.count};
}

// TLPs with `each` beats per second, where others take `used` beats in each second.
double tlps_beside(double clock_hz, const Beats &each, const Beats &used) {
    const double at_card = (clock_hz - used.of_card) / each.of_card;
    return each.of_block > 0 ? std::min(at_card, (clock_hz - used.of_block) / each.of_block) : at_card;
}

}  // namespace

double application_note_rate(const LinkShape &shape, unsigned payload) {
    return raw_bytes_per_second(shape) * payload / (payload + kFramingBytes + kCompletionHeader);
}

PcieBench pcie_bench_rates(const LinkShape &shape, unsigned mps, unsigned mrrs, unsigned header_bytes) {
    double limit = ack_limit_symbols(shape, mps) * double(shape.lanes);
    double capacity = raw_bytes_per_second(shape) * (1 - 2 * kDllpBytes / limit - kPublishedSkipShare);
    double write_wire = double(mps + kFramingBytes + header_bytes) / mps;
    double read_wire = double(mps + kFramingBytes + kCompletionHeader) / mps;
    double request_wire = double(kFramingBytes + header_bytes) / mrrs;
    return {capacity / write_wire, capacity / std::max(read_wire, request_wire),
            std::min(capacity / (write_wire + request_wire), capacity / read_wire)};
}

Rates link_bound(const BoundParameters &p) {
    const bool reads = p.traffic != Traffic::Write, writes = p.traffic != Traffic::Read;
    const double capacity = raw_bytes_per_second(p.shape) * (1 - skip_sets(p.shape.gen).share(p.shape.lanes));
    const Split write = split(p.descriptor_bytes, p.mps);
    const Split request = split(p.descriptor_bytes, p.mrrs);
    const Split completion =
        split(p.descriptor_bytes, std::min(p.completion_bytes ? p.completion_bytes : p.mps, p.mps));
    const double write_wire = 1 + write.count * (kFramingBytes + p.header_bytes) / write.total;
    // For one byte of data: bytes of descriptors, and what their requests and completions take.
    const double fetched = p.with_descriptors && p.descriptor_bytes ? kDescriptorBytes / double(p.descriptor_bytes) : 0;
    const double answer = std::min(p.completion_bytes ? p.completion_bytes : p.mps, p.mps);
    const double fetch_wire = fetched * (1 + (kFramingBytes + kCompletionHeader) / answer);
    const Beats fetch = beats(p, answer, kCompletionHeader, p.straddle);
    const double fetch_request_wire = fetched / p.mrrs * (kFramingBytes + p.header_bytes);
    const double completion_wire =
        1 + completion.count * (kFramingBytes + kCompletionHeader) / completion.total + fetch_wire;
    const double request_wire = request.count * (kFramingBytes + p.header_bytes) / request.total + fetch_request_wire;
    const Beats of_completion = average_beats(p, completion, kCompletionHeader, p.straddle);
    const double fetches = fetched / answer * completion.average();  // for each completion of data
    const double path =
        p.shape.clock_hz /
        Beats{of_completion.of_card + fetches * fetch.of_card, of_completion.of_block + fetches * fetch.of_block}
            .slower() *
        completion.average();
    const Beats of_request = beats(p, 0, p.header_bytes), of_write = average_beats(p, write, p.header_bytes);

    // The DLLPs of a direction depend on the other direction's rate, but only a little: this iteration converges.
    Rates rates = {reads ? path : 0, writes ? capacity : 0};
    for (int round = 0; round < 20; round++) {
        const TlpRates of_card = {rates.write / write.average(), rates.read / request.average(), 0};
        const TlpRates of_host = {0, 0, rates.read / completion.average()};
        if (reads) {
            const double left =
                capacity - dllp_bytes(p, of_card, write.average(), kRootPortCredits) - rates.write * fetch_wire;
            rates.read = std::min(left / completion_wire, path);
            if (p.most.read > 0)
                rates.read = std::min(rates.read, p.most.read);
        }
        if (writes) {
            const double left = capacity - rates.read * request_wire - dllp_bytes(p, of_host, 0, card_credits(p.mps));
            const double wire = write_wire + fetch_request_wire;
            const Beats used = {of_card.non_posted * of_request.of_card, of_card.non_posted * of_request.of_block};
            rates.write = std::min(left / wire, tlps_beside(p.shape.clock_hz, of_write, used) * write.average());
            if (p.most.write > 0)
                rates.write = std::min(rates.write, p.most.write);
        }
    }
    return rates;
}

Rates bound_alone(BoundParameters p) {
    Rates rates;
    p.traffic = Traffic::Read;
    rates.read = link_bound(p).read;
    p.traffic = Traffic::Write;
    rates.write = link_bound(p).write;
    return rates;
}

Rates bound_beside(const BoundParameters &p, const Moved &read, const Moved &write) {
    const Rates alone = bound_alone(p);
    BoundParameters with_write = p, with_read = p;
    with_write.traffic = with_read.traffic = Traffic::Both;
    with_write.most.write = write.rate();
    with_read.most.read = read.rate();
    Rates rates;
    const double after = read.seconds - write.seconds;
    if (!p.dllps && after > 0) {
        const double asked = (read.bytes - alone.read * after) / write.seconds;
        with_read.most.read = std::max(asked, 1.0);  // 0 would be no limit
    }
    const double beside = std::min(read.seconds, write.seconds);
    rates.read = (link_bound(with_write).read * beside + alone.read * (read.seconds - beside)) / read.seconds;
    rates.write = (link_bound(with_read).write * beside + alone.write * (write.seconds - beside)) / write.seconds;
    return rates;
}

}  // namespace litepcie
