// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The hosts' properties against the published measurements of pcie-bench (lat_cmd_details,
// lat_cmd_sweep_rd_rnd_08, bw_dma_sz_sweep, bw_dma_win_sweep of nfp6000-1.2GHz_bdw-Xeon-E5-2630v4-dell-t430-s0-s0-s0
// and so on).
#include "machine/options.h"
#include "root/completer_fixture.h"

#include <algorithm>
#include <deque>
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

// Random reads of one size by the DMA engine of the NFP-6000, over Gen3 x8 with MPS 256, MRRS 512 and addresses of 64
// bits.
//
// It knows two properties of the card, the same for all hosts and fitted to their rates of 64 bytes: 32 requests are in
// flight, and each takes its place for 30 ns longer than the link and the host need. Requests overtake each other.
class CurveTest : public HostTest {
  protected:
    // Gb/s of data.
    double read_rate(const std::string &name, unsigned size) {
        use(name);
        options.reorder = true;
        make();
        egress.clear();
        LinkDirection to_host({3, 8, kClock}, 256, kRootPortCredits), to_card({3, 8, kClock}, 256, card_credits(256));
        std::deque<std::pair<uint64_t, unsigned>> requests;  // on the wire: arrival, bytes
        std::deque<uint64_t> free_at;                        // cycles in which slots for requests become free
        std::deque<uint64_t> ends;                           // arrivals of last completions
        unsigned slots = kInFlight, left = 0;
        uint64_t bytes = 0;
        std::mt19937_64 random(1);
        for (cycle = 0; cycle < kTime; cycle++) {
            to_host.advance(to_card);
            to_card.advance(to_host);
            for (; !ends.empty() && ends.front() <= cycle; ends.pop_front())
                free_at.push_back(cycle + kCardNs);
            for (; !free_at.empty() && free_at.front() <= cycle; free_at.pop_front())
                slots++;
            while (slots && to_host.free_this_cycle() && to_host.has_credit(TlpClass::NonPosted, 0)) {
                left = left ? left : size;
                const unsigned one = std::min(left, 512u);
                left -= one;
                slots--;
                to_host.take_credit(TlpClass::NonPosted, 0);
                to_host.send_bytes(kFramingBytes + 16);
                requests.push_back({cycle + to_host.cycles_to_arrival(), one});
            }
            for (; !requests.empty() && requests.front().first <= cycle; requests.pop_front()) {
                to_host.return_credit(TlpClass::NonPosted, 0);
                to_card.want_ack(), to_card.want_update();
                const unsigned one = requests.front().second;
                completer->receive(Tlp::memory_read(kCard, 0, 0x1000 + random() % (8192 / one) * one, one), cycle);
            }
            completer->advance(cycle, egress);
            while (to_card.free_this_cycle() && !egress.empty()) {
                const HostTlp tlp = egress.next(to_card) ? egress.pop() : HostTlp{};
                to_card.send_bytes(tlp.tlp.wire_bytes());
                to_host.want_ack();
                bytes += 4 * tlp.tlp.payload_dwords();
                if (tlp.ends_request)
                    ends.push_back(cycle + to_card.cycles_to_arrival());
            }
        }
        return bytes * 8.0 / kTime;
    }

