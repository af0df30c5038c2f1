// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The hosts' properties against the published measurements of pcie-bench (lat_cmd_details, bw_dma_win_sweep of
// nfp6000-1.2GHz_bdw-Xeon-E5-2630v4-dell-t430-s0-s0-s0 and so on).
#include "../host/completer_fixture.h"
#include "model/host_profile.h"

#include <algorithm>
#include <random>

using namespace litepcie;

namespace {

constexpr double kCyclesPerNs = 1;

const HostProfile &host(const std::string &name) {
    for (const HostProfile &one : host_profiles())
        if (one.name == name)
            return one;
    throw std::runtime_error(name);
}

class HostTest : public CompleterFixture {
  protected:
    HostTest() : CompleterFixture(1) {}

    void use(const std::string &name) {
        const HostProfile &profile = host(name);
        const IommuTimes &times = profile.iommu;
        options = {};
        options.latencies = profile.latencies;
        options.cycles_per_ns = kCyclesPerNs;
        options.iommu = {times.entries, times.walk_ns, times.interval_ns, times.directory_ns};
        make();
    }
    // Cycles from a read to its completion, of reads one after the other.
    uint64_t lone_read(uint64_t address) {
        const uint64_t begin = cycle;
        completer->receive(Tlp::memory_read(kCard, 0, address, 8), cycle);
        while (completer->advance(cycle, egress), egress.empty())
            cycle++;
        egress.clear();
        return cycle++ - begin;
    }
    std::vector<uint64_t> lone_reads(unsigned count) {
        std::vector<uint64_t> all;
        while (count--)
            all.push_back(lone_read(0x1000));
        std::sort(all.begin(), all.end());
        return all;
    }
};

// Where the window begins: in the middle of a directory's 2 MiB, as most buffers do.
constexpr uint64_t kBase = 1 << 20;

// Nanoseconds of each of many translations for reads at random addresses of a window, of which any number wait at once.
double ns_per_read(const HostProfile &host, uint64_t window) {
    const IommuTimes &times = host.iommu;
    Iommu iommu({times.entries, times.walk_ns, times.interval_ns, times.directory_ns});
    std::mt19937_64 random(1);
    constexpr unsigned kReads = 200000;
    uint64_t end = 0;
    for (unsigned i = 0; i < kReads; i++)
        end = std::max(end, iommu.translate(kBase + random() % (window / 64) * 64, 0));
    return double(end) / kReads;
}

}  // namespace

TEST_F(HostTest, LatenciesAreThePublishedOnes) {
    struct {
        const char *host;
        double median, p95, p999;
    } rows[] = {{"broadwell", 466, 480, 813}, {"haswell", 506, 520, 773}, {"ivybridge", 480, 493, 653}};
    for (const auto &row : rows) {
        use(row.host);
        const std::vector<uint64_t> all = lone_reads(40000);
        EXPECT_NEAR(all[all.size() / 2], row.median, 0.01 * row.median) << row.host;
        EXPECT_NEAR(all[all.size() * 95 / 100], row.p95, 0.03 * row.p95) << row.host;
        EXPECT_NEAR(all[all.size() * 999 / 1000], row.p999, 0.05 * row.p999) << row.host;
    }
}

TEST_F(HostTest, MemoryOfTheOtherSocketTakesLonger) {
    use("broadwell-remote");
    const std::vector<uint64_t> all = lone_reads(1000);
    EXPECT_NEAR(all[all.size() / 2], 466 + 653 - 546, 5);
}

// lat_cmd_details: 746 ns where no page is known, in a window of 64 MiB.
TEST_F(HostTest, AWalkAddsWhatWasMeasured) {
    use("broadwell-iommu");
    EXPECT_NEAR(lone_read(0x1000), 746, 30);
    EXPECT_NEAR(lone_read(0x1000), 466, 30);
}

// bw_dma_win_sweep, reads of 64 bytes in Gb/s. The card reaches at most 32.4 Gb/s with known pages.
TEST(HostProfile, RatesWithTheIommuAreThePublishedOnes) {
    const std::pair<uint64_t, double> published[] = {{512 << 10, 22.342}, {1 << 20, 15.193},  {3 << 19, 13.039},
                                                     {2 << 20, 12.126},   {3 << 20, 11.287},  {4 << 20, 10.921},
                                                     {8 << 20, 10.405},   {16 << 20, 10.149}, {64 << 20, 9.829}};
    for (const auto &[window, gbps] : published)
        EXPECT_NEAR(64 * 8 / ns_per_read(host("broadwell-iommu"), window), gbps, 0.05 * gbps) << window;
    EXPECT_LT(ns_per_read(host("broadwell-iommu"), 256 << 10), 1);  // as many pages as entries
}
