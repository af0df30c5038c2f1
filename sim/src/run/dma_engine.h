// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "run/host_driver.h"

#include <cstdint>
#include <string>
#include <vector>

namespace litepcie {

enum class Direction { Reader, Writer };

// One descriptor as it lies in host memory; with `link`, `length` counts the descriptors of the table at `host`.
struct Descriptor {
    uint64_t host = 0;
    uint32_t endpoint = 0;
    uint32_t length = 0;
    bool interrupt = false;
    bool link = false;
    bool last = false;  // of a stream's packet
};

// Reads the counters of one engine; differences of two give a transfer.
struct EngineCounters {
    uint64_t active = 0, bytes = 0;
    uint32_t descriptors = 0, tlps = 0;
    uint32_t wait_descriptor = 0, wait_tag = 0, wait_link = 0, wait_data = 0;

    EngineCounters operator-(const EngineCounters &before) const;
};

// What an engine reported in its status block.
struct EngineReport {
    uint32_t completed = 0;  // ring descriptors
    unsigned reason = 0;     // LITEPCIE_REASON_*
    uint32_t stopped_bytes = 0;
    uint64_t bytes = 0;
};

const char *reason_name(unsigned reason);

// A reader or writer of one channel, driven through its ring.
class DmaEngine {
  public:
    // Ring and status block lie at these host addresses of the arena.
    struct Layout {
        uint64_t ring;
        unsigned ring_log2;
        uint64_t status;
        uint32_t moderation = 0;
    };

    DmaEngine(HostDriver &driver, Direction direction, unsigned channel = 0);

    // Resets the engine, gives it ring and status block, and enables it. Throws HostError if the reset does not end.
    void configure(const Layout &layout);
    // Leaves the engine disabled and drained.
    void reset();

    // Puts a descriptor into the next slot of the ring; it is not seen before the doorbell.
    void add(const Descriptor &descriptor);
    // Writes a table of descriptors, 16 byte each, at a host address.
    void write_table(uint64_t address, const std::vector<Descriptor> &table);
    void doorbell();
    uint32_t posted() const { return posted_; }

    EngineReport report() const;
    // Every descriptor behind the doorbell is reported complete, or the engine reported a stop.
    bool settled() const;
    // Runs until settled(); throws HostError with the engine's registers if that does not come.
    EngineReport wait();
    EngineCounters counters();

    uint32_t read(uint32_t offset) { return driver_.read(base_ + offset); }
    void write(uint32_t offset, uint32_t value) { driver_.write(base_ + offset, value); }
    const char *name() const { return direction_ == Direction::Reader ? "reader" : "writer"; }
    const Layout &layout() const { return layout_; }

  private:
    uint64_t read64(uint32_t low) {
        uint64_t lo = read(low);
        return lo | uint64_t(read(low + 4)) << 32;
    }
    void put(uint64_t address, const Descriptor &descriptor);

    HostDriver &driver_;
    Direction direction_;
    uint32_t base_;
    Layout layout_{};
    uint8_t *status_ = nullptr;  // the status block, where this process has it
    uint32_t posted_ = 0;
};

}  // namespace litepcie
