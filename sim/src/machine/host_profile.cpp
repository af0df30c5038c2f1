// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "machine/host_profile.h"

namespace litepcie {

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
