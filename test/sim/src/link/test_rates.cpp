// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// What a link can carry: the formulas, and the model's link against them.
#include "link/link_direction.h"
#include "link/link_rate.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

using namespace litepcie;

namespace {
constexpr uint64_t kClock = 250000000, kCycles = 400000;

LinkShape shape(unsigned gen, unsigned lanes) { return {gen, lanes, 125000000}; }

BoundParameters parameters(const LinkShape &shape, unsigned data_width, Traffic traffic = Traffic::Write) {
    BoundParameters p;
    p.shape = shape, p.data_width = data_width, p.traffic = traffic;
    return p;
}

// The corrected column of the paper of pcie-bench, for 64 bit addresses, long transfers and MRRS 512: MB/s of writes,
// of reads, and of each direction when both run.
struct Row {
    unsigned gen, lanes, mps;
    uint64_t clock_hz;
    double write, read, both;
};
const Row kRows[] = {
    {1, 1, 128, 125000000, 196, 201, 188},    {1, 4, 128, 125000000, 794, 815, 764},
    {2, 4, 128, 125000000, 1626, 1669, 1564}, {2, 4, 256, 125000000, 1781, 1806, 1707},
    {2, 8, 256, 250000000, 3601, 3654, 3453}, {3, 8, 256, 250000000, 7112, 7215, 6820},
    {2, 4, 256, 133333333, 1781, 1806, 1707},
};
// A card that asks, writes, does both or neither, and a host that answers. `p` and `policy` say what the link allows.
class Exchange {
  public:
    explicit Exchange(const BoundParameters &parameters, const LinkPolicy &policy = {})
        : p(parameters), to_host_(p.shape, p.mps, kRootPortCredits, policy),
          to_card_(p.shape, p.mps, card_credits(p.mps), policy) {}

    BoundParameters p;
    bool asks = false, writes = false, answers = true, host_writes = false;
    uint64_t reads_left = UINT64_MAX, writes_left = UINT64_MAX;  // bytes
    unsigned outstanding = 16, latency = 0;                      // requests; cycles until the first answer
    uint64_t read = 0, written = 0;                              // bytes
    double read_end = 0, write_end = 0;                          // seconds until the last of them has arrived

    bool left() const { return reads_left || writes_left || !owed_.empty(); }
    void step() {
        cycle_++;
        to_host_.advance(to_card_);
        to_card_.advance(to_host_);
        while (to_host_.free_this_cycle() && send_to_host()) {}
        while (to_card_.free_this_cycle() && send_to_card()) {}
    }
    void run(uint64_t cycles) {
        for (; cycles; cycles--)
            step();
    }

  private:
    bool may(TlpClass tlp_class, unsigned data) {
        if (!to_host_.has_credit(tlp_class, data))
            return false;
        to_host_.take_credit(tlp_class, data);
        to_host_.return_credit(tlp_class, data);
        return true;
    }
    static void send(LinkDirection &way, LinkDirection &back, unsigned bytes) {
        way.begin_tlp(kFramingBytes + bytes);
        way.send_bytes(kFramingBytes + bytes);
        back.want_ack();
        back.want_update();
    }
    bool send_to_host() {
        if (asks && reads_left && owed_.size() < outstanding && may(TlpClass::NonPosted, 0)) {
            send(to_host_, to_card_, p.header_bytes);
            owed_.push_back({cycle_ + latency, p.mrrs});
            reads_left -= p.mrrs;
            return true;
        }
        if (writes && writes_left && may(TlpClass::Posted, p.mps / kCreditBytes)) {
            send(to_host_, to_card_, p.header_bytes + p.mps);
            writes_left -= p.mps;
            written += p.mps;
            write_end = seconds(cycle_ + to_host_.cycles_to_arrival());
            return true;
        }
        return false;
    }
    bool send_to_card() {
        const bool answer = answers && !owed_.empty() && owed_.front().first <= cycle_;
        if (!answer && host_writes)
            send(to_card_, to_host_, 12 + p.mps);
        if (!answer)
            return host_writes;
        const unsigned size = std::min(p.completion_bytes ? p.completion_bytes : p.mps, owed_.front().second);
        send(to_card_, to_host_, 12 + size);
        read += size;
        read_end = seconds(cycle_ + to_card_.cycles_to_arrival());
        owed_.front().second -= size;
        if (!owed_.front().second)
            owed_.pop_front();
        return true;
    }
    double seconds(uint64_t cycles) const { return cycles / double(p.shape.clock_hz); }

