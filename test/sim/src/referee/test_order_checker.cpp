// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// A writer, a reader and the writer of a stream, as the order checker sees them.
#include "referee/order_checker.h"

#include "litepcie_regs.h"
#include "referee/tlp_checker.h"
#include "root/host_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

using namespace litepcie;

namespace {
constexpr uint64_t kRing = 0x10000000, kStatus = 0x10001000, kTable = 0x10002000, kData = 0x100000000;
constexpr unsigned kReader = LITEPCIE_READER_BASE(0), kWriter = LITEPCIE_WRITER_BASE(0);
constexpr unsigned kStream = LITEPCIE_WRITER_BASE(1);  // the writer of a stream
constexpr uint32_t kInterrupt = LITEPCIE_DESCRIPTOR_INTERRUPT, kLink = LITEPCIE_DESCRIPTOR_LINK;

class OrderCheckerTest : public testing::Test {
  protected:
    OrderCheckerTest() : checker(memory, 1, 1) {
        memory.add_region(kRing, 0x10000);
        memory.add_region(kData, 0x100000);
    }
    void enable(unsigned engine, unsigned log2 = 4) {
        checker.host_writes(engine + LITEPCIE_ENGINE_RING_LO, kRing);
        checker.host_writes(engine + LITEPCIE_ENGINE_RING_LOG2, log2);
        checker.host_writes(engine + LITEPCIE_ENGINE_STATUS_ADDRESS_LO, kStatus);
        checker.host_writes(engine + LITEPCIE_ENGINE_CONTROL, LITEPCIE_ENGINE_CONTROL_ENABLE);
    }
    void reset(unsigned engine) {
        checker.host_writes(engine + LITEPCIE_ENGINE_CONTROL, LITEPCIE_ENGINE_CONTROL_RESET);
    }
    void describe(uint64_t at, uint32_t length_and_flags, uint64_t address) {
        const uint32_t words[4] = {length_and_flags, 0, uint32_t(address), uint32_t(address >> 32)};
        memcpy(memory.at(at, sizeof(words)), words, sizeof(words));
    }
    struct Descriptor {
        uint32_t length_and_flags;
        uint64_t address = kData;
    };
    // The first run of an engine.
    void start(unsigned engine, std::initializer_list<Descriptor> descriptors) {
        enable(engine);
        uint32_t doorbell = 0;
        for (const Descriptor &one : descriptors)
            describe(kRing + 16 * doorbell++, one.length_and_flags, one.address);
        ring(engine, doorbell);
    }
    void ring(unsigned engine, uint32_t doorbell) { checker.host_writes(engine + LITEPCIE_ENGINE_DOORBELL, doorbell); }

    void write(uint64_t address, unsigned bytes) {
        static const std::vector<uint8_t> data(4096);
        checker.from_card(Tlp::memory_write(0x100, address, data.data(), bytes));
    }
    void read(uint8_t tag, uint64_t address, unsigned bytes) {
        checker.from_card(Tlp::memory_read(0x100, tag, address, bytes));
    }
    void complete(uint8_t tag, uint64_t address, unsigned bytes, unsigned left) {
        static const std::vector<uint8_t> data(4096);
        checker.completion(
            Tlp::completion_data(0, 0x100, tag, left, address & 0x7f, data.data(), ((address & 3) + bytes + 3) / 4));
    }
    void status_at(uint64_t address, uint32_t slots, uint64_t bytes, unsigned reason = 0) {
        const uint32_t words[4] = {slots, reason, uint32_t(bytes), uint32_t(bytes >> 32)};
        checker.from_card(Tlp::memory_write(0x100, address, reinterpret_cast<const uint8_t *>(words), sizeof(words)));
    }
    void status(uint32_t slots, uint64_t bytes, unsigned reason = 0) { status_at(kStatus, slots, bytes, reason); }
    void report(unsigned slot, uint32_t bytes) {
        const uint32_t word = bytes | LITEPCIE_REPORT_LAST;
        checker.from_card(Tlp::memory_write(0x100, kStatus + LITEPCIE_REPORT_OFFSET + 4 * slot,
                                            reinterpret_cast<const uint8_t *>(&word), 4));
    }
    static void breaks(const char *rule, const std::function<void()> &action) {
        try {
            action();
            ADD_FAILURE() << "passed: " << rule;
        } catch (const Violation &violation) {
            EXPECT_NE(std::string(violation.what()).find(rule), std::string::npos) << violation.what();
        }
    }

