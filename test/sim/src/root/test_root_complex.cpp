// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "completer_fixture.h"
#include "root/root_complex.h"

#include <map>
#include <numeric>
#include <set>

using namespace litepcie;

namespace {
class CompleterTest : public CompleterFixture {
  protected:
    CompleterTest() : CompleterFixture(1) {}

    // Returns all completions that come within `cycles`; `at` gets the cycle of each.
    std::vector<HostTlp> collect(uint64_t cycles) {
        std::vector<HostTlp> all;
        LinkDirection link(kShape, 256, kMany);
        for (uint64_t end = cycle + cycles; cycle < end; cycle++) {
            completer->advance(cycle, egress);
            while (!egress.empty() && egress.next(link)) {
                all.push_back(egress.pop());
                at.push_back(cycle);
            }
        }
        return all;
    }
    void ask(uint64_t address, unsigned bytes, uint8_t tag = 0) {
        completer->receive(Tlp::memory_read(kCard, tag, address, bytes), cycle);
    }

    // Returns the completions of one read; `took` gets how long the last one took.
    std::vector<HostTlp> read(uint64_t address, unsigned bytes) {
        std::vector<HostTlp> all;
        const uint64_t begin = cycle;
        ask(address, bytes, 9);
        while (completer->outstanding() || !egress.empty())
            for (const HostTlp &tlp : collect(1))
                all.push_back(tlp);
        took = cycle - begin;
        return all;
    }

    std::vector<uint64_t> at;
    uint64_t took = 0;
};

// Checks the completions of one read against PCIe 4.0 2.3.1.1, and returns their number.
size_t check_read(const std::vector<HostTlp> &tlps, uint64_t address, unsigned bytes, unsigned rcb, unsigned most,
                  const std::function<uint8_t(uint64_t)> &pattern) {
    unsigned left = bytes;
    for (const HostTlp &tlp : tlps) {
        EXPECT_EQ(tlp.tlp.byte_count(), left);
        EXPECT_EQ(tlp.tlp.lower_address(), address & 0x7f);
        EXPECT_LE(4 * tlp.tlp.length(), most);
        std::vector<uint8_t> data(4 * tlp.tlp.length());
        tlp.tlp.payload_bytes(data.data());
        unsigned lead = address & 3, here = std::min<unsigned>(data.size() - lead, left);
        for (unsigned i = 0; i < here; i++)
            EXPECT_EQ(data[lead + i], pattern(address + i));
        address += here;
        left -= here;
        EXPECT_EQ(tlp.ends_request, left == 0);
        if (left) {
            EXPECT_EQ(address % rcb, 0u);
        }
    }
    EXPECT_EQ(left, 0u);
    return tlps.size();
}
}  // namespace

TEST_F(CompleterTest, SplitsAtTheBoundary) {
    for (unsigned rcb : {64u, 128u})
        for (unsigned completion_bytes : {0u, 64u, 128u})
            for (unsigned start : {0u, 1u, 2u, 3u, 4u, 60u, 63u, 64u, 65u, 127u, 200u, 255u})
                for (unsigned bytes : {1u, 2u, 3u, 4u, 5u, 63u, 64u, 65u, 255u, 256u, 257u, 512u}) {
                    options.rcb = rcb;
                    options.completion_bytes = completion_bytes;
                    make();
                    ask(0x2000 + start, bytes);
                    std::vector<HostTlp> tlps = collect(2000);
                    unsigned most = completion_bytes ? completion_bytes : 256;
                    size_t n = check_read(tlps, 0x2000 + start, bytes, completion_bytes ? completion_bytes : rcb, most,
                                          pattern);
                    if (completion_bytes) {
                        EXPECT_EQ(n, (start % completion_bytes + bytes + completion_bytes - 1) / completion_bytes);
                    }
                }
}

// The third read is served when the last completion of the first one has left, and takes its own latency from there.
TEST_F(CompleterTest, ServesAFewReadsAtOnce) {
    options.outstanding = 2;
    make();
    for (uint8_t tag = 0; tag < 5; tag++)
        ask(0x1000, 4, tag);
    EXPECT_EQ(completer->reads_waiting(), 3u);
    collect(100);
    EXPECT_EQ(at, (std::vector<uint64_t>{10, 10, 20, 20, 30}));
    EXPECT_FALSE(completer->outstanding());
    ask(0x1000, 4);
    ask(0x1000, 4);
    ask(0x1000, 4);
    completer->clear();
    EXPECT_FALSE(completer->outstanding());
    EXPECT_EQ(completer->reads_waiting(), 0u);
}

