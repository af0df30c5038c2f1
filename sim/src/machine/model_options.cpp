// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "machine/model_options.h"

#include "machine/host_profile.h"
#include "root/root_complex.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace litepcie {

namespace {

constexpr uint64_t kSecond = 1000000000;  // ns
constexpr uint64_t kMostReads = 65536;
constexpr unsigned kMostHeaders = 127, kMostData = 2047;  // of a port (PCIe 4.0 2.6.1)

// "PH,PD,NPH": posted headers, posted data in 16 bytes, reads.
Credits parse_credits(const std::string &text) {
    unsigned posted, data, reads;
    char more;
    if (sscanf(text.c_str(), "%u,%u,%u%c", &posted, &data, &reads, &more) != 3 || !posted || !reads ||
        posted > kMostHeaders || reads > kMostHeaders || data > kMostData || data < 8)
        throw UsageError("--credits: '" + text +
                         "' is not allowed; give PH,PD,NPH with 1 to 127 headers and 8 to 2047 " +
                         "units of 16 bytes, as in 64,256,64");
    return {{posted, reads, Credits::kInfinite}, {data, reads, Credits::kInfinite}};
}

}  // namespace

void add_model_options(CommandLine &line, ModelOptions &o) {
    line.choice("--mps-supported", "largest Max_Payload_Size that the card announces, bytes (512)", o.mps_supported,
                {128, 256, 512, 1024, 2048, 4096});
    line.choice<bool>("--extended-tag", "the card offers extended tags (above 31), and the host enables them (on)",
                      o.extended_tag, {{"on", true}, {"off", false}});
    line.choice<bool>("--msix", "the card offers MSI-X if it has it (on)", o.msix, {{"on", true}, {"off", false}});
    line.number("--latency-extra-ns", "NS", "adds NS to every latency, as a clock crossing of the card does (0)",
                o.latency_extra_ns, 0, kSecond);
    line.number("--flight-ns", "NS",
                "time of flight of TLPs and DLLPs from one end of the link to the other, part of the latency (0)",
                o.flight_ns, 0, kSecond);
    line.choice<AckPolicy>("--acks",
                           "ACKs leave at the recommended interval, or before a TLP behind which they would be late "
                           "(interval)",
                           o.acks, {{"interval", AckPolicy::Interval}, {"before-tlp", AckPolicy::BeforeTlp}});
    line.flag("--count-violations",
              "count and list the rules of PCI Express that the card breaks; without, the first one ends the run",
              o.count_violations);
    line.number("--lcrc-every", "N", "every N-th TLP of each direction arrives damaged and is replayed; 0: none (0)",
                o.lcrc_every, 0, kSecond);
    add_host_options(line, o);
}

