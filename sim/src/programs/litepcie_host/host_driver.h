// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "machine/model.h"
#include "root/host_memory.h"

#include <functional>
#include <stdexcept>
#include <string>

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

}  // namespace litepcie