// A read that a fault holds back does not keep others from being served, also not after it was answered.
TEST_F(CompleterTest, AReadHeldBackIsNotOneOfTheFew) {
    options.outstanding = 1;
    make();
    faults.add("late@1");
    ask(0x1000, 4, 0);
    ask(0x1000, 4, 1);
    const std::vector<HostTlp> first = collect(100);
    ASSERT_EQ(first.size(), 1u);
    EXPECT_EQ(first[0].tlp.tag(), 1u);
    EXPECT_EQ(collect(3 * kTimeout).size(), 1u);
    ask(0x1000, 4, 2);
    ask(0x1000, 4, 3);
    EXPECT_EQ(completer->reads_waiting(), 1u);
}

// Memory stalls from cycle 80 to 99, from 180 to 199, and so on. Reads take 10 cycles.
TEST_F(CompleterTest, MemoryStalls) {
    options.stall_cycles = 20;
    options.stall_period_cycles = 100;
    make();
    for (uint64_t when : {60, 69, 70, 75, 89, 90, 171}) {
        collect(when - cycle);
        ask(0x1000, 4);
    }
    collect(100);
    EXPECT_EQ(at, (std::vector<uint64_t>{70, 79, 100, 100, 100, 100, 200}));
    const Tlp write = Tlp::memory_write(kCard, 0x1000, std::vector<uint8_t>(4).data(), 4);
    EXPECT_EQ(completer->accepted(write, 379), 379u);
    EXPECT_EQ(completer->accepted(write, 380), 400u);
    EXPECT_EQ(completer->accepted(Tlp::memory_read(kCard, 0, 0x1000, 4), 380), 380u);
}

TEST_F(CompleterTest, LatencyAndJitter) {
    ask(0x1000, 4);
    collect(100);
    EXPECT_EQ(at.at(0), 10u);
    options.jitter_cycles = 50;
    options.reorder = true;
    make();
    std::set<uint64_t> delays;
    for (int i = 0; i < 200; i++) {
        at.clear();
        uint64_t asked = cycle;
        ask(0x1000, 4);
        collect(100);
        delays.insert(at.at(0) - asked);
    }
    EXPECT_GE(*delays.begin(), 10u);
    EXPECT_LE(*delays.rbegin(), 60u);
    EXPECT_GT(delays.size(), 30u);
}

// Every tenth request is slow. It delays the requests after it, unless they may overtake it with reorder.
TEST_F(CompleterTest, Outliers) {
    options.outlier_cycles = 500;
    options.outlier_every = 10;
    for (bool reorder : {false, true}) {
        options.reorder = reorder;
        make();
        for (int i = 1; i <= 30; i++) {
            const uint64_t asked = cycle;
            ask(0x1000, 4);
            at.clear();
            collect(600);
            ASSERT_EQ(at.size(), 1u);
            EXPECT_EQ(at[0] - asked, i % 10 ? 10u : 510u);
        }
        for (uint8_t tag = 1; tag <= 12; tag++)
            ask(0x1000, 4, tag);
        EXPECT_EQ(collect(100).size(), reorder ? 11u : 9u);
        EXPECT_EQ(collect(600).size(), reorder ? 1u : 3u);
    }
}

// An answer that may come after the card's completion timeout does not free its tag.
TEST_F(CompleterTest, OutlierPastTheTimeout) {
    options.outlier_cycles = 2500;
    options.outlier_every = 2;
    make();
    ask(0x1000, 4, 1);
    EXPECT_FALSE(completer->has_abandoned());
    ask(0x1000, 4, 2);
    EXPECT_EQ(completer->take_abandoned(), std::vector<uint8_t>{2});
    std::vector<HostTlp> tlps = collect(3000);
    ASSERT_EQ(tlps.size(), 2u);
    EXPECT_TRUE(tlps[0].ends_request);
    EXPECT_FALSE(tlps[0].late);
    EXPECT_TRUE(tlps[1].late && tlps[1].ends_request);
}

