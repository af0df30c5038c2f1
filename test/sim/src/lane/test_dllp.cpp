// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/dllp.h"
#include "lane/retry_buffer.h"

#include <gtest/gtest.h>

using namespace litepcie;
using namespace litepcie::lane;

// On which three other implementations agree.
TEST(Dllp, Vectors) {
    const struct {
        uint32_t dword;
        uint8_t crc[2];
    } vectors[] = {{0x40080080, {0xf3, 0x5a}}, {0xc0080080, {0x89, 0x25}}, {0x80084088, {0xd0, 0xa9}},
                   {0x00000000, {0xb3, 0x62}}, {0x00000fff, {0x25, 0xa8}}, {0x10000123, {0x09, 0xe2}},
                   {0x20000000, {0x65, 0xad}}, {0x800c4402, {0x82, 0x96}}};
    for (const auto &vector : vectors) {
        const Packet packet = Dllp{vector.dword}.packet();
        EXPECT_EQ(packet.bytes[4], vector.crc[0]);
        EXPECT_EQ(packet.bytes[5], vector.crc[1]);
        Dllp dllp;
        ASSERT_TRUE(dllp.parse(packet));
        EXPECT_EQ(dllp.dword, vector.dword);
    }
    EXPECT_EQ(Dllp::flow_control(Dllp::Init1, 0, 0x20, 0x80).dword, 0x40080080u);
    EXPECT_EQ(Dllp::flow_control(Dllp::Update, 1, 0x21, 2).dword, 0x90084002u);
}

TEST(Dllp, DamagedOnesAreRefused) {
    const Packet good = Dllp::ack(0x123).packet();
    for (unsigned bit = 0; bit < 48; bit++) {
        Packet packet = good;
        packet.bytes[bit / 8] ^= 1 << bit % 8;
        Dllp dllp;
        EXPECT_FALSE(dllp.parse(packet));
    }
}

TEST(Framed, Vectors) {
    Tlp read;
    read.dw = {0x04000001, 0x0000000f, 0x01000000};
    Packet packet = framed(0, read);
    EXPECT_EQ(std::vector<uint8_t>(packet.bytes.end() - 4, packet.bytes.end()),
              (std::vector<uint8_t>{0x4f, 0xa6, 0x2a, 0xff}));
    Tlp write;
    write.dw = {0x40000001, 0x0000000f, 0xa0100000, 0x67c66973};
    packet = framed(0x14, write);
    EXPECT_EQ(std::vector<uint8_t>(packet.bytes.end() - 4, packet.bytes.end()),
              (std::vector<uint8_t>{0x33, 0x3f, 0x60, 0xac}));

    unsigned sequence;
    Tlp tlp;
    EXPECT_EQ(take_apart(packet, sequence, tlp), Intact::Good);
    EXPECT_EQ(sequence, 0x14u);
    EXPECT_EQ(tlp.dw, write.dw);
    packet.nullified = true;
    EXPECT_EQ(take_apart(packet, sequence, tlp), Intact::Bad);
    for (size_t i = packet.bytes.size() - 4; i < packet.bytes.size(); i++)
        packet.bytes[i] ^= 0xff;
    EXPECT_EQ(take_apart(packet, sequence, tlp), Intact::Nullified);
    packet.nullified = false;
    EXPECT_EQ(take_apart(packet, sequence, tlp), Intact::Bad);
}

// Three times through all sequence numbers.
TEST(RetryBuffer, NumbersWrap) {
    Tlp tlp;
    tlp.dw = {0, 0, 0};
    RetryBuffer buffer;
    for (unsigned i = 0; i < 3 * 4096; i++) {
        const Packet &packet = buffer.add(tlp);
        EXPECT_EQ(unsigned(packet.bytes[0] << 8 | packet.bytes[1]), i % 4096);
        EXPECT_EQ(buffer.acknowledge((i + 1) % 4096), -1);
        if (i % 5 == 4) {
            EXPECT_EQ(buffer.acknowledge((i - 2) % 4096), 3);
            buffer.replay();
            EXPECT_EQ(buffer.next_replayed().bytes[1], uint8_t(i - 1));
            EXPECT_EQ(buffer.acknowledge(i % 4096), 2);
            EXPECT_FALSE(buffer.replaying());
            EXPECT_EQ(buffer.acknowledge(i % 4096), 0);  // again
        }
    }
}
