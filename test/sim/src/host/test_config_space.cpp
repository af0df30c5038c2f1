// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "host/config_space.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace litepcie;

namespace {

const CardInfo kCard = {2,      4,      128,    125000000, 1 << 21,  0x1234,
                        0x1ce0, 0x1234, 0x1ce0, 0x058000,  64 << 20, {512, 32768}};

void write(ConfigSpace &config, unsigned offset, uint32_t value, unsigned bytes) {
    uint8_t data[4];
    memcpy(data, &value, 4);
    config.write(offset, data, bytes);
}

// Finds a capability by its number in the list, as a host does. Returns its offset, or 0.
unsigned capability(const ConfigSpace &config, unsigned id) {
    unsigned at = config.read(0x34, 1);
    for (int steps = 0; at && steps < 48; steps++) {
        if (config.read(at, 1) == id)
            return at;
        at = config.read(at + 1, 1);
    }
    return 0;
}

}  // namespace

TEST(ConfigSpace, Identity) {
    ConfigSpace config(kCard, 512);
    EXPECT_EQ(config.read(0x00, 4), 0x1ce01234u);
    EXPECT_EQ(config.read(0x08, 4), 0x05800000u);
    EXPECT_EQ(config.read(0x2c, 4), 0x1ce01234u);
    EXPECT_EQ(config.read(0x0e, 1), 0u);       // type 0, one function
    EXPECT_EQ(config.read(0x3d, 1), 0u);       // no INTx
    EXPECT_TRUE(config.read(0x06, 2) & 0x10);  // capability list
    write(config, 0x00, 0xffffffff, 4);
    EXPECT_EQ(config.read(0x00, 4), 0x1ce01234u);
}

TEST(ConfigSpace, Bar0IsSizedAndPlaced) {
    ConfigSpace config(kCard, 512);
    write(config, 0x10, 0xffffffff, 4);
    EXPECT_EQ(config.read(0x10, 4), 0xffe00000u);  // 2 MiB, 32 bit, not prefetchable
    write(config, 0x10, 0xe0000000, 4);
    EXPECT_EQ(config.bar0(), 0xe0000000u);
    for (unsigned bar = 0x14; bar < 0x28; bar += 4) {
        write(config, bar, 0xffffffff, 4);
        EXPECT_EQ(config.read(bar, 4), 0u);
    }
}

TEST(ConfigSpace, Capabilities) {
    ConfigSpace config(kCard, 512);
    unsigned express = capability(config, 0x10), msi = capability(config, 0x05);
    ASSERT_TRUE(express && msi && capability(config, 0x01));
    EXPECT_EQ(capability(config, 0x11), 0u);                    // no MSI-X
    EXPECT_EQ(config.read(express + 2, 2), 0x0002u);            // version 2, endpoint
    EXPECT_EQ(config.read(express + 4, 4) & 7, 2u);             // MPS 512
    EXPECT_TRUE(config.read(express + 4, 4) & 1 << 5);          // extended tags
    EXPECT_TRUE(config.read(express + 4, 4) & 1 << 28);         // function level reset
    EXPECT_EQ(config.read(express + 0x0c, 4) & 0x3ff, 0x042u);  // Gen2 x4
    EXPECT_EQ(config.read(express + 0x12, 2) & 0x3ff, 0x042u);
    EXPECT_EQ(config.read(msi + 2, 2), 0x0080u);    // 64 bit, one vector, no mask bits
    EXPECT_EQ(config.read(0x100, 4), 0x00010001u);  // AER, the last extended capability
}

TEST(ConfigSpace, CommandAndDeviceControl) {
    ConfigSpace config(kCard, 512);
    EXPECT_FALSE(config.memory_enabled() || config.bus_master());
    write(config, 0x04, 0x0006, 2);
    EXPECT_TRUE(config.memory_enabled() && config.bus_master());
    EXPECT_EQ(config.mps(), 128u);
    EXPECT_EQ(config.mrrs(), 512u);
    EXPECT_FALSE(config.extended_tag());
    EXPECT_TRUE(config.relaxed_ordering() && config.no_snoop());
    EXPECT_FALSE(config.rcb_128());
    unsigned control = capability(config, 0x10) + 8;
    write(config, control + 8, 1 << 3, 2);
    EXPECT_TRUE(config.rcb_128());
    write(config, control, 5 << 12 | 1 << 8 | 1 << 5, 2);
    EXPECT_EQ(config.mps(), 256u);
    EXPECT_EQ(config.mrrs(), 4096u);
    EXPECT_TRUE(config.extended_tag());
    EXPECT_FALSE(config.relaxed_ordering() || config.no_snoop());
    write(config, control, 5 << 5, 2);
    EXPECT_EQ(config.mps(), 512u);  // never more than announced
}

