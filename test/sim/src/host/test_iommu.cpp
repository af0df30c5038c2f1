// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "host/iommu.h"

#include <gtest/gtest.h>

using namespace litepcie;

TEST(Iommu, WithoutEntriesThereIsNone) {
    Iommu none({});
    EXPECT_EQ(none.translate(0x12345678, 7), 7u);
    EXPECT_EQ(none.misses(), 0u);
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

TEST(Iommu, AnotherDirectoryTakesLonger) {
    Iommu iommu({8, 100, 10, 5});
    iommu.translate(0, 0);                                 // another directory than none
    EXPECT_EQ(iommu.translate(0x1000, 0), 115u);           // 15 cycles after the first
    EXPECT_EQ(iommu.translate(0x200000, 0), 125u);         // 10 after the second
    EXPECT_EQ(iommu.translate(0x200000 + 4096, 0), 140u);  // 15 after the third
}
