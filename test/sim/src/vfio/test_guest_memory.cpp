// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "vfio/guest_memory.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cerrno>

using namespace litepcie;

namespace {

Fd file_of(size_t bytes) {
    Fd file(memfd_create("memory", MFD_CLOEXEC));
    EXPECT_EQ(ftruncate(file.get(), bytes), 0);
    return file;
}

}  // namespace

TEST(GuestMemory, MapsAccessesAndUnmaps) {
    GuestMemory memory;
    Fd file = file_of(0x4000);
    EXPECT_EQ(memory.map(0x10000, 0x2000, Fd(dup(file.get())), 0x1000, true, true), 0);
    const uint8_t data[] = {1, 2, 3, 4};
    EXPECT_TRUE(memory.write(0x10ffe, data, 4));
    uint8_t in_file[4];
    EXPECT_EQ(pread(file.get(), in_file, 4, 0x1ffe), 4);
    EXPECT_EQ(in_file[3], 4);
    uint8_t back[4];
    EXPECT_TRUE(memory.read(0x10ffe, back, 4));
    EXPECT_EQ(back[0], 1);
    EXPECT_FALSE(memory.read(0x11ffe, back, 4));  // past the end
    EXPECT_FALSE(memory.write(0xffff, data, 1));
    EXPECT_EQ(memory.unmap(0x10000, 0x2000), 0);
    EXPECT_FALSE(memory.read(0x10ffe, back, 4));
    EXPECT_EQ(memory.unmap(0x10000, 0x2000), 0);  // an empty range is not an error
}

TEST(GuestMemory, AccessAcrossMappings) {
    GuestMemory memory;
    EXPECT_EQ(memory.map(0x1000, 0x1000, file_of(0x1000), 0, true, true), 0);
    EXPECT_EQ(memory.map(0x2000, 0x1000, file_of(0x1000), 0, true, true), 0);
    uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {};
    EXPECT_TRUE(memory.write(0x1ffc, data, 8));
    EXPECT_TRUE(memory.read(0x1ffc, back, 8));
    EXPECT_EQ(back[7], 8);
    // An access that is not mapped completely transfers nothing.
    EXPECT_FALSE(memory.write(0x2ffc, data, 8));
    EXPECT_TRUE(memory.read(0x2ffc, back, 4));
    EXPECT_EQ(back[0], 0);
}

TEST(GuestMemory, PermissionsAndRangesWithoutFile) {
    GuestMemory memory;
    uint8_t byte = 0;
    EXPECT_EQ(memory.map(0x1000, 0x1000, file_of(0x1000), 0, true, false), 0);
    EXPECT_TRUE(memory.read(0x1000, &byte, 1));
    EXPECT_FALSE(memory.write(0x1000, &byte, 1));
    EXPECT_EQ(memory.map(0xfffc0000, 0x40000, Fd(), 0, true, false), 0);
    EXPECT_FALSE(memory.read(0xfffc0000, &byte, 1));
    EXPECT_EQ(memory.mappings(), 2u);
}

TEST(GuestMemory, RefusesWhatDoesNotFit) {
    GuestMemory memory;
    EXPECT_EQ(memory.map(0x1000, 0, Fd(), 0, true, true), EINVAL);
    EXPECT_EQ(memory.map(UINT64_MAX, 2, Fd(), 0, true, true), EINVAL);
    EXPECT_EQ(memory.map(0x1000, 0x2000, file_of(0x1000), 0, true, true), EINVAL);  // the file is too short
    EXPECT_EQ(memory.map(0x1000, 0x1000, file_of(0x2000), 0x1001, true, true), EINVAL);
    EXPECT_EQ(memory.map(0x1000, 0x1000, Fd(), 0, true, true), 0);
    EXPECT_EQ(memory.map(0x1fff, 0x1000, Fd(), 0, true, true), EEXIST);
    EXPECT_EQ(memory.map(0x0, 0x1001, Fd(), 0, true, true), EEXIST);
    EXPECT_EQ(memory.map(0x1400, 0x10, Fd(), 0, true, true), EEXIST);
    EXPECT_EQ(memory.map(0x2000, 0x1000, Fd(), 0, true, true), 0);
    EXPECT_EQ(memory.unmap(0x1800, 0x800), EINVAL);  // half of a mapping
    EXPECT_EQ(memory.unmap(0x1000, 0x1800), EINVAL);
    EXPECT_EQ(memory.unmap(0x0, 0x10000), 0);  // several at once
    EXPECT_EQ(memory.mappings(), 0u);
    EXPECT_EQ(memory.map(UINT64_MAX - 0xfff, 0x1000, Fd(), 0, true, true), 0);
    EXPECT_EQ(memory.unmap(0, UINT64_MAX), EINVAL);  // all but the last byte
    EXPECT_EQ(memory.unmap(UINT64_MAX - 0xfff, 0x1000), 0);
}
