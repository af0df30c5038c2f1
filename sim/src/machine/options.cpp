// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "machine/options.h"

#include "root/root_complex.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace litepcie {

// Options -------------------------------------------------------------------------------------------------------------

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
    line.text("--pcap", "FILE", "write each TLP to FILE in the format pcapng, for Wireshark with tlp.lua", o.pcap);
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

// Hosts ---------------------------------------------------------------------------------------------------------------

namespace {

// Reads of 8 bytes without the card's DMA engine, LAT_CMD_RD, in 2^24 samples. Links: Gen3 x8, MPS 256, MRRS 512.
const char kPcieBench[] = "pcie-bench (SIGCOMM 2018), data published with it, lat_cmd_details";
const char kPcieBenchSweep[] = "pcie-bench (SIGCOMM 2018), data published with it, lat_cmd_sweep_rd_rnd_08";

const std::vector<Quantile> kBroadwell = {{0, 453}, {50, 466}, {95, 480}, {99.9, 813}, {100, 1026}};
const std::vector<Quantile> kHaswell = {{0, 493}, {50, 506}, {95, 520}, {99.9, 773}, {100, 1746}};
const std::vector<Quantile> kIvyBridge = {{0, 466}, {50, 480}, {95, 493}, {99.9, 653}, {100, 800}};

// The card wrote the data shortly before, within a window of 256 KB: it is in the last-level cache (DWarm).
const std::vector<Quantile> kBroadwellCache = {{0, 386}, {50, 400}, {95, 400}, {99.9, 480}, {100, 880}};
const std::vector<Quantile> kHaswellCache = {{0, 400}, {50, 426}, {95, 426}, {99.9, 506}, {100, 1773}};
const std::vector<Quantile> kIvyBridgeCache = {{0, 386}, {50, 400}, {95, 413}, {99.9, 493}, {100, 693}};

// What memory of the other socket takes longer, by reads of 64 bytes of a DMA engine (lat_dma_sizes): 653 - 546 ns, and
// 666 - 560 ns.
constexpr double kBroadwellOtherSocketNs = 107, kIvyBridgeOtherSocketNs = 106;

// A walk adds 746 - 466 ns to the median. The intervals are fitted to bw_dma_win_sweep: reads of 64 bytes at random
// addresses of a window, 52.1 ns each in 64 MiB and 33.7 ns in 1 MiB, of which 64 pages are known.
constexpr IommuTimes kBroadwellIommu = {64, 280, 45.3, 7};

// Posted and non-posted credits of a root port of four lanes (Xeon C5500 datasheet, table 76). It does not say for how
// long a TLP occupies a buffer: 400 ns is chosen.
constexpr Credits kXeonC5500 = {{16, 18, Credits::kInfinite}, {80, 18, Credits::kInfinite}};

// Chosen for all hosts but the ideal one: the PHYs of both ends, with their encoders and elastic buffers, and the
// board.
constexpr uint64_t kFlightNs = 20;
// Chosen: tRFC of DDR4 chips of 8 Gb, once per tREFI, 7.8 us (as LiteDRAM has them).
constexpr uint64_t kRefreshNs = 350;

HostProfile profile(const char *name, const char *what, const char *source, std::vector<Quantile> latencies) {
    HostProfile made;
    made.name = name;
    made.what = what;
    made.source = source;
    made.latencies = std::move(latencies);
    made.flight_ns = kFlightNs;
    return made;
}

std::vector<Quantile> later(std::vector<Quantile> latencies, double ns) {
    for (Quantile &quantile : latencies)
        quantile.ns += ns;
    return latencies;
}

// A small processor: its root port takes payloads of 128 bytes, its root complex serves one read after the other, and
// its memory has one rank, which a refresh stops.
HostProfile embedded_host() {
    HostProfile host = profile("embedded", "small processor: MPS 128, one read at once, refresh", "chosen", {{0, 600}});
    host.credits = kXeonC5500;
    host.credit_return_ns = 400;
    host.outstanding = 1;
    host.stall_ns = kRefreshNs;
    host.most_mps = 128;
    return host;
}

std::vector<HostProfile> profiles() {
    HostProfile ideal =
        profile("ideal", "one latency for all reads, --latency-ns; credits return at once", "chosen", {});
    HostProfile iommu =
        profile("broadwell-iommu", "Xeon E5-2630v4 with its IOMMU, pages of 4 KiB", kPcieBench, kBroadwell);
    HostProfile c5500 = profile("xeon-c5500", "Xeon C5500, root port of four lanes", "its datasheet, table 76", {});
    HostProfile chipset =
        profile("chipset", "slot of a chipset: few credits, completions of 64 bytes, 1.5 us", "chosen", {{0, 1500}});
    ideal.flight_ns = 0;
    iommu.iommu = kBroadwellIommu;
    c5500.credits = chipset.credits = kXeonC5500;
    c5500.credit_return_ns = chipset.credit_return_ns = 400;
    chipset.completion_bytes = 64;
    return {
        ideal,
        profile("broadwell", "Xeon E5-2630v4", kPcieBench, kBroadwell),
        profile("broadwell-cache", "Xeon E5-2630v4, data in its last-level cache", kPcieBenchSweep, kBroadwellCache),
        profile("broadwell-remote", "Xeon E5-2630v4, memory of the other socket", kPcieBench,
                later(kBroadwell, kBroadwellOtherSocketNs)),
        iommu,
        profile("haswell", "Xeon E5-2637v3", kPcieBench, kHaswell),
        profile("haswell-cache", "Xeon E5-2637v3, data in its last-level cache", kPcieBenchSweep, kHaswellCache),
        profile("ivybridge", "Xeon E5-2620v2", kPcieBench, kIvyBridge),
        profile("ivybridge-cache", "Xeon E5-2620v2, data in its last-level cache", kPcieBenchSweep, kIvyBridgeCache),
        profile("ivybridge-remote", "Xeon E5-2620v2, memory of the other socket", kPcieBench,
                later(kIvyBridge, kIvyBridgeOtherSocketNs)),
        c5500,
        chipset,
        embedded_host()};
}

}  // namespace

const std::vector<HostProfile> &host_profiles() {
    static const std::vector<HostProfile> all = profiles();
    return all;
}

std::string host_names() {
    std::string names;
    for (const HostProfile &profile : host_profiles())
        names += (names.empty() ? "" : ", ") + profile.name;
    return names;
}

void apply_host(const std::string &name, ModelOptions &options) {
    for (const HostProfile &profile : host_profiles()) {
        if (profile.name != name)
            continue;
        options.host = name;
        options.latencies = profile.latencies;
        options.credits = profile.credits;
        options.credit_return_ns = profile.credit_return_ns;
        options.flight_ns = profile.flight_ns;
        options.outstanding = profile.outstanding;
        options.stall_ns = profile.stall_ns;
        options.stall_period_ns = profile.stall_period_ns;
        options.most_mps = profile.most_mps;
        options.iommu_times = profile.iommu;
        options.completion_bytes = profile.completion_bytes;
        return;
    }
    throw UsageError("--host: '" + name + "' is not allowed; allowed: " + host_names());
}

}  // namespace litepcie