TEST(ConfigSpace, NothingOutsideOfD0) {
    ConfigSpace config(kCard, 512);
    const unsigned state = capability(config, 0x01) + 4;
    write(config, 0x04, 6, 2);
    write(config, 0x10, 0xe0000000, 4);
    write(config, state, 3, 2);
    EXPECT_FALSE(config.memory_enabled() || config.bus_master());
    EXPECT_EQ(config.read(0x04, 2), 6u);
    write(config, state, 0, 2);
    EXPECT_TRUE(config.memory_enabled() && config.bus_master());
    EXPECT_EQ(config.bar0(), 0xe0000000u);
    // A function without D1 and D2 ignores a write of them.
    for (unsigned d : {1u, 2u}) {
        write(config, state, d, 2);
        EXPECT_EQ(config.read(state, 2) & 3, 0u);
        EXPECT_TRUE(config.memory_enabled());
    }
}

TEST(ConfigSpace, ExtendedTagsAsOffered) {
    ConfigSpace config(kCard, 512, false);
    unsigned express = capability(config, 0x10);
    EXPECT_FALSE(config.read(express + 4, 4) & 1 << 5);
    write(config, express + 8, 5 << 12 | 1 << 8 | 1 << 5, 2);
    EXPECT_EQ(config.read(express + 8, 2), uint32_t(5 << 12 | 1 << 5));  // hardwired to 0
    EXPECT_FALSE(config.extended_tag());
    config.function_reset();
    write(config, express + 8, 1 << 8, 2);
    EXPECT_FALSE(config.extended_tag());
}

TEST(ConfigSpace, Msi) {
    ConfigSpace config(kCard, 512);
    unsigned msi = capability(config, 0x05);
    write(config, msi + 4, 0xfee00004, 4);
    write(config, msi + 8, 0x1, 4);
    write(config, msi + 12, 0x4021, 2);
    EXPECT_FALSE(config.msi_enabled());
    write(config, msi + 2, 0x0001, 2);
    EXPECT_TRUE(config.msi_enabled());
    EXPECT_EQ(config.msi_address(), 0x1fee00004u);
    EXPECT_EQ(config.msi_data(), 0x4021u);
}

TEST(ConfigSpace, Resets) {
    ConfigSpace config(kCard, 512);
    unsigned control = capability(config, 0x10) + 8;
    write(config, 0x04, 0x0006, 2);
    write(config, 0x10, 0xe0000000, 4);
    write(config, control, 1 << 5, 2);
    EXPECT_FALSE(config.take_function_reset());
    write(config, control, 1 << 15 | 1 << 5, 2);
    EXPECT_TRUE(config.take_function_reset());
    EXPECT_FALSE(config.take_function_reset());
    EXPECT_FALSE(config.read(control, 2) & 1 << 15);
    // A function level reset keeps what belongs to the link: MPS, Link Control, Target Link Speed.
    write(config, control, 1 << 5 | 0xf, 2);
    write(config, control + 8, 0xc8, 2);
    write(config, control + 0x28, 1, 2);
    config.function_reset();
    EXPECT_FALSE(config.bus_master());
    EXPECT_EQ(config.bar0(), 0u);
    EXPECT_EQ(config.read(control, 2), 0x2830u);
    EXPECT_EQ(config.read(control + 8, 2), 0xc8u);
    EXPECT_EQ(config.read(control + 0x28, 2), 1u);
    config.reset();
    EXPECT_EQ(config.mps(), 128u);
    EXPECT_EQ(config.read(control + 8, 2), 0u);
    EXPECT_EQ(config.read(control + 0x28, 2), 2u);
}