    LinkDirection to_host_, to_card_;
    uint64_t cycle_ = 0;
    std::deque<std::pair<uint64_t, unsigned>> owed_;  // requests: cycle of the first answer, bytes
};

// Bytes per second of the card and the host that have a TLP ready at any time.
Rates saturated(const BoundParameters &p, bool asks, bool writes, bool host_writes, uint64_t cycles) {
    Exchange link(p, {p.update_fc});
    link.asks = asks, link.writes = writes, link.host_writes = host_writes;
    link.run(cycles);
    const double seconds = cycles / double(p.shape.clock_hz);
    return {link.read / seconds, link.written / seconds};
}

// Cards and hosts that do what they like, within the rules of the link.
Exchange random_traffic(unsigned seed) {
    std::mt19937 random(seed);
    const auto one_of = [&random](std::initializer_list<unsigned> choices) {
        return choices.begin()[random() % choices.size()];
    };
    // So that only the link limits.
    BoundParameters p = parameters({one_of({1, 2, 3}), one_of({1, 2, 4, 8, 16}), kClock}, 1024);
    p.mps = one_of({128, 256, 512});
    p.mrrs = one_of({128, 256, 512, 1024});
    p.completion_bytes = std::min(p.mps, one_of({64, 128, 256, 512}));
    p.header_bytes = one_of({12, 16});
    p.update_fc = UpdateFc(one_of({0, 1, 2}));
    p.traffic = Traffic::Both;
    p.dllps = false;
    Exchange link(p, {p.update_fc, one_of({0, 20}), AckPolicy(one_of({0, 1}))});
    link.reads_left = p.mrrs * (1 + random() % 300);
    link.writes_left = p.mps * (1 + random() % 600);
    link.outstanding = 1 + random() % 64;
    link.latency = one_of({0, 50, 400});
    const unsigned busy = one_of({1, 20, 400, 100000});
    for (uint64_t cycle = 1, turn = 0; link.left(); cycle++) {
        // For random times the card only asks, only writes, does both, or neither, and the host answers or not.
        if (cycle >= turn) {
            turn = cycle + 1 + random() % busy;
            link.asks = random() % 4, link.writes = random() % 4, link.answers = random() % 4;
        }
        link.step();
    }
    return link;
}

// A run may end a SKP ordered set before its average, and its last cycle counts as a whole one. So may the rest of the
// reads after the writes, from which the bound of the writes follows.
double edge(const LinkShape &shape) {
    const SkipSets skips = skip_sets(shape.gen);
    return skips.bytes(shape.lanes) / raw_bytes_per_second(shape) + 1 / double(kClock);
}
}  // namespace

// The ACK limits of the specification for x1, x4, x8, x16.
TEST(LinkRate, AckLimits) {
    const unsigned lanes[] = {1, 4, 8, 16};
    const struct {
        unsigned gen, mps, symbols[4];
    } rows[] = {
        {1, 128, {237, 73, 67, 48}},    {1, 256, {416, 118, 107, 72}},  {2, 128, {288, 124, 118, 99}},
        {2, 256, {467, 169, 158, 123}}, {3, 128, {333, 169, 163, 144}}, {3, 256, {512, 214, 203, 168}},
    };
    for (const auto &row : rows)
        for (int i = 0; i < 4; i++)
            EXPECT_EQ(ack_limit_symbols(shape(row.gen, lanes[i]), row.mps), row.symbols[i])
                << "gen " << row.gen << " x" << lanes[i] << " MPS " << row.mps;
}

