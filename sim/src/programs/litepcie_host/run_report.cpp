// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/transfer_run.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace litepcie {

namespace {

using Json = nlohmann::ordered_json;

double rate(uint64_t bytes, uint64_t cycles, uint64_t clock_hz) {
    return cycles ? double(bytes) * clock_hz / cycles : 0;
}

// Rates of one direction in bytes per second. `model` is by the model's clock, the others by the gateware's counters.
struct Summary {
    double peak = 0, average = 0, last = 0, model = 0;
    double seconds = 0;  // while the engine was active
    size_t count = 0;
};

Summary summarize(const std::vector<Iteration> &iterations, std::optional<Measure> Iteration::*which,
                  const RunConditions &c) {
    Summary s;
    const uint64_t clock_hz = c.clock_hz;
    uint64_t bytes = 0, cycles = 0, model_cycles = 0;
    for (const Iteration &iteration : iterations) {
        const std::optional<Measure> &m = iteration.*which;
        if (!m)
            continue;
        s.last = rate(m->counters.bytes, m->counters.active, clock_hz);
        s.peak = std::max(s.peak, s.last);
        bytes += m->counters.bytes;
        cycles += m->counters.active;
        model_cycles += m->model_cycles;
        s.count++;
    }
    s.average = rate(bytes, cycles, clock_hz);
    s.seconds = double(cycles) / clock_hz;
    s.model = rate(bytes, model_cycles, c.machine_hz);
    return s;
}

BoundParameters bound_parameters(const RunConditions &c, const RunOptions &options) {
    BoundParameters p;
    p.shape = {c.gen, c.lanes, c.clock_hz};
    p.data_width = c.data_width;
    p.block_width = c.block_width;
    p.block_clock_hz = c.block_clock_hz;
    p.straddle = c.straddle;
    p.mps = options.mps;
    p.mrrs = options.mrrs;
    p.completion_bytes = c.completion_bytes;
    p.update_fc = c.update_fc;
    p.header_bytes = options.address_bits == 64 ? 16 : 12;
    p.descriptor_bytes = options.descriptor_bytes;
    return p;
}

// Upper bounds for the sequence. Directions share the link only if they run at the same time.
Rates bound(const BoundParameters &p, const RunOptions &options, const Summary &read, const Summary &write) {
    if (options.sequence != "read-and-write" || !(read.seconds > 0 && write.seconds > 0))
        return bound_alone(p);
    return bound_beside(p, {read.average * read.seconds, read.seconds}, {write.average * write.seconds, write.seconds});
}

Json measure_json(const Measure &m, const RunConditions &of) {
    const EngineCounters &c = m.counters;
    return {{"bytes", c.bytes},
            {"active_cycles", c.active},
            {"bytes_per_second", rate(c.bytes, c.active, of.clock_hz)},
            {"model_cycles", m.model_cycles},
            {"model_bytes_per_second", rate(c.bytes, m.model_cycles, of.machine_hz)},
            {"descriptors", c.descriptors},
            {"tlps", c.tlps},
            {"wait_descriptor", c.wait_descriptor},
            {"wait_tag", c.wait_tag},
            {"wait_link", c.wait_link},
            {"wait_data", c.wait_data}};
}

Json summary_json(const Summary &s, double bound, double with_descriptors, double without_dllps) {
    return {{"average_bytes_per_second", s.average},
            {"peak_bytes_per_second", s.peak},
            {"last_bytes_per_second", s.last},
            {"model_bytes_per_second", s.model},
            {"bound_bytes_per_second", bound},
            {"share_of_bound", s.average / bound},
            {"bound_with_descriptors_bytes_per_second", with_descriptors},
            {"bound_without_dllps_bytes_per_second", without_dllps}};
}

const char *update_fc_name(UpdateFc policy) {
    switch (policy) {
    case UpdateFc::Minimum: return "minimum";
    case UpdateFc::PerType: return "per-type";
    default: return "guideline";
    }
}

}  // namespace

RunConditions conditions_of(const Model &model) {
    const CardInfo &card = model.info();
    const ModelOptions &host = model.options();
    return {card.gen,         card.lanes,          card.data_width, card.clock_hz,         card.clock_hz,
            card.block_width, card.block_clock_hz, card.straddle(), host.completion_bytes, host.latency_ns,
            host.update_fc};
}

