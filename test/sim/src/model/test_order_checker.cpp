// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "model/order_checker_test.h"

using namespace litepcie;

TEST_F(OrderCheckerTest, StatusBlockFollowsWhatItsWriterHasSent) {
    enable(kWriter);
    describe(kRing, 600, kData + 3);
    describe(kRing + 16, 100, kData + 0x1000);
    ring(kWriter, 2);
    write(kData + 3, 253);
    breaks("reports 600 bytes, of which only 253", [&] { status(1, 600); });
    breaks("reports 1 slots of the ring, of which only 0", [&] { status(1, 253); });
    status(0, 253);
    write(kData + 256, 347);
    status(1, 600);
    breaks("reports 700 bytes", [&] { status(2, 700); });
    write(kData + 0x1000, 100);
    status(2, 700);
    breaks("reports 3 slots", [&] { status(3, 700); });
}

TEST_F(OrderCheckerTest, StatusBlockFollowsTheCompletionsOfItsReader) {
    enable(kReader);
    describe(kRing, 512, kData);
    describe(kRing + 16, 64, kData + 0x2000);
    ring(kReader, 2);
    read(1, kData, 512);
    read(2, kData + 0x2000, 64);
    breaks("reports 512 bytes, of which only 0", [&] { status(1, 512); });
    complete(2, kData + 0x2000, 64, 64);  // overtakes
    breaks("reports 512 bytes, of which only 0", [&] { status(1, 512); });
    complete(1, kData, 256, 512);
    breaks("reports 576 bytes, of which only 256", [&] { status(2, 576); });
    complete(1, kData + 256, 256, 256);
    status(2, 576);
}

TEST_F(OrderCheckerTest, TheLastByteCounts) {
    enable(kReader);
    describe(kRing, 127, kData + 2);
    ring(kReader, 1);
    read(7, kData + 2, 127);
    complete(7, kData + 2, 126, 127);
    breaks("reports 127 bytes, of which only 126", [&] { status(1, 127); });
    complete(7, kData + 128, 1, 1);
    status(1, 127);
}

TEST_F(OrderCheckerTest, TablesAndTheEndOfTheRing) {
    enable(kWriter, 1);
    for (unsigned round = 0; round < 5; round++) {
        describe(kRing + 16 * (round & 1), 3 | kLink, kTable);
        describe(kTable, 8, kData);
        describe(kTable + 16, 8, kData + 0x100);
        describe(kTable + 32, 1 | kLink, kTable + 0x100);
        describe(kTable + 0x100, 4, kData + 0x200);
        ring(kWriter, round + 1);
        write(kData, 8);
        write(kData + 0x100, 8);
        breaks("slots of the ring", [&] { status(round + 1, 20 * round + 16); });
        write(kData + 0x200, 4);
        status(round + 1, 20 * round + 20);
    }
}

TEST_F(OrderCheckerTest, NothingIsTakenFromDescriptorsThatTheEngineRefuses) {
    for (uint32_t bad : {0u, 4u | 1u << 26, 0u | kLink, 4u | kLink}) {
        checker.reset();
        enable(kWriter);
        describe(kRing, bad, bad == (4 | kLink) ? 0x5000 : kData);  // a table that is not mapped
        ring(kWriter, 1);
        write(kData, 4);
        breaks("of which only 0", [&] { status(0, 4); });
    }
    // A LINK to itself ends.
    checker.reset();
    enable(kWriter);
    describe(kRing, 1 | kLink, kTable);
    describe(kTable, 1 | kLink, kTable);
    ring(kWriter, 1);
    write(kData, 4);
    breaks("of which only 0", [&] { status(0, 4); });
}

TEST_F(OrderCheckerTest, AnEngineIsFollowedAgainAfterItsReset) {
    enable(kWriter);
    describe(kRing, 64, kData);
    ring(kWriter, 1);
    reset(kWriter);
    write(kData, 64);  // before the card gets the RESET
    status(1, 64);
    enable(kWriter);
    breaks("of which only 0", [&] { status(1, 64); });
    ring(kWriter, 1);
    write(kData, 64);
    status(1, 64);
    checker.host_writes(LITEPCIE_CONTROL, LITEPCIE_CONTROL_RESET);
    reset(kWriter);  // for the second time
    status(1, 64);
    enable(kWriter);
    breaks("of which only 0", [&] { status(1, 64); });
}

