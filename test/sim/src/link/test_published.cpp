// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Compares the model's pacing with the calculated columns of the MSC8156 and MSC8157 note, in Gbit/s of both
// directions.
//
// Both notes charge 20 bytes of overhead per TLP. The rest differs and is taken from the note: it charges an ACK and an
// UpdateFC per four TLPs, and the read requests, to the direction of the data. In the model these travel in the other
// direction, and DLLPs follow the interval of the specification. The note ignores SKP ordered sets.
#include "link/link_direction.h"
#include "link/theory.h"

#include <gtest/gtest.h>

using namespace litepcie;

namespace {

struct Row {
    unsigned bytes;
    double write_8156, write_8157, read_8156, read_8157, write_mps128, read_mps128;
};
const Row kRows[] = {
    {8, 2.91, 5.82, 2.00, 4.00, 2.91, 2.00},           {16, 4.92, 9.85, 3.56, 7.11, 4.92, 3.56},
    {32, 7.53, 15.06, 5.82, 11.64, 7.53, 5.82},        {64, 10.24, 20.48, 8.53, 17.07, 10.24, 8.53},
    {128, 12.49, 24.98, 11.13, 22.26, 12.49, 11.13},   {256, 14.03, 28.05, 13.13, 26.26, 13.13, 12.34},
    {512, 14.42, 28.85, 13.47, 26.95, 13.47, 12.34},   {1024, 14.63, 29.26, 13.65, 27.31, 13.47, 12.49},
    {2048, 14.63, 29.26, 13.65, 27.31, 13.47, 12.49},  {4096, 14.63, 29.26, 13.65, 27.31, 13.47, 12.49},
    {8192, 14.63, 29.26, 13.65, 27.31, 13.47, 12.49},  {16384, 14.63, 29.26, 13.65, 27.31, 13.47, 12.49},
    {32768, 14.63, 29.26, 13.65, 27.31, 13.47, 12.49},
};
constexpr unsigned kRequest = 256;  // bytes per read request in the note

// Bytes on the wire per transfer in the model, without SKP, measured on a link that is busy with such transfers.
double paced_bytes(const LinkShape &shape, unsigned transfer, unsigned mps) {
    constexpr uint64_t kCycles = 200000;
    LinkDirection link(shape, mps, kRootPortCredits), other = link;
    uint64_t moved = 0;
    unsigned left = 0;
    for (uint64_t i = 0; i < kCycles; i++) {
        link.advance(other);
        while (link.free_this_cycle()) {
            left = left ? left : transfer;
            const unsigned payload = std::min(left, mps);
            link.send_bytes(kFramingBytes + 12 + payload);
            moved += payload;
            left -= payload;
        }
    }
    const double seconds = kCycles / double(shape.clock_hz);
    const double capacity = raw_bytes_per_second(shape) * (1 - skip_sets(shape.gen).share(shape.lanes));
    return capacity * seconds * transfer / moved;
}

void compare(unsigned gen, double column, unsigned bytes, unsigned mps, bool read) {
    const LinkShape shape{gen, 4, 125000000};
    const unsigned tlps = (bytes + mps - 1) / mps, requests = read ? (bytes + kRequest - 1) / kRequest : 0;
    // Only the note's column of reads with MPS 128 counts read requests among the TLPs that get an ACK.
    const unsigned acknowledged = tlps + (mps == 128 ? requests : 0);
    const double wire = paced_bytes(shape, bytes, mps) + requests * 20 + (acknowledged + 3) / 4 * 2 * kDllpBytes;
    const double gbps = 2 * 8e-9 * raw_bytes_per_second(shape) * bytes / wire;
    EXPECT_NEAR(gbps, column, 0.005 * column) << bytes << " bytes, gen " << gen << ", MPS " << mps << ", read " << read;
}

}  // namespace

// AN 690 (Intel, 2017.05.08), 1.6.5 "Peak Throughput": Gen3 x8, 256 bit at 250 MHz, MPS 256. Signal Tap saw 7.1 GB/s of
// writes alone; beside the requests of reads 6.76 GB/s of writes and 6.99 GB/s of reads.
TEST(Published, PeaksOfAn690) {
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

TEST(Published, CalculatedColumnsOfMsc815x) {
    for (const Row &row : kRows) {
        compare(1, row.write_8156, row.bytes, 256, false);
        compare(2, row.write_8157, row.bytes, 256, false);
        compare(1, row.read_8156, row.bytes, 256, true);
        compare(2, row.read_8157, row.bytes, 256, true);
        compare(1, row.write_mps128, row.bytes, 128, false);
        compare(1, row.read_mps128, row.bytes, 128, true);
    }
}