    static constexpr uint64_t kClock = 1000000000, kTime = 200000;  // 200 us
    static constexpr unsigned kInFlight = 32, kCardNs = 30;
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

// lat_cmd_details, and in the cache lat_cmd_sweep_rd_rnd_08, DWarm, windows of 256 KB: 66 to 80 ns less than from
// memory.
TEST_F(HostTest, LatenciesAreThePublishedOnes) {
    struct {
        const char *host;
        double median, p95, p999;
    } rows[] = {{"broadwell", 466, 480, 813},     {"haswell", 506, 520, 773},
                {"ivybridge", 480, 493, 653},     {"broadwell-cache", 400, 400, 480},
                {"haswell-cache", 426, 426, 506}, {"ivybridge-cache", 400, 413, 493}};
    for (const auto &row : rows) {
        use(row.host);
        const std::vector<uint64_t> all = lone_reads(40000);
        EXPECT_NEAR(all[all.size() / 2], row.median, 0.01 * row.median) << row.host;
        const bool cached = std::string(row.host).find("cache") != std::string::npos;
        EXPECT_NEAR(all[all.size() * 95 / 100], row.p95, (cached ? 0.01 : 0.03) * row.p95) << row.host;
        EXPECT_NEAR(all[all.size() * 999 / 1000], row.p999, 0.05 * row.p999) << row.host;
    }
}

// bw_dma_sz_sweep, BW_DMA_RD, warm cache, in Gb/s: the sizes at which the card is not the limit. From 65 to 511 bytes,
// and with 768 and 1024 bytes on two hosts, the rates of all hosts are those of the card.
TEST_F(CurveTest, RatesOverSizesAreThePublishedOnes) {
    const struct {
        const char *host;
        std::vector<std::pair<unsigned, double>> rates;
    } rows[] = {
        {"broadwell", {{64, 31.906}, {512, 55.034}, {768, 55.251}, {1024, 55.413}, {1536, 55.581}, {2048, 55.579}}},
        {"broadwell-remote",
         {{64, 25.184}, {512, 54.975}, {768, 55.231}, {1024, 55.405}, {1536, 55.488}, {2048, 55.576}}},
        {"haswell", {{64, 28.650}, {512, 55.110}, {1536, 55.344}, {2048, 55.248}}},
        {"ivybridge", {{64, 31.928}, {512, 55.355}, {1536, 55.364}, {2048, 55.375}}},
        {"ivybridge-remote", {{64, 24.715}, {512, 55.344}, {2048, 55.330}}},
    };
    for (const auto &row : rows)
        for (const auto &[bytes, gbps] : row.rates)
            EXPECT_NEAR(read_rate(row.host, bytes), gbps, 0.05 * gbps) << row.host << " " << bytes;
}

TEST_F(HostTest, MemoryOfTheOtherSocketTakesLonger) {
    use("broadwell-remote");
    const std::vector<uint64_t> broadwell = lone_reads(1000);
    EXPECT_NEAR(broadwell[broadwell.size() / 2], 466 + 653 - 546, 5);
    use("ivybridge-remote");
    const std::vector<uint64_t> ivybridge = lone_reads(1000);
    EXPECT_NEAR(ivybridge[ivybridge.size() / 2], 480 + 666 - 560, 5);
}

// lat_cmd_details: 746 ns where no page is known, in a window of 64 MiB.
TEST_F(HostTest, AWalkAddsWhatWasMeasured) {
    use("broadwell-iommu");
    EXPECT_NEAR(lone_read(0x1000), 746, 30);
    EXPECT_NEAR(lone_read(0x1000), 466, 30);
}

// What is chosen: MPS 128, one read at a time, a refresh. The time of flight is part of the latency.
TEST(HostProfile, EmbeddedHostIsAsChosen) {
    ModelOptions options;
    apply_host("embedded", options);
    EXPECT_EQ(options.most_mps, 128u);
    const CompleterOptions made = completer_options(options, 250000000);
    EXPECT_EQ(made.outstanding, 1u);
    EXPECT_EQ(made.stall_cycles, 88u);           // 350 ns of 4 ns
    EXPECT_EQ(made.stall_period_cycles, 1950u);  // 7.8 us
    EXPECT_EQ(made.latencies.front().ns, 600 - 2 * 20);
    apply_host("ideal", options);
    EXPECT_EQ(options.flight_ns, 0u);
    EXPECT_EQ(completer_options(options, 250000000).latency_cycles, 250u);
    EXPECT_EQ(completer_options(options, 250000000).outstanding, 0u);
    options.flight_ns = 100;
    EXPECT_EQ(completer_options(options, 250000000).latency_cycles, 200u);
    options.flight_ns = 600;
    EXPECT_EQ(completer_options(options, 250000000).latency_cycles, 0u);
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
