// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// What the host does wrong, or rarely, with completions: random splits, late ones, and those for other functions.
#include "completer_fixture.h"

#include <set>

using namespace litepcie;

namespace {

class MisbehaviourTest : public CompleterFixture {
  protected:
    MisbehaviourTest() : CompleterFixture(3) {}
    // Returns the completions of one read, and how long the last one took.
    std::vector<HostTlp> read(uint64_t address, unsigned bytes) {
        LinkDirection link(kShape, 256, kMany);
        std::vector<HostTlp> all;
        const uint64_t begin = cycle;
        completer->receive(Tlp::memory_read(kCard, 9, address, bytes), cycle);
        while (completer->outstanding() || !egress.empty()) {
            completer->advance(cycle++, egress);
            while (!egress.empty() && egress.next(link))
                all.push_back(egress.pop());
        }
        took = cycle - begin;
        return all;
    }

    uint64_t took = 0;
};

}  // namespace

// Every split that RCB and MPS allow comes up, and no other (PCIe 4.0 2.3.1.1).
TEST_F(MisbehaviourTest, SplitsWhereverTheRulesAllow) {
    options.split_at_random = true;
    for (unsigned rcb : {64u, 128u}) {
        options.rcb = rcb;
        make();
        std::set<std::vector<unsigned>> splits;
        for (int i = 0; i < 400; i++) {
            const uint64_t start = 0x2000 + 3 * (i % 2) + 60 * (i % 3);
            uint64_t address = start, left = 512;
            std::vector<unsigned> lengths;
            for (const HostTlp &completion : read(start, 512)) {
                const Tlp &tlp = completion.tlp;
                ASSERT_EQ(tlp.byte_count(), left % 4096);
                ASSERT_EQ(tlp.lower_address(), address & 0x7f);
                ASSERT_LE(4 * tlp.length(), 256u);
                std::vector<uint8_t> data(4 * tlp.length());
                tlp.payload_bytes(data.data());
                const unsigned lead = address & 3, bytes = std::min<uint64_t>(data.size() - lead, left);
                for (unsigned b = 0; b < bytes; b++)
                    ASSERT_EQ(data[lead + b], pattern(address + b));
                address += bytes;
                left -= bytes;
                ASSERT_TRUE(left == 0 || address % rcb == 0);
                lengths.push_back(bytes);
            }
            ASSERT_EQ(left, 0u);
            if (start == 0x2000)
                splits.insert(lengths);
        }
        // 512 aligned bytes in pieces of 64 to 256, or of 128 and 256.
        EXPECT_GE(splits.size(), rcb == 64 ? 20u : 5u);
    }
}

TEST_F(MisbehaviourTest, HoldsForUpToFourTimeouts) {
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

TEST_F(MisbehaviourTest, CompletionForAnotherFunctionComesBefore) {
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

TEST_F(MisbehaviourTest, WrongChangesOneBit) {
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