// Gen1 and Gen2: COM and three SKP per 1538 symbol times (PCIe 3.0 4.2.7.1). Gen3: a block of 16 symbols on each lane
// in 375 blocks (4.2.7.2), after an EDS token of four bytes (4.2.2.3.1).
TEST(LinkRate, SkipSetsOfEachGeneration) {
    EXPECT_EQ(skip_sets(1).bytes(4), 16u);
    EXPECT_EQ(skip_sets(2).interval_symbols, 1538u);
    EXPECT_EQ(skip_sets(3).bytes(1), 20u);
    EXPECT_EQ(skip_sets(3).bytes(8), 132u);
    EXPECT_EQ(skip_sets(3).interval_symbols, 6000u);
    EXPECT_NEAR(skip_sets(2).share(8), 0.0026008, 1e-7);
    EXPECT_NEAR(skip_sets(3).share(8), 132 / 48000.0, 1e-12);
    EXPECT_NEAR(skip_sets(3).share(1), 20 / 6000.0, 1e-12);
}

TEST(LinkRate, TicksAreExact) {
    LinkRate rate({2, 4, 125000000});
    EXPECT_EQ(rate.cycle_ticks, 16);  // bytes per cycle
    EXPECT_EQ(rate.byte_ticks, 1);
    LinkRate gen3({3, 8, 250000000});  // 984.615 MB/s x 8 at 250 MHz = 31.508 bytes per cycle
    EXPECT_EQ(gen3.cycle_ticks * 65, gen3.byte_ticks * 2048);
    LinkRate gen4({4, 8, 250000000});
    EXPECT_EQ(gen4.cycle_ticks * 65, gen4.byte_ticks * 4096);
    EXPECT_THROW(LinkRate({5, 4, 125000000}), std::invalid_argument);
    EXPECT_THROW(LinkRate({2, 3, 125000000}), std::invalid_argument);
}

TEST(Theory, PcieBenchCorrectedForLanes) {
    for (const Row &row : kRows) {
        const PcieBench rates = pcie_bench_rates(shape(row.gen, row.lanes), row.mps, 512, 16);
        EXPECT_NEAR(rates.write / 1e6, row.write, 1.0);
        EXPECT_NEAR(rates.read / 1e6, row.read, 1.0);
        EXPECT_NEAR(rates.both / 1e6, row.both, 1.0);
    }
}

TEST(Theory, BoundOfOneDirection) {
    BoundParameters p = parameters(shape(2, 4), 128, Traffic::Write);
    EXPECT_NEAR(link_bound(p).write, 2e9 * (1 - 4.0 / 1538) * 256 / 276, 1e3);
    EXPECT_NEAR(application_note_rate(p.shape, 256), 2e9 * 256 / 276, 1e3);
    EXPECT_EQ(link_bound(p).read, 0);
    p.traffic = Traffic::Read;  // a request per 138 symbols, so DLLPs come at their limit of 169
    EXPECT_NEAR(link_bound(p).read, 2e9 * (1 - 16.0 / (4 * 169) - 4.0 / 1538) * 256 / 276, 1e3);
    p.completion_bytes = 64;  // a request, and its DLLPs, per 168 symbols
    EXPECT_NEAR(link_bound(p).read / 2e9, 0.7419, 0.002);
}

TEST(Theory, BoundWithoutDllps) {
    BoundParameters p = parameters({1, 1, 125000000}, 64);
    const double capacity = 250e6 * (1 - 4.0 / 1538) * 256 / 276;
    p.traffic = Traffic::Read;
    EXPECT_LT(link_bound(p).read, 0.995 * capacity);
    p.dllps = false;
    EXPECT_NEAR(link_bound(p).read, capacity, 1e-6 * capacity);
    p.traffic = Traffic::Write;  // which no DLLP of the card delays
    const double write = link_bound(p).write;
    p.dllps = true;
    EXPECT_NEAR(link_bound(p).write, write, 1e-6 * write);
}

TEST(Theory, BoundKnowsBeats) {
    // The data path has 1000 MB/s, the link 2000; header and payload take 34 beats.
    BoundParameters p = parameters(shape(2, 4), 64);
    EXPECT_NEAR(link_bound(p).write, 125e6 * 256 / 34, 1e3);
    p.descriptor_bytes = 8;  // 20 bytes take 3 beats
    EXPECT_NEAR(link_bound(p).write, 125e6 * 8 / 3, 1e3);
    // With both directions, read requests share the beats with writes: 9 beats per write, one per request.
    p = parameters({3, 8, 250000000}, 256, Traffic::Both);
    Rates both = link_bound(p);
    EXPECT_NEAR(both.write, (250e6 - both.read / 512) / 9 * 256, 1e3);
}

