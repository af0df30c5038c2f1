// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "card/config_space.h"

#include <gtest/gtest.h>

using namespace litepcie;

namespace {
const CardInfo kCard = {2,      4,      128,    125000000, {1 << 21}, 0x1234,
                        0x1ce0, 0x1234, 0x1ce0, 0x058000,  64 << 20,  {512, 32768}};

// Finds a capability by its number in the list, as a host does. Returns its offset, or 0.
unsigned capability(const ConfigSpace &config, unsigned id) {
    unsigned at = config.read(0x34, 1);
    for (int steps = 0; at && config.read(at, 1) != id && steps < 48; steps++)
        at = config.read(at + 1, 1);
    return at;
}

// Registers, errors and resets are compared with the gateware's, in test/gateware/endpoint/transaction/
// test_config_space.py.
class ConfigSpaceTest : public testing::Test {
  protected:
    void write(unsigned offset, uint32_t value, unsigned bytes) {
        config.write(offset, reinterpret_cast<const uint8_t *>(&value), bytes);
    }
    uint32_t read(unsigned offset, unsigned bytes) const { return config.read(offset, bytes); }

    ConfigSpace config{kCard, 512};
    const unsigned kPower = capability(config, 0x01), kMsi = capability(config, 0x05),
                   kExpress = capability(config, 0x10);
};
}  // namespace

TEST_F(ConfigSpaceTest, Capabilities) {
    ASSERT_TRUE(kExpress && kMsi && kPower);
    EXPECT_EQ(capability(config, 0x11), 0u);              // no MSI-X
    EXPECT_EQ(read(kExpress + 2, 2), 0x0002u);            // version 2, endpoint
    EXPECT_EQ(read(kExpress + 4, 4) & 7, 2u);             // MPS 512
    EXPECT_TRUE(read(kExpress + 4, 4) & 1 << 5);          // extended tags
    EXPECT_TRUE(read(kExpress + 4, 4) & 1 << 28);         // function level reset
    EXPECT_EQ(read(kExpress + 0x0c, 4) & 0x3ff, 0x042u);  // Gen2 x4
    EXPECT_EQ(read(kExpress + 0x12, 2) & 0x3ff, 0x042u);
    EXPECT_EQ(read(kMsi + 2, 2), 0x0080u);   // 64 bit, one vector, no mask bits
    EXPECT_EQ(read(0x100, 4), 0x00010001u);  // AER, the last extended capability
}

TEST_F(ConfigSpaceTest, CommandAndDeviceControl) {
    EXPECT_FALSE(config.memory_enabled() || config.bus_master());
    write(0x04, 0x0006, 2);
    EXPECT_TRUE(config.memory_enabled() && config.bus_master());
    EXPECT_EQ(config.mps(), 128u);
    EXPECT_EQ(config.mrrs(), 512u);
    EXPECT_FALSE(config.extended_tag());
    EXPECT_TRUE(config.relaxed_ordering() && config.no_snoop());
    EXPECT_FALSE(config.rcb_128());
    write(kExpress + 16, 1 << 3, 2);
    EXPECT_TRUE(config.rcb_128());
    write(kExpress + 8, 5 << 12 | 1 << 8 | 1 << 5, 2);
    EXPECT_EQ(config.mps(), 256u);
    EXPECT_EQ(config.mrrs(), 4096u);
    EXPECT_TRUE(config.extended_tag());
    EXPECT_FALSE(config.relaxed_ordering() || config.no_snoop());
    write(kExpress + 8, 5 << 5, 2);
    EXPECT_EQ(config.mps(), 512u);  // never more than announced
}

TEST_F(ConfigSpaceTest, NothingOutsideOfD0) {
    write(0x04, 6, 2);
    write(0x10, 0xe0000000, 4);
    write(kPower + 4, 3, 2);
    EXPECT_FALSE(config.memory_enabled() || config.bus_master());
    EXPECT_EQ(read(0x04, 2), 6u);
    write(kPower + 4, 0, 2);
    EXPECT_TRUE(config.memory_enabled() && config.bus_master());
    EXPECT_EQ(config.bar(0), 0xe0000000u);
    // A function without D1 and D2 ignores a write of them.
    for (unsigned d : {1u, 2u}) {
        write(kPower + 4, d, 2);
        EXPECT_EQ(read(kPower + 4, 2) & 3, 0u);
        EXPECT_TRUE(config.memory_enabled());
    }
}

TEST_F(ConfigSpaceTest, ExtendedTagsAsOffered) {
    config = ConfigSpace(kCard, 512, false);
    EXPECT_FALSE(read(kExpress + 4, 4) & 1 << 5);
    write(kExpress + 8, 5 << 12 | 1 << 8 | 1 << 5, 2);
    EXPECT_EQ(read(kExpress + 8, 2), uint32_t(5 << 12 | 1 << 5));  // hardwired to 0
    EXPECT_FALSE(config.extended_tag());
    config.function_reset();
    write(kExpress + 8, 1 << 8, 2);
    EXPECT_FALSE(config.extended_tag());
}

