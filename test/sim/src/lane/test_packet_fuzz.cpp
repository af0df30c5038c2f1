// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Damaged and random packets of a card at the other end of a lane, from their symbols to the TLPs of the data link
// layer.
#include "lane/data_link.h"
#include "lane/receiver.h"
#include "lane/transmitter.h"
#include "link/random_tlps.h"
#include "link/tlp_checker.h"

#include <gtest/gtest.h>

using namespace litepcie;
using namespace litepcie::lane;

namespace {

constexpr size_t kMost = 4 + 1024 + 1;  // dwords of header, payload and digest

// The receiving half of the root port, and the transmitter of a card that numbers its TLPs.
class PacketFuzz : public testing::Test {
  protected:
    PacketFuzz() : random(fuzz_seed()), link(DataLinkOptions()), transmitter(fuzz_seed()) {
        transmitter.fixed_interval = UINT32_MAX;
        link.advance(true, true);
        for (const auto kind : {Dllp::Init1, Dllp::Init2})
            for (unsigned i = 0; i < kTlpClasses; i++)
                link.receive(Dllp::flow_control(kind, i, 0, 0).packet());
        for (unsigned i = 0; i < 10000 && !link.up(); i++) {
            link.advance(true, true);
            link.next();
        }
        EXPECT_TRUE(link.up());
    }

    // Gives the receiver the symbols of a packet, some of them others if `damage`. What it finds goes to the link.
    unsigned send(const Packet &packet, bool damage = false) {
        unsigned found = 0;
        transmitter.load(packet);
        while (!transmitter.empty()) {
            Symbol symbol = transmitter.pop();
            if (damage && random.one_in(32))
                symbol = Symbol(random.below(0x400));
            if (receiver.take(symbol) != Received::Packet)
                continue;
            link.receive(receiver.packet());
            found++;
        }
        return found;
    }
    // The TLPs that the link layer passed on.
    std::vector<Tlp> arrived() {
        std::vector<Tlp> tlps;
        for (Tlp tlp; link.receive(tlp);) {
            link.release(tlp);
            tlps.push_back(tlp);
        }
        for (unsigned i = 0; i < 4; i++) {
            link.advance(true, true);
            link.next();
        }
        return tlps;
    }
    Tlp any() { return random.any(Tlp::memory_read(RandomTlps::kHost, 3, 0xe0000040, 32)); }

    RandomTlps random;
    DataLink link;
    Receiver receiver;
    Transmitter transmitter;
    unsigned sequence = 0;
};

}  // namespace

// Whatever a TLP is, its dwords come through if it has three at least. A shorter one, or a longer one than possible, is
// a bad TLP, and no piece of it arrives.
TEST_F(PacketFuzz, DwordsComeThrough) {
    for (unsigned i = 0, end = fuzz_tlps(5000); i < end; i++) {
        const Tlp tlp = any();
        const uint64_t bad = link.counts().bad_tlps;
        ASSERT_EQ(send(framed(sequence, tlp)), 1u);
        const std::vector<Tlp> got = arrived();
        if (tlp.dw.size() < 3 || tlp.dw.size() > kMost) {
            EXPECT_TRUE(got.empty());
            EXPECT_EQ(link.counts().bad_tlps, bad + 1);
            continue;
        }
        ASSERT_EQ(got.size(), 1u) << tlp.hex();
        ASSERT_EQ(got[0].hex(), tlp.hex());
        sequence = (sequence + 1) % RetryBuffer::kNumbers;
    }
}

// A packet with changed bytes, or with an end of another kind, is a bad TLP, a nullified one or a duplicate.
TEST_F(PacketFuzz, DamagedPacketsDoNotArrive) {
    for (unsigned i = 0, end = fuzz_tlps(5000); i < end; i++) {
        const Tlp tlp = any();
        Packet packet = framed(random.one_in(8) ? random.below(4096) : sequence, tlp);
        const Packet whole = packet;
        switch (random.below(5)) {
        case 0: packet.bytes[random.below(packet.bytes.size())] ^= uint8_t(1 + random.below(255)); break;
        case 1: packet.bytes.resize(random.below(packet.bytes.size())); break;
        case 2: packet.bytes.resize(packet.bytes.size() + 1 + random.below(40), uint8_t(random.below(256))); break;
        case 3: packet.nullified = true; break;
        case 4: packet.dllp = true; break;
        }
        const DataLinkCounts before = link.counts();
        link.receive(packet);
        EXPECT_TRUE(arrived().empty()) << tlp.hex();
        const DataLinkCounts &after = link.counts();
        EXPECT_EQ(after.bad_tlps + after.bad_dllps + after.nullified + after.duplicates,
                  before.bad_tlps + before.bad_dllps + before.nullified + before.duplicates + 1);
        // The next one in order does.
        const Tlp good = random.request();
        send(framed(sequence, good));
        const std::vector<Tlp> got = arrived();
        ASSERT_EQ(got.size(), 1u);
        ASSERT_EQ(got[0].hex(), good.hex());
        sequence = (sequence + 1) % RetryBuffer::kNumbers;
    }
}

// Any symbols: what arrives nevertheless is refused by a rule, or understood.
TEST_F(PacketFuzz, DamagedSymbols) {
    TlpChecker checker;  // bus mastering is off: requests are refused
    for (unsigned i = 0, end = fuzz_tlps(5000); i < end; i++) {
        send(framed(random.one_in(2) ? sequence : random.below(4096), any()), random.one_in(2));
        for (unsigned n = random.one_in(16) ? random.below(64) : 0; n; n--)
            if (receiver.take(Symbol(random.below(0x400))) == Received::Packet)
                link.receive(receiver.packet());
        if (random.one_in(64)) {  // as after a training set: what was begun is lost, and the scramblers agree
            receiver = Receiver();
            transmitter.scrambler = Scrambler();
        }
        for (const Tlp &tlp : arrived()) {
            sequence = (sequence + 1) % RetryBuffer::kNumbers;
            try {
                checker.from_card(tlp, 10000);
                EXPECT_EQ(rebuilt(tlp).hex(), tlp.hex());
            } catch (const Violation &violation) {
                EXPECT_NE(std::string(violation.what()).find(tlp.hex()), std::string::npos);
            }
        }
    }
    EXPECT_GT(link.counts().received, 0u);
    EXPECT_GT(link.counts().bad_tlps, 0u);
}