// AN 456, Stratix V Gen2 x1: reads of 455 MB/s and, at the same time, writes of 429 MB/s. One ACK per request of 512
// bytes allows that; with an UpdateFC per request it would be impossible.
TEST(Theory, RootPortsUpdateSparingly) {
    BoundParameters p = parameters(shape(2, 1), 64, Traffic::Read);
    EXPECT_LT(link_bound(p).read, 450e6);
    p.update_fc = UpdateFc::Minimum;
    const double capacity = 500e6 * (1 - 4.0 / 1538);
    // One ACK per request. One UpdateFC per 30 us for requests, fewer than 32 in that time, and one for posted writes,
    // although there are none.
    EXPECT_NEAR(link_bound(p).read, (capacity - 2 * 8 / 30e-6) * 512 / (2 * 276 + 8), 1e3);
    EXPECT_GT(link_bound(p).read, 455e6);
    p.traffic = Traffic::Both;
    EXPECT_GT(link_bound(p).write, 429e6);
}

// A descriptor of 16 bytes for each transfer; 16 of them share a completion of 256 bytes.
TEST(Theory, BoundWithDescriptors) {
    // Each TLP takes less time on the data path than on the link.
    BoundParameters p = parameters(shape(2, 4), 512, Traffic::Read);
    p.descriptor_bytes = 8;
    const double plain = link_bound(p).read;
    p.with_descriptors = true;
    // 28 bytes for the completion of the data, 276/16 for the descriptor.
    EXPECT_NEAR(link_bound(p).read / plain, 28 / (28 + 276 / 16.0), 0.01);
    p.traffic = Traffic::Write;  // descriptors arrive on the other path, and a request for 32 of them has 20 bytes
    p.with_descriptors = false;
    const double writes = link_bound(p).write;
    p.with_descriptors = true;
    EXPECT_NEAR(link_bound(p).write / writes, 28 / (28 + 20 / 32.0), 0.001);
}

// A direction that moves less than it could leaves more to the other one.
TEST(Theory, BoundBesideASlowDirection) {
    BoundParameters p = parameters({2, 8, 250000000}, 256, Traffic::Both);
    const Rates both = link_bound(p);
    p.most.read = both.read / 2;
    EXPECT_NEAR(link_bound(p).read, both.read / 2, 1);
    const double gain = both.read / 2 * 20 / 512;  // requests that are not sent
    EXPECT_NEAR(link_bound(p).write, both.write + gain * 256 / 276, both.write * 0.005);
    EXPECT_GT(link_bound(p).write, both.write + gain * 0.9);
    p.most = {0, 1e6};
    EXPECT_GE(link_bound(p).read, both.read);
}

// At 512 bit and 166 MHz the hard block, 256 bit at 250 MHz, limits writes to 9 of its beats. A request takes one of
// them, which is less than a cycle of the card.
TEST(Theory, BoundKnowsTheBlocksBeats) {
    BoundParameters p = parameters({3, 8, 166666667}, 512);
    p.block_width = 256;
    p.block_clock_hz = 250000000;
    p.traffic = Traffic::Write;
    EXPECT_NEAR(link_bound(p).write, 250e6 * 256 / 9, 1e4);
    p.descriptor_bytes = 99968;  // the last of 391 TLPs has 128 bytes and takes 5 beats
    EXPECT_NEAR(link_bound(p).write, 250e6 * 99968 / (390 * 9 + 5), 1e4);
    p.descriptor_bytes = 0;
    p.traffic = Traffic::Both;
    const Rates both = link_bound(p);
    EXPECT_NEAR(both.write, (250e6 - both.read / 512) * 256 / 9, 1e4);
}