// With reorder, completions of different requests interleave, those of one request stay in order, and the same seed
// gives the same order.
TEST_F(CompleterTest, Reorder) {
    options.reorder = true;
    options.seed = 7;
    std::vector<std::vector<uint8_t>> orders;
    for (int run = 0; run < 2; run++) {
        make();
        for (uint8_t tag = 0; tag < 16; tag++)
            ask(0x1000 + tag * 512, 512, tag);
        std::map<uint8_t, std::vector<HostTlp>> by_tag;
        orders.emplace_back();
        for (const HostTlp &tlp : collect(1000)) {
            by_tag[tlp.tlp.tag()].push_back(tlp);
            orders.back().push_back(tlp.tlp.tag());
        }
        ASSERT_EQ(by_tag.size(), 16u);
        for (auto &[tag, tlps] : by_tag)
            check_read(tlps, 0x1000 + tag * 512, 512, 64, 256, pattern);
        EXPECT_FALSE(std::is_sorted(orders.back().begin(), orders.back().end()));
    }
    EXPECT_EQ(orders[0], orders[1]);
}

TEST_F(CompleterTest, Faults) {
    auto read = [&](const char *fault) {
        faults.add_next(fault);
        ask(0x1000, 512, 9);
        return collect(100);
    };
    std::vector<HostTlp> tlps = read("ur@2");
    ASSERT_EQ(tlps.size(), 2u);
    EXPECT_EQ(tlps[1].tlp.status(), unsigned(CplStatus::Unsupported));
    EXPECT_EQ(tlps[1].tlp.byte_count(), 256u);
    EXPECT_TRUE(tlps[1].ends_request);
    tlps = read("ca@1");
    ASSERT_EQ(tlps.size(), 1u);
    EXPECT_EQ(tlps[0].tlp.status(), unsigned(CplStatus::Abort));
    tlps = read("poison@1");
    ASSERT_EQ(tlps.size(), 2u);
    EXPECT_TRUE(tlps[0].tlp.poisoned());
    EXPECT_FALSE(tlps[1].tlp.poisoned());
    tlps = read("duplicate@2");
    ASSERT_EQ(tlps.size(), 3u);
    EXPECT_EQ(tlps[1].tlp.dw, tlps[2].tlp.dw);
    tlps = read("short@1");
    ASSERT_EQ(tlps.size(), 1u);
    EXPECT_EQ(tlps[0].tlp.byte_count(), 252u);
    EXPECT_EQ(tlps[0].tlp.length(), 63u);
    EXPECT_TRUE(tlps[0].ends_request);
    EXPECT_TRUE(completer->take_abandoned().empty());
    tlps = read("drop@2");
    ASSERT_EQ(tlps.size(), 1u);
    EXPECT_EQ(completer->take_abandoned(), std::vector<uint8_t>{9});
    EXPECT_FALSE(completer->outstanding());
    tlps = read("late@1");
    EXPECT_TRUE(tlps.empty());
    EXPECT_TRUE(completer->outstanding());
    EXPECT_EQ(completer->take_abandoned(), std::vector<uint8_t>{9});
    EXPECT_EQ(collect(6000).size(), 2u);
    EXPECT_EQ(faults.injected(), 7u);
}

// Every split that RCB and MPS allow comes up, and no other (PCIe 4.0 2.3.1.1).
TEST_F(CompleterTest, SplitsWhereverTheRulesAllow) {
    options.split_at_random = true;
    for (unsigned rcb : {64u, 128u}) {
        options.rcb = rcb;
        make();
        std::set<std::vector<unsigned>> splits;
        for (int i = 0; i < 400; i++) {
            const uint64_t start = 0x2000 + 3 * (i % 2) + 60 * (i % 3);
            const std::vector<HostTlp> tlps = read(start, 512);
            check_read(tlps, start, 512, rcb, 256, pattern);
            std::vector<unsigned> lengths;
            for (const HostTlp &tlp : tlps)
                lengths.push_back(tlp.tlp.length());
            if (start == 0x2000)
                splits.insert(lengths);
        }
        // 512 aligned bytes in pieces of 64 to 256, or of 128 and 256.
        EXPECT_GE(splits.size(), rcb == 64 ? 20u : 5u);
    }
}

