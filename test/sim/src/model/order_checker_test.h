// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

// A writer, a reader and the writer of a stream, as the order checker sees them.
#include "model/order_checker.h"

#include "host/arena.h"
#include "link/tlp_checker.h"
#include "litepcie_regs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace litepcie {

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

    Arena memory;
    OrderChecker checker;
};

}  // namespace litepcie