void RunReport::print() const {
    const RunConditions &c = conditions_;
    const Summary read = summarize(iterations_, &Iteration::read, c);
    const Summary write = summarize(iterations_, &Iteration::write, c);
    const Rates limits = bound(bound_parameters(conditions_, options_), options_, read, write);
    const double theory = application_note_rate({c.gen, c.lanes, c.clock_hz}, options_.mps);
    printf("%s: %llu bytes x %zu, MPS %u, MRRS %u, Gen%u x%u, %u bit at %.0f MHz\n", options_.sequence.c_str(),
           (unsigned long long)options_.length, iterations_.size(), options_.mps, options_.mrrs, c.gen, c.lanes,
           c.data_width, double(c.clock_hz) / 1e6);
    printf("%-6s %10s %10s %10s %12s %10s %8s %10s   (MB/s)\n", "", "average", "peak", "last", "model clock", "bound",
           "share", "theory");
    const struct {
        const char *name;
        const Summary &of;
        double limit;
    } rows[] = {{"read", read, limits.read}, {"write", write, limits.write}};
    for (const auto &row : rows) {
        const Summary &s = row.of;
        if (s.count)
            printf("%-6s %10.1f %10.1f %10.1f %12.1f %10.1f %7.1f%% %10.1f\n", row.name, s.average / 1e6, s.peak / 1e6,
                   s.last / 1e6, s.model / 1e6, row.limit / 1e6, 100 * s.average / row.limit, theory / 1e6);
    }
}

void RunReport::write_json(const std::string &path, const std::string &failure) const {
    const RunConditions &card = conditions_;
    const Summary read = summarize(iterations_, &Iteration::read, card);
    const Summary write = summarize(iterations_, &Iteration::write, card);
    BoundParameters parameters = bound_parameters(conditions_, options_);
    const Rates limits = bound(parameters, options_, read, write);
    parameters.with_descriptors = true;
    const Rates with_descriptors = bound(parameters, options_, read, write);
    parameters.with_descriptors = parameters.dllps = false;
    const Rates without_dllps = bound(parameters, options_, read, write);
    const LinkShape shape{card.gen, card.lanes, card.clock_hz};
    Json json = {
        {"ok", failure.empty()},
        {"target", identity_.target},
        {"gen", card.gen},
        {"lanes", card.lanes},
        {"datapath_bits", card.data_width},
        {"clock_hz", card.clock_hz},
        {"tags", identity_.tags},
        {"mps", options_.mps},
        {"mrrs", options_.mrrs},
        {"completion_bytes", card.completion_bytes ? card.completion_bytes : options_.mps},
        {"latency_ns", card.latency_ns},
        {"update_fc", update_fc_name(card.update_fc)},
        {"header_bytes", options_.address_bits == 64 ? 16 : 12},
        {"transfer_bytes", options_.length},
        {"descriptor_bytes", options_.descriptor_bytes},
        {"iterations", iterations_.size()},
        {"batch", options_.batch},
        {"sequence", options_.sequence},
        {"theory_bytes_per_second", application_note_rate(shape, options_.mps)},
    };
    if (!failure.empty())
        json["failure"] = failure;
    PcieBench bench = pcie_bench_rates(shape, options_.mps, options_.mrrs, options_.address_bits == 64 ? 16 : 12);
    json["pcie_bench"] = {{"read_bytes_per_second", bench.read},
                          {"write_bytes_per_second", bench.write},
                          {"both_bytes_per_second", bench.both}};
    if (read.count)
        json["read"] = summary_json(read, limits.read, with_descriptors.read, without_dllps.read);
    if (write.count)
        json["write"] = summary_json(write, limits.write, with_descriptors.write, without_dllps.write);
    json["runs"] = Json::array();
    for (const Iteration &iteration : iterations_) {
        Json run = Json::object();
        if (iteration.read)
            run["read"] = measure_json(*iteration.read, card);
        if (iteration.write)
            run["write"] = measure_json(*iteration.write, card);
        json["runs"].push_back(run);
    }
    std::ofstream file(path);
    file << json.dump(2) << "\n";
    file.close();
    if (!file)
        throw std::runtime_error("cannot write " + path + ": " + strerror(errno));
}

}  // namespace litepcie