TEST_F(ConfigSpaceTest, Msi) {
    write(kMsi + 4, 0xfee00004, 4);
    write(kMsi + 8, 0x1, 4);
    write(kMsi + 12, 0x4021, 2);
    EXPECT_FALSE(config.msi_enabled());
    write(kMsi + 2, 0x0001, 2);
    EXPECT_TRUE(config.msi_enabled());
    EXPECT_EQ(config.msi_address(), 0x1fee00004u);
    EXPECT_EQ(config.msi_data(), 0x4021u);
}

TEST_F(ConfigSpaceTest, Resets) {
    write(0x04, 0x0006, 2);
    write(0x10, 0xe0000000, 4);
    write(kExpress + 8, 1 << 5, 2);
    EXPECT_FALSE(config.take_function_reset());
    write(kExpress + 8, 1 << 15 | 1 << 5, 2);
    EXPECT_TRUE(config.take_function_reset());
    EXPECT_FALSE(config.take_function_reset());
    EXPECT_FALSE(read(kExpress + 8, 2) & 1 << 15);
    // A function level reset keeps what belongs to the link: MPS, Link Control, Target Link Speed.
    write(kExpress + 8, 1 << 5 | 0xf, 2);
    write(kExpress + 16, 0xc8, 2);
    write(kExpress + 0x30, 1, 2);
    config.function_reset();
    EXPECT_FALSE(config.bus_master());
    EXPECT_EQ(config.bar(0), 0u);
    EXPECT_EQ(read(kExpress + 8, 2), 0x2830u);
    EXPECT_EQ(read(kExpress + 16, 2), 0xc8u);
    EXPECT_EQ(read(kExpress + 0x30, 2), 1u);
    config.reset();
    EXPECT_EQ(config.mps(), 128u);
    EXPECT_EQ(read(kExpress + 16, 2), 0u);
    EXPECT_EQ(read(kExpress + 0x30, 2), 2u);
}

TEST_F(ConfigSpaceTest, MsiVectors) {
    CardInfo card = kCard;
    card.msi_vectors = 16;
    config = ConfigSpace(card, 512);
    EXPECT_EQ(read(kMsi + 2, 2), 0x0088u);
    EXPECT_EQ(config.msi_vectors(), 1u);
    write(kMsi + 2, 0x0031, 2);
    EXPECT_EQ(config.msi_vectors(), 8u);
}

TEST_F(ConfigSpaceTest, Msix) {
    CardInfo card = kCard;
    card.msix_vectors = 6;
    card.msix_table = 0x40000;
    card.msix_pending = 0x50000;
    config = ConfigSpace(card, 512);
    unsigned msix = capability(config, 0x11);
    ASSERT_TRUE(msix);
    EXPECT_EQ(read(msix + 2, 2), 5u);
    EXPECT_EQ(read(msix + 4, 4), 0x40000u);
    EXPECT_EQ(read(msix + 8, 4), 0x50000u);
    EXPECT_FALSE(config.msix_enabled());
    write(msix + 2, 0xffff, 2);
    EXPECT_EQ(read(msix + 2, 2), 0xc005u);
    EXPECT_TRUE(config.msix_enabled() && config.msix_function_masked());
    write(msix + 2, 0x8000, 2);
    EXPECT_TRUE(config.msix_enabled() && !config.msix_function_masked());
    config.function_reset();
    EXPECT_FALSE(config.msix_enabled());
    EXPECT_FALSE(capability(ConfigSpace(card, 512, true, false), 0x11));
    EXPECT_FALSE(capability(ConfigSpace(kCard, 512), 0x11));
    card.msi_vectors = 0;
    config = ConfigSpace(card, 512);
    EXPECT_TRUE(capability(config, 0x11) && !capability(config, 0x05) && !config.msi_enabled());
}

TEST_F(ConfigSpaceTest, Bars) {
    CardInfo card = kCard;
    card.bars = {0x1000, 0, 0x200000, 0, 0x80, 0};
    config = ConfigSpace(card, 512);
    for (unsigned n = 0; n < kBars; n++)
        write(0x10 + 4 * n, 0xffffffff, 4);
    for (unsigned n = 0; n < kBars; n++)
        EXPECT_EQ(config.bar(n), card.bars[n] ? ~(card.bars[n] - 1) : 0) << n;
    write(0x10, 0xe0000000, 4);
    write(0x18, 0xe0200000, 4);
    write(0x20, 0xe0001000, 4);
    for (auto [address, bar] : {std::pair{0xe0000000, 0u},
                                {0xe0000fff, 0u},
                                {0xe0001000, 4u},
                                {0xe000107f, 4u},
                                {0xe0001080, kBars},
                                {0xe03fffff, 2u},
                                {0xe0400000, kBars},
                                {0xdfffffff, kBars}})
        EXPECT_EQ(config.bar_of(address), bar) << std::hex << address;
    EXPECT_EQ(config.bar_of(0x1e0000000), kBars);
}