// AN 690 (Intel, 2017.05.08), 1.6.5 "Peak Throughput": Gen3 x8, 256 bit at 250 MHz, MPS 256. Signal Tap saw 7.1 GB/s of
// writes alone; beside the requests of reads 6.76 GB/s of writes and 6.99 GB/s of reads.
TEST(Theory, PeaksOfAn690) {
    BoundParameters p = parameters({3, 8, 250000000}, 256);
    p.header_bytes = 16;
    EXPECT_NEAR(link_bound(p).write, 7.11e9, 0.005 * 7.11e9);
    p.traffic = Traffic::Both;
    EXPECT_NEAR(link_bound(p).write, 6.76e9, 0.01 * 6.76e9);
    EXPECT_NEAR(link_bound(p).read, 6.986e9, 0.02 * 6.986e9);
}

// The simulated rates against the published formula with N lanes. The formula always subtracts DLLPs at their highest
// rate. In the model only traffic of the other direction causes DLLPs, so reads alone may be faster.
TEST(LinkDirection, PacesLikeTheTestVectors) {
    for (const Row &row : kRows) {
        SCOPED_TRACE(testing::Message() << "gen " << row.gen << " x" << row.lanes);
        BoundParameters p;
        p.shape = {row.gen, row.lanes, row.clock_hz};
        p.mps = row.mps, p.header_bytes = 16;
        EXPECT_NEAR(saturated(p, false, true, true, kCycles).write, row.write * 1e6, row.write * 4e3);
        EXPECT_GE(saturated(p, true, false, false, kCycles).read, row.read * 0.996e6);
        const Rates both = saturated(p, true, true, false, kCycles);
        EXPECT_NEAR(both.read, row.read * 1e6, row.read * 4e3);
        EXPECT_NEAR(both.write, row.both * 1e6, row.both * 5e3);
        EXPECT_GE((both.read + both.write) / 2, row.both * 0.996e6);
    }
}

// link_bound() equals the simulated rates for every generation, width, payload, header and policy.
TEST(LinkDirection, ReachesItsBound) {
    for (UpdateFc policy : {UpdateFc::Guideline, UpdateFc::Minimum})
        for (unsigned gen : {1, 2, 3, 4})
            for (unsigned lanes : {1, 2, 4, 8, 16})
                for (unsigned mps : {128, 256, 512}) {
                    if (gen == 4 && lanes == 16)
                        continue;  // Gen4 x16 is faster than this data path.
                    for (unsigned header : {12, 16})
                        for (Traffic traffic : {Traffic::Write, Traffic::Read, Traffic::Both}) {
                            BoundParameters p = parameters({gen, lanes, kClock}, 1024);  // so that only the link limits
                            p.mps = mps, p.header_bytes = header, p.traffic = traffic, p.update_fc = policy;
                            // Long enough for the last TLP not to matter.
                            const Rates found = saturated(p, traffic != Traffic::Write, traffic != Traffic::Read, false,
                                                          lanes <= 2 ? kCycles : kCycles / 4);
                            const Rates bound = link_bound(p);
                            SCOPED_TRACE(testing::Message()
                                         << "gen " << gen << " x" << lanes << " MPS " << mps << " header " << header
                                         << " traffic " << int(traffic) << " policy " << int(policy));
                            EXPECT_NEAR(found.read, bound.read, bound.read * 0.002);
                            EXPECT_NEAR(found.write, bound.write, bound.write * 0.002);
                        }
                }
}

// None of them moves more than the bounds.
TEST(Bounds, NoTrafficExceedsThoseWithoutDllps) {
    double nearest_read = 0, nearest_write = 0;
    for (unsigned seed = 0; seed < 1500; seed++) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        const Exchange traffic = random_traffic(seed);
        const Moved read = {double(traffic.read), traffic.read_end},
                    write = {double(traffic.written), traffic.write_end};
        const double early = edge(traffic.p.shape);
        const Rates bound = bound_beside(traffic.p, {read.bytes, read.seconds + early}, write);
        EXPECT_LE(read.bytes / (read.seconds + early), bound.read * (1 + 1e-9));
        EXPECT_LE(write.bytes / (write.seconds + early), bound.write * (1 + 1e-9));
        nearest_read = std::max(nearest_read, read.rate() / bound.read);
        nearest_write = std::max(nearest_write, write.rate() / bound.write);
    }
    // Some come so near that a bound which is 1 % lower would be exceeded.
    EXPECT_GT(nearest_read, 0.99);
    EXPECT_GT(nearest_write, 0.99);
}
