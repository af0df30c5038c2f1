// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "model/order_checker_test.h"

using namespace litepcie;

TEST_F(OrderCheckerTest, InterruptFollowsItsStatusBlock) {
    enable(kWriter);
    describe(kRing, 4 | kInterrupt, kData);
    describe(kRing + 16, 4, kData + 4);
    describe(kRing + 32, 4 | kInterrupt, kData + 8);
    ring(kWriter, 3);
    breaks("before the status block", [&] { checker.msi(0); });
    write(kData, 4);
    breaks("before the status block", [&] { checker.msi(0); });
    status(1, 4);
    checker.msi(0);
    breaks("before the status block", [&] { checker.msi(0); });
    write(kData + 4, 4);
    status(2, 8);  // of a descriptor without INTERRUPT
    breaks("before the status block", [&] { checker.msi(0); });
    write(kData + 8, 4);
    status(2, 8);  // made before that
    breaks("before the status block", [&] { checker.msi(0); });
    status(3, 12);
    status(3, 12, LITEPCIE_REASON_DOORBELL);  // a stop has one, too
    checker.msi(0);
    checker.msi(0);
    breaks("before the status block", [&] { checker.msi(0); });
}

// The card is still sending when the host writes RESET.
TEST_F(OrderCheckerTest, InterruptOfAnEngineThatIsBeingReset) {
    enable(kWriter);
    describe(kRing, 4 | kInterrupt, kData);
    ring(kWriter, 1);
    write(kData, 4);
    reset(kWriter);
    breaks("before the status block", [&] { checker.msi(0); });
    status(1, 4);
    checker.msi(0);
    breaks("before the status block", [&] { checker.msi(0); });
}

// Each host begins with a RESET, which must not excuse an interrupt.
TEST_F(OrderCheckerTest, AResetOfAnEngineThatOwesNothingChangesNothing) {
    reset(kWriter);
    checker.host_writes(LITEPCIE_CONTROL, LITEPCIE_CONTROL_RESET);
    for (unsigned round = 0; round < 3; round++) {
        enable(kWriter);
        describe(kRing, 4 | kInterrupt, kData);
        ring(kWriter, 1);
        write(kData, 4);
        breaks("before the status block", [&] { checker.msi(0); });
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
        enable(kWriter);
        describe(kRing, 4 | kInterrupt, kData);
        ring(kWriter, 1);
        write(kData, 4);
        status(1, 4);
        reset(kWriter);
        checker.host_writes(kWriter + LITEPCIE_ENGINE_INTERRUPT, 5);  // the message keeps its vector
        enable(kWriter);
        if (comes) {
            checker.msi(3);
            breaks("before the status block", [&] { checker.msi(5); });
        }
        ring(kWriter, 1);
        write(kData, 4);
        status(1, 4);
        checker.msi(5);
        breaks("before the status block", [&] { checker.msi(5); });
        reset(kWriter);
        checker.host_writes(kWriter + LITEPCIE_ENGINE_INTERRUPT, 3);
    }
}

// What it does is not known until its next run.
TEST_F(OrderCheckerTest, InterruptOfAnEngineWhoseRingChangedInAPause) {
    enable(kWriter);
    describe(kRing, 4 | kInterrupt, kData);
    ring(kWriter, 1);
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
    breaks("before the status block", [&] { checker.msi(0); });
}

TEST_F(OrderCheckerTest, InterruptOfALinkIsThatOfItsTable) {
    enable(kWriter);
    describe(kRing, 2 | kLink | kInterrupt, kTable);
    describe(kTable, 8, kData);
    describe(kTable + 16, 8, kData + 8);
    ring(kWriter, 1);
    write(kData, 8);
    status(0, 8);
    breaks("before the status block", [&] { checker.msi(0); });
    write(kData + 8, 8);
    status(1, 16);
    checker.msi(0);
    breaks("before the status block", [&] { checker.msi(0); });
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
    breaks("before the status block", [&] { checker.msi(0); });  // the reader's
    status_at(kStatus + 0x800, 1, 4);
    checker.msi(0);
    breaks("before the status block", [&] { checker.msi(0); });
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
