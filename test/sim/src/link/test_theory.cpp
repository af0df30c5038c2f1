// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "link/theory.h"

#include <gtest/gtest.h>

using namespace litepcie;

namespace {

LinkShape shape(unsigned gen, unsigned lanes) { return {gen, lanes, 125000000}; }

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
    EXPECT_THROW(LinkRate({4, 4, 125000000}), std::invalid_argument);
    EXPECT_THROW(LinkRate({2, 3, 125000000}), std::invalid_argument);
}

// The corrected column of the paper, for 64 bit addresses, long transfers and MRRS 512: MB/s of writes, of reads, and
// of each direction when both run.
TEST(Theory, PcieBenchCorrectedForLanes) {
    const struct {
        unsigned gen, lanes, mps;
        double write, read, both;
    } rows[] = {
        {1, 1, 128, 196, 201, 188},    {1, 4, 128, 794, 815, 764},    {2, 4, 128, 1626, 1669, 1564},
        {2, 4, 256, 1781, 1806, 1707}, {2, 8, 256, 3601, 3654, 3453}, {3, 8, 256, 7112, 7215, 6820},
    };
    for (const auto &row : rows) {
        PcieBench rates = pcie_bench_rates(shape(row.gen, row.lanes), row.mps, 512, 16);
        EXPECT_NEAR(rates.write / 1e6, row.write, 1.0);
        EXPECT_NEAR(rates.read / 1e6, row.read, 1.0);
        EXPECT_NEAR(rates.both / 1e6, row.both, 1.0);
    }
}

TEST(Theory, BoundOfOneDirection) {
    BoundParameters p;
    p.shape = shape(2, 4);
    p.traffic = Traffic::Write;
    EXPECT_NEAR(link_bound(p).write, 2e9 * (1 - 4.0 / 1538) * 256 / 276, 1e3);
    EXPECT_EQ(link_bound(p).read, 0);
    p.traffic = Traffic::Read;  // a request per 138 symbols, so DLLPs come at their limit of 169
    EXPECT_NEAR(link_bound(p).read, 2e9 * (1 - 16.0 / (4 * 169) - 4.0 / 1538) * 256 / 276, 1e3);
    p.completion_bytes = 64;  // a request, and its DLLPs, per 168 symbols
    EXPECT_NEAR(link_bound(p).read / 2e9, 0.7419, 0.002);
}

TEST(Theory, BoundWithoutDllps) {
    BoundParameters p;
    p.shape = {1, 1, 125000000};
    p.data_width = 64;
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
    BoundParameters p;
    p.shape = shape(2, 4);
    p.data_width = 64;  // the data path has 1000 MB/s, the link 2000; header and payload take 34 beats
    EXPECT_NEAR(link_bound(p).write, 125e6 * 256 / 34, 1e3);
    p.descriptor_bytes = 8;  // 20 bytes take 3 beats
    EXPECT_NEAR(link_bound(p).write, 125e6 * 8 / 3, 1e3);
    // With both directions, read requests share the beats with writes: 9 beats per write, one per request.
    p = BoundParameters();
    p.shape = {3, 8, 250000000};
    p.data_width = 256;
    p.traffic = Traffic::Both;
    Rates both = link_bound(p);
    EXPECT_NEAR(both.write, (250e6 - both.read / 512) / 9 * 256, 1e3);
}

// For one direction, the model is the application notes' formula minus SKP.
TEST(Theory, OneWayWritesAreTheApplicationNotes) {
    for (unsigned gen : {1, 2, 3})
        for (unsigned lanes : {1, 4, 8, 16}) {
            BoundParameters p;
            p.shape = shape(gen, lanes);
            p.data_width = 1024;
            p.shape.clock_hz = 250000000;
            EXPECT_NEAR(link_bound(p).write, application_note_rate(p.shape, 256) * (1 - skip_sets(gen).share(lanes)),
                        1e3);
        }
}

// AN 456, Stratix V Gen2 x1: reads of 455 MB/s and, at the same time, writes of 429 MB/s. One ACK per request of 512
// bytes allows that; with an UpdateFC per request it would be impossible.
TEST(Theory, RootPortsUpdateSparingly) {
    BoundParameters p;
    p.shape = shape(2, 1);
    p.data_width = 64;
    p.traffic = Traffic::Read;
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
    BoundParameters p;
    p.shape = shape(2, 4);
    p.data_width = 512;  // each TLP takes less time on the data path than on the link
    p.traffic = Traffic::Read;
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
    BoundParameters p;
    p.shape = {2, 8, 250000000};
    p.data_width = 256;
    p.traffic = Traffic::Both;
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
    BoundParameters p;
    p.shape = {3, 8, 166666667};
    p.data_width = 512;
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
    BoundParameters p;
    p.shape = {3, 8, 250000000};
    p.data_width = 256;
    p.header_bytes = 16;
    p.traffic = Traffic::Write;
    EXPECT_NEAR(link_bound(p).write, 7.11e9, 0.005 * 7.11e9);
    p.traffic = Traffic::Both;
    EXPECT_NEAR(link_bound(p).write, 6.76e9, 0.01 * 6.76e9);
    EXPECT_NEAR(link_bound(p).read, 6.986e9, 0.02 * 6.986e9);
}