TEST_F(OrderCheckerTest, ReportsAndCompletionsOfAnEngineThatIsBeingReset) {
    enable(kStream);
    describe(kRing, 256, kData);
    ring(kStream, 1);
    reset(kStream);
    write(kData, 100);
    report(0, 100);
    status(1, 100);
    checker.reset();
    enable(kReader);
    ring(kReader, 1);
    read(1, kData, 256);
    reset(kReader);
    complete(1, kData, 256, 256);
    status(1, 256);
}

// The host uses the memory again: the bytes are the data of another engine.
TEST_F(OrderCheckerTest, WhatWasTheStatusBlockOfAnEngineIsDataAfterItsReset) {
    enable(kStream);
    describe(kRing, 256, kData);
    ring(kStream, 1);
    reset(kStream);
    enable(kWriter);
    reset(kWriter);
    checker.host_writes(kWriter + LITEPCIE_ENGINE_STATUS_ADDRESS_LO, kTable);
    checker.host_writes(kWriter + LITEPCIE_ENGINE_CONTROL, LITEPCIE_ENGINE_CONTROL_ENABLE);
    describe(kRing, LITEPCIE_REPORT_OFFSET + 8, kStatus);
    ring(kWriter, 1);
    status(99, 1 << 20);
    write(kStatus + 16, LITEPCIE_REPORT_OFFSET - 16);
    report(0, 12345);
    status_at(kTable, 0, LITEPCIE_REPORT_OFFSET + 4);
    breaks("of which only 68", [&] { status_at(kTable, 1, LITEPCIE_REPORT_OFFSET + 8); });
    report(1, 7);
    status_at(kTable, 1, LITEPCIE_REPORT_OFFSET + 8);
}

TEST_F(OrderCheckerTest, DoorbellsThatTheEngineRefusesDescribeNothing) {
    enable(kWriter, 1);
    describe(kRing, 64, kData);
    ring(kWriter, 3);           // more than a ring
    ring(kWriter, 0xffffffff);  // backwards
    write(kData, 64);
    breaks("of which only 0", [&] { status(1, 64); });
    // While the engine pauses, the value at its next enable counts.
    checker.host_writes(kWriter + LITEPCIE_ENGINE_CONTROL, 0);
    ring(kWriter, 2);
    ring(kWriter, 1);
    write(kData, 64);
    breaks("of which only 0", [&] { status(1, 64); });
    checker.host_writes(kWriter + LITEPCIE_ENGINE_CONTROL, LITEPCIE_ENGINE_CONTROL_ENABLE);
    write(kData, 64);
    status(1, 64);
    breaks("slots", [&] { status(2, 64); });
}

TEST_F(OrderCheckerTest, ReportsFollowTheirBuffers) {
    enable(kStream);
    describe(kRing, 256, kData);
    describe(kRing + 16, 2 | kLink, kTable);
    describe(kTable, 64, kData + 0x400);
    describe(kTable + 16, 64, kData + 0x800);
    describe(kRing + 32, 64, kData + 0xc00);
    ring(kStream, 3);
    write(kData, 128);
    breaks("report of 129 bytes in slot 0", [&] { report(0, 129); });
    breaks("report of 128 bytes in slot 1", [&] { report(1, 128); });
    breaks("1 slots of the ring, of which only 0", [&] { status(1, 128); });
    report(0, 128);  // the packet ends before the buffer does
    status(1, 128);
    write(kData + 0x400, 30);
    report(1, 30);
    breaks("report of 64 bytes in slot 2", [&] { report(2, 64); });
    write(kData + 0xc00, 64);
    breaks("3 slots of the ring, of which only 2", [&] { status(3, 222); });
    report(16, 99);  // data of another engine: the ring has 16 slots
    report(2, 64);
    status(3, 222);
}
