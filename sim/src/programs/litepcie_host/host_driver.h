// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "machine/model.h"
#include "root/host_memory.h"

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace litepcie {

// A check of the card or of the run failed. The program ends with exit status 1.
class HostError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// The contents of the identity registers.
struct Identity {
    uint32_t version, capabilities;
    unsigned channels, data_width, ring_log2, tags;
    uint64_t memory_size;
    uint32_t window_offset, window_size, clock_hz;
    unsigned gen, lanes;
    std::string target;
};

// The values that the host's firmware writes to configuration space.
struct HostSetup {
    unsigned mps = 256, mrrs = 512;  // bytes
    bool extended_tag = true;        // enable it if the card offers it
    bool bus_master = true;
    bool msi = true;
};

// The part of a driver that both kinds of run need: set-up, registers and interrupts, in simulated time.
//
// This folder is the program litepcie_host: it drives a machine without QEMU, with transfers, scripts or PIO, and
// verifies the data.
class HostDriver {
  public:
    static constexpr uint32_t kBar0 = 0xe0000000;

    HostDriver(Machine &machine, Arena &memory) : machine_(machine), memory_(memory) {}

    // Writes configuration space. Throws HostError if MPS or MRRS is not a legal size, or MPS more than the card
    // announces.
    void set_up(const HostSetup &setup);
    // Resets the function by Device Control; configuration space has to be set up again.
    void function_reset();
    // Reads the identity registers. Throws HostError if the card is not a LitePCIe SoC of this major version.
    Identity identify();

    // Access registers of BAR0 by byte offset. read() throws HostError if the card does not answer.
    uint32_t read(uint32_t offset);
    void write(uint32_t offset, uint32_t value);
    // Writes consecutive registers with one store, as from a write-combining buffer.
    void write(uint32_t offset, const uint32_t *values, unsigned count);
    // Runs until the card has accepted all writes.
    void flush();
    void run(uint64_t cycles);
    // Runs until done() is true, and returns true. Returns false if the link carried no TLP for `quiet_limit` cycles,
    // or after `limit` cycles.
    bool run_until(const std::function<bool()> &done, uint64_t quiet_limit = kQuietLimit, uint64_t limit = UINT64_MAX);
    uint64_t interrupts() const { return machine_.interrupts(); }

    Machine &machine() { return machine_; }
    Arena &memory() { return memory_; }

    static constexpr uint64_t kQuietLimit = 4000000;  // cycles

  private:
    Machine &machine_;
    Arena &memory_;
};

// A driver whose machine is the model, for runs that look into it.
class ModelDriver : public HostDriver {
  public:
    ModelDriver(Model &model, Arena &memory) : HostDriver(model, memory), model_(model) {}
    Model &model() { return model_; }

  private:
    Model &model_;
};

enum class Direction { Reader, Writer };

// The fields of a descriptor in host memory. If `link` is set, it is a LINK to a table at `host`, and `length` is the
// number of descriptors in the table.
struct Descriptor {
    uint64_t host = 0;
    uint32_t endpoint = 0;
    uint32_t length = 0;
    bool interrupt = false;
    bool link = false;
    bool last = false;  // it ends a packet of a stream
};

// The counters of an engine. The difference of two readings describes the transfers between them.
struct EngineCounters {
    uint64_t active = 0, bytes = 0;
    uint32_t descriptors = 0, tlps = 0;
    uint32_t wait_descriptor = 0, wait_tag = 0, wait_link = 0, wait_data = 0;

    EngineCounters operator-(const EngineCounters &before) const;
};

// The contents of an engine's status block.
struct EngineReport {
    uint32_t completed = 0;  // descriptors of the ring
    unsigned reason = 0;     // LITEPCIE_REASON_*
    uint32_t stopped_bytes = 0;
    uint64_t bytes = 0;
};

const char *reason_name(unsigned reason);

// Drives the reader or the writer of a channel through its descriptor ring.
class DmaEngine {
  public:
    // Host addresses of the ring and of the status block.
    struct Layout {
        uint64_t ring;
        unsigned ring_log2;
        uint64_t status;
        uint32_t moderation = 0;
    };

    DmaEngine(HostDriver &driver, Direction direction, unsigned channel = 0);

    // Resets the engine, sets its ring and status block, and enables it. Throws HostError if the reset does not
    // complete.
    void configure(const Layout &layout);
    // Resets the engine, which leaves it disabled with nothing outstanding.
    void reset();

    // Writes a descriptor into the next slot of the ring. The engine sees it after the next doorbell.
    void add(const Descriptor &descriptor);
    // Writes a table of descriptors to a host address.
    void write_table(uint64_t address, const std::vector<Descriptor> &table);
    // Tells the engine about all descriptors added so far. With `use_direct`, an engine that has nothing to do gets the
    // first of them in the same write.
    void doorbell();
    void use_direct(bool on) { direct_ = on; }
    // How many descriptors were added since the engine was configured.
    uint32_t posted() const { return posted_; }

    EngineReport report() const;
    // Whether the status block reports all descriptors complete, or a stop.
    bool settled() const;
    // Runs until settled(). Throws HostError, which shows the engine's registers, if that does not happen.
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
    uint8_t *status_ = nullptr;  // the status block in this process's memory
    uint32_t posted_ = 0;
    uint32_t rung_ = 0;  // the last doorbell
    bool direct_ = false;
};

}  // namespace litepcie