// PCIe 4.0 6.2.5, figure 6-2.
TEST(ConfigSpace, AdvisoryErrors) {
    ConfigSpace config(kCard, 512);
    const unsigned status = capability(config, 0x10) + 10;
    config.report(ConfigSpace::Error::CompletionTimeout);
    EXPECT_EQ(config.read(status, 2), 1u);
    EXPECT_EQ(config.read(0x104, 4), 0u);  // masked
    EXPECT_EQ(config.read(0x110, 4), 1u << 13);
    config.report(ConfigSpace::Error::UnsupportedRequest);
    EXPECT_EQ(config.read(status, 2), 9u);
    EXPECT_EQ(config.read(0x104, 4), 0u);
    write(config, 0x114, 0, 4);
    config.report(ConfigSpace::Error::UnsupportedRequest);
    EXPECT_EQ(config.read(status, 2), 9u);
    EXPECT_EQ(config.read(0x104, 4), 1u << 20);
}

TEST(ConfigSpace, FatalErrorsAndPostedRequestsAreNotAdvisory) {
    ConfigSpace config(kCard, 512);
    const unsigned status = capability(config, 0x10) + 10;
    config.report(ConfigSpace::Error::UnsupportedRequest, ConfigSpace::Cause::Posted);
    EXPECT_EQ(config.read(status, 2), 0xau);  // non-fatal, unsupported request
    EXPECT_EQ(config.read(0x104, 4), 1u << 20);
    EXPECT_EQ(config.read(0x110, 4), 0u);
    write(config, 0x10c, 1u << 14 | 1u << 20, 4);
    write(config, status, 0xf, 2);
    config.report(ConfigSpace::Error::CompletionTimeout);
    EXPECT_EQ(config.read(status, 2), 4u);  // fatal
    EXPECT_EQ(config.read(0x104, 4), 1u << 14 | 1u << 20);
    write(config, status, 0xf, 2);
    config.report(ConfigSpace::Error::UnsupportedRequest, ConfigSpace::Cause::Posted);
    EXPECT_EQ(config.read(status, 2), 0xcu);
    EXPECT_EQ(config.read(0x110, 4), 0u);
}

TEST(ConfigSpace, ErrorsAreSticky) {
    ConfigSpace config(kCard, 512);
    const unsigned status = capability(config, 0x10) + 10;
    write(config, 0x114, 0, 4);
    config.report(ConfigSpace::Error::CompletionTimeout);
    config.report(ConfigSpace::Error::UnsupportedRequest);
    config.function_reset();
    EXPECT_EQ(config.read(status, 2), 0u);
    EXPECT_EQ(config.read(0x104, 4), 1u << 14 | 1u << 20);
    config.hot_reset();
    EXPECT_EQ(config.read(0x104, 4), 1u << 14 | 1u << 20);
    EXPECT_EQ(config.read(0x114, 4), 0u);
    EXPECT_EQ(config.read(0x118, 4), 14u);
    write(config, 0x104, 1u << 14, 4);
    EXPECT_EQ(config.read(0x104, 4), 1u << 20);
    config.reset();
    EXPECT_EQ(config.read(0x104, 4), 0u);
    EXPECT_EQ(config.read(0x114, 4), 1u << 13);
}

// First Error Pointer and Header Log (PCIe 4.0 6.2.4.2).
TEST(ConfigSpace, TheFirstErrorIsLogged) {
    ConfigSpace config(kCard, 512);
    const ConfigSpace::Header wide = {0x60000001, 2, 3, 4}, narrow = {0x40000001, 6, 7, 8};
    const auto logged = [&config](unsigned pointer, const ConfigSpace::Header &header) {
        EXPECT_EQ(config.read(0x118, 4), pointer);
        for (unsigned i = 0; i < 4; i++)
            EXPECT_EQ(config.read(0x11c + 4 * i, 4), header[i]);
    };
    config.report(ConfigSpace::Error::UnsupportedRequest, ConfigSpace::Cause::NonPosted, wide);
    logged(0, {});  // Advisory errors are masked.
    write(config, 0x108, 1u << 12, 4);
    config.report(ConfigSpace::Error::Poisoned, ConfigSpace::Cause::Posted, wide);
    logged(0, {});
    config.report(ConfigSpace::Error::UnsupportedRequest, ConfigSpace::Cause::Posted, wide);
    config.report(ConfigSpace::Error::MalformedTlp, ConfigSpace::Cause::Posted, narrow);
    logged(20, wide);
    write(config, 0x104, 1u << 12 | 1u << 18, 4);
    logged(20, wide);
    write(config, 0x104, 1u << 20, 4);
    logged(0, {});
    config.report(ConfigSpace::Error::MalformedTlp, ConfigSpace::Cause::Posted, narrow);
    logged(18, {0x40000001, 6, 7, 0});
    write(config, 0x104, 1u << 18, 4);
    config.report(ConfigSpace::Error::ReceiverOverflow, ConfigSpace::Cause::Posted, narrow);
    logged(17, {});
}