    void no_msi(unsigned vector = 0) {
        breaks("before the status block", [&] { checker.msi(vector); });
    }
    Arena memory;
    OrderChecker checker;
};
}  // namespace

TEST_F(OrderCheckerTest, StatusBlockFollowsWhatItsWriterHasSent) {
    start(kWriter, {{600, kData + 3}, {100, kData + 0x1000}});
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
    start(kReader, {{512}, {64, kData + 0x2000}});
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
    start(kReader, {{127, kData + 2}});
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
    start(kWriter, {{64}});
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
    start(kStream, {{256}});
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
    start(kStream, {{256}});
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

// Interrupts ---------------------------------------------------------------------------------------

TEST_F(OrderCheckerTest, InterruptFollowsItsStatusBlock) {
    start(kWriter, {{4 | kInterrupt}, {4, kData + 4}, {4 | kInterrupt, kData + 8}});
    no_msi();
    write(kData, 4);
    no_msi();
    status(1, 4);
    checker.msi(0);
    no_msi();
    write(kData + 4, 4);
    status(2, 8);  // of a descriptor without INTERRUPT
    no_msi();
    write(kData + 8, 4);
    status(2, 8);  // made before that
    no_msi();
    status(3, 12);
    status(3, 12, LITEPCIE_REASON_DOORBELL);  // a stop has one, too
    checker.msi(0);
    checker.msi(0);
    no_msi();
}

// The card is still sending when the host writes RESET.
TEST_F(OrderCheckerTest, InterruptOfAnEngineThatIsBeingReset) {
    start(kWriter, {{4 | kInterrupt}});
    write(kData, 4);
    reset(kWriter);
    no_msi();
    status(1, 4);
    checker.msi(0);
    no_msi();
}

// Each host begins with a RESET, which must not excuse an interrupt.
TEST_F(OrderCheckerTest, AResetOfAnEngineThatOwesNothingChangesNothing) {
    reset(kWriter);
    checker.host_writes(LITEPCIE_CONTROL, LITEPCIE_CONTROL_RESET);
    for (unsigned round = 0; round < 3; round++) {
        start(kWriter, {{4 | kInterrupt}});
        write(kData, 4);
        no_msi();
        status(1, 4);
        checker.msi(0);
        reset(kWriter);
    }
}

TEST_F(OrderCheckerTest, AnInterruptOfBeforeAResetComesBeforeTheNextStatusBlock) {
    checker.host_writes(kWriter + LITEPCIE_ENGINE_INTERRUPT, 3);
    checker.host_writes(kReader + LITEPCIE_ENGINE_INTERRUPT, 5);
    checker.host_writes(kReader + LITEPCIE_ENGINE_CONTROL, LITEPCIE_ENGINE_CONTROL_ENABLE);
    for (bool comes : {true, false}) {
        start(kWriter, {{4 | kInterrupt}});
        write(kData, 4);
        status(1, 4);
        reset(kWriter);
        checker.host_writes(kWriter + LITEPCIE_ENGINE_INTERRUPT, 5);  // the message keeps its vector
        enable(kWriter);
        if (comes) {
            checker.msi(3);
            no_msi(5);
        }
        ring(kWriter, 1);
        write(kData, 4);
        status(1, 4);
        checker.msi(5);
        no_msi(5);
        reset(kWriter);
        checker.host_writes(kWriter + LITEPCIE_ENGINE_INTERRUPT, 3);
    }
}

// What it does is not known until its next run.
TEST_F(OrderCheckerTest, InterruptOfAnEngineWhoseRingChangedInAPause) {
    start(kWriter, {{4 | kInterrupt}});
    checker.host_writes(kWriter + LITEPCIE_ENGINE_CONTROL, 0);
    checker.host_writes(kWriter + LITEPCIE_ENGINE_RING_LO, kRing + 0x100);
    checker.msi(0);
    reset(kWriter);
    checker.msi(0);
    enable(kWriter);
    checker.msi(0);
    ring(kWriter, 1);
    write(kData, 4);
    status(1, 4);
    checker.msi(0);
    no_msi();
}

TEST_F(OrderCheckerTest, InterruptOfALinkIsThatOfItsTable) {
    enable(kWriter);
    describe(kRing, 2 | kLink | kInterrupt, kTable);
    describe(kTable, 8, kData);
    describe(kTable + 16, 8, kData + 8);
    ring(kWriter, 1);
    write(kData, 8);
    status(0, 8);
    no_msi();
    write(kData + 8, 8);
    status(1, 16);
    checker.msi(0);
    no_msi();
}

// Who has sent an MSI is not to be seen, but each has a status block of its own to announce.
TEST_F(OrderCheckerTest, EnginesThatShareAVector) {
    enable(kWriter);
    checker.host_writes(kReader + LITEPCIE_ENGINE_RING_LO, kTable);
    checker.host_writes(kReader + LITEPCIE_ENGINE_RING_LOG2, 4);
    checker.host_writes(kReader + LITEPCIE_ENGINE_STATUS_ADDRESS_LO, kStatus + 0x800);
    checker.host_writes(kReader + LITEPCIE_ENGINE_CONTROL, LITEPCIE_ENGINE_CONTROL_ENABLE);
    describe(kRing, 4 | kInterrupt, kData);
    describe(kTable, 4 | kInterrupt, kData + 4096);
    ring(kWriter, 1);
    ring(kReader, 1);
    write(kData, 4);
    read(1, kData + 4096, 4);
    complete(1, kData + 4096, 4, 4);
    status(1, 4);
    checker.msi(0);
    no_msi();  // the reader's
    status_at(kStatus + 0x800, 1, 4);
    checker.msi(0);
    no_msi();
}

// The first MSI is the writer's, and is taken for the reader's. Both engines combine all but two of theirs.
TEST_F(OrderCheckerTest, AnEngineAsksAgainAfterItsInterruptWasTakenForThatOfAnother) {
    checker.host_writes(kReader + LITEPCIE_ENGINE_RING_LO, kTable);
    checker.host_writes(kReader + LITEPCIE_ENGINE_RING_LOG2, 4);
    checker.host_writes(kReader + LITEPCIE_ENGINE_STATUS_ADDRESS_LO, kStatus + 0x800);
    checker.host_writes(kReader + LITEPCIE_ENGINE_CONTROL, LITEPCIE_ENGINE_CONTROL_ENABLE);
    start(kWriter, {{4 | kInterrupt, kData}, {4 | kInterrupt, kData}, {4 | kInterrupt, kData}});
    for (unsigned n = 0; n < 2; n++)
        describe(kTable + 16 * n, 4 | kInterrupt, kData + 4096);
    ring(kReader, 2);
    for (unsigned n = 1; n < 3; n++) {
        read(n, kData + 4096, 4);
        complete(n, kData + 4096, 4, 4);
        status_at(kStatus + 0x800, n, 4 * n);
        write(kData, 4);
        status(n, 4 * n);
    }
    checker.msi(0);
    write(kData, 4);
    status(3, 12);
    for (unsigned n = 0; n < 4; n++)
        checker.msi(0);
    no_msi();
}

TEST_F(OrderCheckerTest, InterruptsOfAnotherVectorAreOfSomebodyElse) {
    enable(kWriter);
    checker.host_writes(kWriter + LITEPCIE_ENGINE_INTERRUPT, 3);
    checker.msi(0);
    breaks("interrupt 3", [&] { checker.msi(3); });
    // MSI-X: the data of the vector's entry.
    checker.msix(0x41);
    checker.host_writes(LITEPCIE_MSIX_TABLE + 16 * 3 + 8, 0x41);
    breaks("interrupt 65", [&] { checker.msix(0x41); });
    // The logic of the user has the same vector, and sends one message each time that it is armed.
    checker.host_writes(LITEPCIE_INTERRUPT_VECTOR, 2 | LITEPCIE_INTERRUPT_VECTOR_EACH);
    checker.host_writes(LITEPCIE_INTERRUPT_ARM, 1 << 1);
    checker.msi(3);
    breaks("interrupt 3", [&] { checker.msi(3); });
    checker.host_writes(LITEPCIE_INTERRUPT_ARM, 1 << 0);
    breaks("interrupt 3", [&] { checker.msi(3); });
}

TEST_F(OrderCheckerTest, ACardWithoutEnginesIsNotChecked) {
    OrderChecker none(memory, 0, 0);
    none.host_writes(kWriter + LITEPCIE_ENGINE_CONTROL, LITEPCIE_ENGINE_CONTROL_ENABLE);
    none.msi(0);
}