void add_host_options(CommandLine &line, ModelOptions &o) {
    static const std::string host_help =
        "host with measured properties, which other options change: " + host_names() + " (ideal)";
    line.preset("--host", "NAME", host_help.c_str(), [&o](const std::string &name) { apply_host(name, o); });
    line.each("--credits", "PH,PD,NPH",
              "credits of the root port: posted headers, posted data in units of 16 bytes, reads (64,256,64)",
              [&o](const std::string &text) { o.credits = parse_credits(text); });
    line.choice<UpdateFc>(
        "--update-fc",
        "credits return at the recommended interval, for all types at once or per type, or as rarely "
        "as allowed (guideline)",
        o.update_fc,
        {{"guideline", UpdateFc::Guideline}, {"per-type", UpdateFc::PerType}, {"minimum", UpdateFc::Minimum}});
    line.number("--credit-return-ns", "NS", "time for which the root port keeps the buffer of a TLP (0)",
                o.credit_return_ns, 0, kSecond);
    line.number("--outstanding", "N", "reads that the root complex serves at once; 0: any number (0)", o.outstanding, 0,
                kMostReads);
    line.number("--stall-ns", "NS", "memory answers nothing for NS, once in --stall-period-ns, as in a refresh (0)",
                o.stall_ns, 0, kSecond);
    line.number("--stall-period-ns", "NS", "time from one stall of memory to the next (7800)", o.stall_period_ns, 1,
                kSecond);
    line.check([&o] {
        if (o.stall_ns >= o.stall_period_ns)
            throw UsageError("--stall-ns " + std::to_string(o.stall_ns) +
                             " is not possible; give less than --stall-period-ns, which is " +
                             std::to_string(o.stall_period_ns));
    });
    line.number("--latency-ns", "NS", "host: time from a read request to its first completion (1000)", o.latency_ns, 0,
                kSecond);
    line.number("--latency-jitter-ns", "NS", "host: adds a uniformly distributed 0 to NS to the latency (0)",
                o.latency_jitter_ns, 0, kSecond);
    line.number("--latency-outlier-ns", "NS", "host: adds NS to the latency of some requests (0)", o.latency_outlier_ns,
                0, kSecond);
    line.number("--latency-outlier-every", "N", "host: every N-th request gets --latency-outlier-ns (1000)",
                o.latency_outlier_every, 1, kSecond);
    line.choice("--rcb", "read completion boundary, bytes (64)", o.rcb, {64, 128});
    line.choice("--completion-bytes", "completions end at multiples of 64 or 128 bytes; 0: as long as MPS allows (0)",
                o.completion_bytes, {0, 64, 128});
    line.check([&o] {
        if (o.completion_bytes && o.completion_bytes < o.rcb)
            throw UsageError(
                "--completion-bytes 64 is not possible with --rcb 128; use --completion-bytes 128 or --rcb 64");
    });
    line.number("--seed", "N", "seed of the random latency, order, splits and faults (1)", o.seed, 0, UINT64_MAX);
    line.flag("--reorder", "completions of different requests may overtake each other", o.reorder);
    line.flag("--split-at-random", "completions end at random multiples of --rcb", o.split_at_random);
    line.number("--quarantine-us", "US",
                "time for which the card must not use the tag of an unanswered request again, unless its late "
                "completions came; 0: not checked (0)",
                o.quarantine_us, 0, kSecond);
    line.flag("--iommu", "report every access outside a live mapping, not only the first 10", o.iommu);
    line.each("--inject", "FAULT@N",
              "fault of the N-th completion, or with FAULT%P of P in 1000 at random: ur, ca, poison, drop, short, "
              "duplicate, late, hold, requester, wrong; repeatable",
              [&o](const std::string &fault) {
                  try {
                      FaultInjector().add(fault);
                  } catch (const std::invalid_argument &error) {
                      throw UsageError(std::string("--inject: ") + error.what());
                  }
                  o.faults.push_back(fault);
              });
    line.text("--stats", "FILE", "write the figures of the run as JSON", o.stats);
    line.text("--trace", "FILE", "write one line for each TLP to FILE", o.trace);
}

uint64_t cycles_of(uint64_t ns, uint64_t clock_hz) { return (ns * clock_hz + 500000000) / 1000000000; }

CompleterOptions completer_options(const ModelOptions &options, uint64_t clock_hz) {
    auto cycles = [clock_hz](uint64_t ns) { return cycles_of(ns, clock_hz); };
    const double per_ns = clock_hz * 1e-9;
    const IommuTimes &iommu = options.iommu_times;
    // A latency is from the request's last byte at the card to the first completion there.
    const uint64_t flights = 2 * options.flight_ns;
    std::vector<Quantile> latencies = options.latencies;
    for (Quantile &quantile : latencies)
        quantile.ns = std::max(quantile.ns + options.latency_extra_ns - flights, 0.0);
    const uint64_t latency = options.latency_ns + options.latency_extra_ns;
    return {cycles(latency - std::min(latency, flights)),
            cycles(options.latency_jitter_ns),
            cycles(options.latency_outlier_ns),
            options.latency_outlier_every,
            latencies,
            per_ns,
            {iommu.entries, iommu.walk_ns * per_ns, iommu.interval_ns * per_ns, iommu.directory_ns * per_ns},
            unsigned(options.outstanding),
            cycles(options.stall_ns),
            std::max<uint64_t>(cycles(options.stall_period_ns), 1),
            options.rcb,
            options.completion_bytes,
            options.seed,
            options.reorder,
            options.split_at_random};
}

}  // namespace litepcie
