// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "link/tlp.h"

#include <gtest/gtest.h>

using namespace litepcie;

// Header dwords as in the specification.
TEST(Tlp, WriteBelow4GiB) {
    const uint8_t data[] = {0x11, 0x22, 0x33, 0x44, 0x55};
    Tlp tlp = Tlp::memory_write(0x0100, 0x1003, data, 5);
    EXPECT_EQ(tlp.dw, (std::vector<uint32_t>{0x40000002, 0x010000f8, 0x00001000, 0x00000011, 0x22334455}));
    EXPECT_STREQ(tlp.name(), "MWr32");
    EXPECT_EQ(tlp.first_byte(), 0x1003u);
    EXPECT_EQ(tlp.enabled_bytes(), 5u);
    EXPECT_EQ(tlp.wire_bytes(), 8u + 12 + 8);
    EXPECT_EQ(tlp.credit_class(), TlpClass::Posted);
    EXPECT_EQ(tlp.data_credits(), 1u);
}

TEST(Tlp, ReadAbove4GiB) {
    Tlp tlp = Tlp::memory_read(0x0100, 7, 0x123456781, 1);
    EXPECT_EQ(tlp.dw, (std::vector<uint32_t>{0x20000001, 0x01000702, 0x1, 0x23456780}));
    EXPECT_STREQ(tlp.name(), "MRd64");
    EXPECT_EQ(tlp.first_byte(), 0x123456781u);
    EXPECT_EQ(tlp.enabled_bytes(), 1u);
    EXPECT_EQ(tlp.credit_class(), TlpClass::NonPosted);
}

TEST(Tlp, CompletionWithData) {
    const uint8_t data[] = {1, 2, 3, 4};
    Tlp tlp = Tlp::completion_data(0, 0x0100, 0x42, 4096, 0x7c, data, 1);
    EXPECT_EQ(tlp.dw, (std::vector<uint32_t>{0x4a000001, 0x00000000, 0x0100427c, 0x01020304}));
    EXPECT_EQ(tlp.byte_count(), 4096u);
    EXPECT_EQ(tlp.tag(), 0x42);
    EXPECT_EQ(tlp.requester(), 0x0100);
    EXPECT_EQ(tlp.credit_class(), TlpClass::Completion);
}

TEST(Tlp, DescribesWhatIsCutOff) {
    Tlp tlp;
    tlp.dw = {0x40000001, 0};
    EXPECT_NE(tlp.describe().find("cut off"), std::string::npos);
    EXPECT_EQ(tlp.hex(), "40000001 00000000");
}