TEST_F(CompleterTest, HoldsForUpToFourTimeouts) {
    make();
    std::set<bool> late;
    for (int i = 0; i < 60; i++) {
        faults.add_next("hold@1");
        const std::vector<HostTlp> tlps = read(0x1000, 256);
        ASSERT_EQ(tlps.size(), 1u);
        EXPECT_TRUE(tlps[0].late && tlps[0].ends_request);
        EXPECT_EQ(completer->take_abandoned(), std::vector<uint8_t>{9});
        EXPECT_LE(took, 4 * kTimeout + 20);
        late.insert(took > kTimeout);
    }
    EXPECT_EQ(late.size(), 2u);
}

TEST_F(CompleterTest, CompletionForAnotherFunctionComesBefore) {
    make();
    faults.add_next("requester@2");
    const std::vector<HostTlp> tlps = read(0x1000, 512);
    ASSERT_EQ(tlps.size(), 3u);
    EXPECT_NE(tlps[1].tlp.requester(), kCard);
    EXPECT_TRUE(tlps[1].stray && !tlps[1].ends_request);
    EXPECT_EQ(tlps[2].tlp.requester(), kCard);
    EXPECT_EQ(tlps[1].tlp.byte_count(), tlps[2].tlp.byte_count());
    EXPECT_EQ(tlps[1].tlp.dw[3], ~tlps[2].tlp.dw[3]);
}

TEST_F(CompleterTest, WrongChangesOneBit) {
    make();
    const Tlp right = read(0x1003, 77).at(0).tlp;
    faults.add_next("wrong@1");
    const Tlp wrong = read(0x1003, 77).at(0).tlp;
    unsigned bits = 0;
    for (size_t i = 0; i < right.dw.size(); i++)
        bits += __builtin_popcount(right.dw[i] ^ wrong.dw[i]);
    EXPECT_EQ(bits, 1u);
    EXPECT_EQ(right.dw[0], wrong.dw[0]);
}

TEST(FaultInjector, AtRandom) {
    FaultInjector faults(5);
    faults.add("poison%100");
    for (int i = 0; i < 2000; i++)
        faults.next();
    EXPECT_NEAR(double(faults.injected()), 200.0, 60.0);
    faults.calm();
    const uint64_t before = faults.injected();
    for (int i = 0; i < 100; i++)
        EXPECT_EQ(faults.next(), Fault::None);
    EXPECT_EQ(faults.injected(), before);
    EXPECT_THROW(faults.add("poison%0"), std::invalid_argument);
    EXPECT_THROW(faults.add("poison%1001"), std::invalid_argument);
}

TEST(FaultInjector, Parses) {
    FaultInjector faults;
    for (const char *wrong : {"ur", "ur@", "ur@0", "ur@-1", "nothing@1", "ur@1x", "@1", "ur@99999999999999999999"})
        EXPECT_THROW(faults.add(wrong), std::invalid_argument) << wrong;
    faults.add("ur@2");
    EXPECT_EQ(faults.next(), Fault::None);
    EXPECT_EQ(faults.next(), Fault::Unsupported);
    EXPECT_EQ(faults.next(), Fault::None);
}

TEST(Egress, CompletionsStayBehindWritesAndReadsGetOutOfTheWay) {
    const uint8_t data[4] = {};
    Egress egress;
    LinkDirection link(kShape, 256, {{1, 0, Credits::kInfinite}, {100, 0, Credits::kInfinite}});
    egress.push({Tlp::memory_read(0, 1, 0xe0000000, 4), false});  // it has no credit
    egress.push({Tlp::memory_write(0, 0xe0000000, data, 4), false});
    egress.push({Tlp::memory_write(0, 0xe0000004, data, 4), false});
    egress.push({Tlp::completion(0, kCard, 0, CplStatus::Unsupported, 4, 0), true});
    ASSERT_NE(egress.next(link), nullptr);
    EXPECT_TRUE(egress.next(link)->tlp.is_memory_write());
    link.take_credit(TlpClass::Posted, 1);
    egress.pop();
    EXPECT_EQ(egress.next(link), nullptr);  // the completion has credit, but the write before it has none
    link.return_credit(TlpClass::Posted, 1);
    link.grant_returned();
    egress.next(link);
    EXPECT_EQ(egress.pop().tlp.address(), 0xe0000004u);
    ASSERT_NE(egress.next(link), nullptr);
    EXPECT_TRUE(egress.pop().tlp.is_completion());
    EXPECT_FALSE(egress.empty());  // the read still waits
}