TEST(ConfigSpace, StatusOfPoisonedTlps) {
    ConfigSpace config(kCard, 512);
    const auto status = [&config](ConfigSpace::Error error, ConfigSpace::Cause cause) {
        config.report(error, cause);
        const uint32_t found = config.read(0x06, 2);
        write(config, 0x06, 0xffff, 2);
        return found;
    };
    EXPECT_EQ(status(ConfigSpace::Error::Poisoned, ConfigSpace::Cause::Completion), 0x8010u);
    write(config, 0x04, 0x0040, 2);
    EXPECT_EQ(status(ConfigSpace::Error::Poisoned, ConfigSpace::Cause::Completion), 0x8110u);
    EXPECT_EQ(status(ConfigSpace::Error::Poisoned, ConfigSpace::Cause::Posted), 0x8010u);
    EXPECT_EQ(status(ConfigSpace::Error::CompleterAbort, ConfigSpace::Cause::NonPosted), 0x0810u);
}

TEST(ConfigSpace, PowerStateAndPowerLimit) {
    ConfigSpace config(kCard, 512);
    const unsigned state = capability(config, 0x01) + 4, device = capability(config, 0x10) + 4;
    const uint32_t capabilities = config.read(device, 4);
    write(config, state, 3, 2);
    EXPECT_EQ(config.read(state, 2), 0x000bu);
    for (unsigned unsupported : {1u, 2u}) {
        write(config, state, unsupported, 2);
        EXPECT_EQ(config.read(state, 2), 0x000bu);
    }
    write(config, state, 0, 2);
    EXPECT_EQ(config.read(state, 2), 0x0008u);
    config.take_power_limit(0x1fa);
    EXPECT_EQ(config.read(device, 4), capabilities | 0x1fau << 18);
    config.function_reset();
    EXPECT_EQ(config.read(device, 4), capabilities | 0x1fau << 18);
    config.reset();
    EXPECT_EQ(config.read(device, 4), capabilities);
}

TEST(ConfigSpace, MsiVectors) {
    CardInfo card = kCard;
    card.msi_vectors = 16;
    ConfigSpace config(card, 512);
    unsigned msi = capability(config, 0x05);
    EXPECT_EQ(config.read(msi + 2, 2), 0x0088u);
    EXPECT_EQ(config.msi_vectors(), 1u);
    write(config, msi + 2, 0x0031, 2);
    EXPECT_EQ(config.msi_vectors(), 8u);
}

TEST(ConfigSpace, Msix) {
    CardInfo card = kCard;
    card.msix_vectors = 6;
    card.msix_table = 0x40000;
    card.msix_pending = 0x50000;
    ConfigSpace config(card, 512);
    unsigned msix = capability(config, 0x11);
    ASSERT_TRUE(msix);
    EXPECT_EQ(config.read(msix + 2, 2), 5u);
    EXPECT_EQ(config.read(msix + 4, 4), 0x40000u);
    EXPECT_EQ(config.read(msix + 8, 4), 0x50000u);
    EXPECT_FALSE(config.msix_enabled());
    write(config, msix + 2, 0xffff, 2);
    EXPECT_EQ(config.read(msix + 2, 2), 0xc005u);
    EXPECT_TRUE(config.msix_enabled() && config.msix_function_masked());
    write(config, msix + 2, 0x8000, 2);
    EXPECT_TRUE(config.msix_enabled() && !config.msix_function_masked());
    config.function_reset();
    EXPECT_FALSE(config.msix_enabled());
    EXPECT_FALSE(capability(ConfigSpace(card, 512, true, false), 0x11));
    EXPECT_FALSE(capability(ConfigSpace(kCard, 512), 0x11));
}
