// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/expected.h"
#include "programs/litepcie_host/host_driver.h"

#include <gtest/gtest.h>

using namespace litepcie;

TEST(Expected, HasOneValueOrTwo) {
    Expected memory("memory", {1, 2, 3, 4});
    const uint8_t other[] = {8, 9};
    memory.may(1, other, 2);
    std::vector<uint8_t> is = {1, 8, 3, 4};
    EXPECT_NO_THROW(memory.verify(is.data()));
    // What was found is what must stay.
    is[1] = 2;
    EXPECT_THROW(memory.verify(is.data()), HostError);
    memory.must(1, other, 2);
    is = {1, 8, 9, 4};
    EXPECT_NO_THROW(memory.verify(is.data()));
    memory.any(0, 2);
    is = {77, 78, 9, 4};
    EXPECT_NO_THROW(memory.verify(is.data()));
    is[0] = 1;
    EXPECT_THROW(memory.verify(is.data()), HostError);
    EXPECT_THROW(memory.may(3, other, 2), std::out_of_range);
}

TEST(Expected, NamesTheFirstWrongByte) {
    Expected memory("memory", {1, 2, 3, 4});
    const uint8_t other = 0xaa, is[] = {1, 2, 0x55, 0x66};
    memory.may(2, &other, 1);
    try {
        memory.verify(is);
        FAIL();
    } catch (const HostError &error) {
        EXPECT_STREQ(error.what(), "wrong data: byte 0x2 of memory is 0x55, not 0x03 or 0xaa; 2 bytes of it are wrong");
    }
}