TEST(Egress, ReadsStayBehindWrites) {
    const uint8_t data[4] = {};
    Egress egress;
    LinkDirection link(kShape, 256, kMany);
    egress.push({Tlp::memory_write(0, 0xe0000000, data, 4), false});
    egress.push({Tlp::memory_read(0, 1, 0xe0000000, 4), false});
    egress.next(link);
    EXPECT_TRUE(egress.pop().tlp.is_memory_write());
    egress.next(link);
    EXPECT_TRUE(egress.pop().tlp.is_memory_read());
    EXPECT_TRUE(egress.empty());
}

TEST(HostCpu, SplitsStores) {
    std::vector<uint8_t> data(300);
    std::iota(data.begin(), data.end(), 0);
    HostCpu cpu;
    cpu.set_mps(128);
    Egress egress;
    LinkDirection link(kShape, 256, kMany);
    EXPECT_EQ(cpu.write(0xe0000f81, data.data(), 300, egress), 3u);
    std::vector<std::pair<uint64_t, unsigned>> pieces;
    while (egress.next(link)) {
        Tlp tlp = egress.pop().tlp;
        pieces.emplace_back(tlp.first_byte(), tlp.enabled_bytes());
        EXPECT_LE(4 * tlp.length(), 128u);
    }
    EXPECT_EQ(pieces,
              (std::vector<std::pair<uint64_t, unsigned>>{{0xe0000f81, 127}, {0xe0001000, 128}, {0xe0001080, 45}}));
}

TEST(HostCpu, LoadsInPiecesAndErrors) {
    HostCpu cpu;
    Egress egress;
    uint8_t tag = cpu.read(0xe000007e, 4, 0, egress);
    uint8_t data[4] = {0, 0, 0x11, 0x22};
    cpu.complete(Tlp::completion_data(kCard, 0, tag, 4, 0x7e, data, 1));
    EXPECT_EQ(cpu.state(tag), HostCpu::State::Waiting);
    uint8_t rest[4] = {0x33, 0x44, 0, 0};
    cpu.complete(Tlp::completion_data(kCard, 0, tag, 2, 0, rest, 1));
    ASSERT_EQ(cpu.state(tag), HostCpu::State::Done);
    uint8_t got[4];
    cpu.take(tag, got, 4);
    EXPECT_EQ((std::vector<uint8_t>(got, got + 4)), (std::vector<uint8_t>{0x11, 0x22, 0x33, 0x44}));

    tag = cpu.read(0xe0000000, 4, 0, egress);
    cpu.complete(Tlp::completion(kCard, 0, tag, CplStatus::Unsupported, 4, 0));
    EXPECT_EQ(cpu.state(tag), HostCpu::State::Failed);
    cpu.take(tag, got, 4);
    EXPECT_EQ(got[3], 0xff);

    tag = cpu.read(0xe0000000, 4, 100, egress);
    EXPECT_EQ(cpu.expire(200, 100), -1);
    EXPECT_EQ(cpu.expire(201, 100), tag);
    EXPECT_EQ(cpu.state(tag), HostCpu::State::Failed);
    EXPECT_FALSE(cpu.outstanding());
    EXPECT_THROW(cpu.read(0xe0000000, 0, 0, egress), std::invalid_argument);
    EXPECT_THROW(cpu.read(0xe0000ffc, 8, 0, egress), std::invalid_argument);
}

TEST(Iommu, AMissWaitsForItsWalkAndAHitGoesPast) {
    Iommu iommu({2, 100, 10, 0});
    EXPECT_EQ(iommu.translate(0x1000, 0), 100u);
    EXPECT_EQ(iommu.translate(0x2000, 0), 110u);    // the second walk begins 10 cycles later
    EXPECT_EQ(iommu.translate(0x1fff, 50), 100u);   // of a page whose walk is under way
    EXPECT_EQ(iommu.translate(0x1abc, 500), 500u);  // known
    EXPECT_EQ(iommu.misses(), 2u);
}

TEST(Iommu, KeepsTheLatestPages) {
    Iommu iommu({2, 100, 0, 0});
    for (uint64_t page : {1, 2, 1, 3})
        iommu.translate(page << 12, 1000);
    EXPECT_EQ(iommu.misses(), 3u);
    EXPECT_EQ(iommu.translate(1 << 12, 5000), 5000u);
    EXPECT_EQ(iommu.translate(2 << 12, 5000), 5100u);  // was used the longest time ago
    iommu.clear();
    EXPECT_EQ(iommu.translate(1 << 12, 9000), 9100u);
}
