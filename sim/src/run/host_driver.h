// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "host/arena.h"
#include "model/model.h"

#include <functional>
#include <stdexcept>
#include <string>

namespace litepcie {

// The card or the run is not as it must be; exit status 1.
class HostError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// What the identity registers say.
struct Identity {
    uint32_t version, capabilities;
    unsigned channels, data_width, ring_log2, tags;
    uint64_t memory_size;
    uint32_t window_offset, window_size, clock_hz;
    unsigned gen, lanes;
    std::string target;
};

// What the host's firmware writes to configuration space.
struct HostSetup {
    unsigned mps = 256, mrrs = 512;  // bytes
    bool extended_tag = true;        // if the card offers it
    bool bus_master = true;
    bool msi = true;
};

// A driver's view of the card: registers and interrupts, in simulated time.
class HostDriver {
  public:
    static constexpr uint32_t kBar0 = 0xe0000000;

    HostDriver(Model &model, Arena &memory) : model_(model), memory_(memory) {}

    // Enumerates the card. Throws HostError if MPS or MRRS is more than it announces or no power of two.
    void set_up(const HostSetup &setup);
    // Throws HostError for a card that is none of ours.
    Identity identify();

    // Registers of BAR0, byte offsets. A read that is not answered throws HostError.
    uint32_t read(uint32_t offset);
    void write(uint32_t offset, uint32_t value);
    // Runs until the card has taken every write.
    void flush();
    void run(uint64_t cycles);
    // Runs until `done`; false if nothing moved on the link for `patience` cycles, or after `limit` cycles.
    bool run_until(const std::function<bool()> &done, uint64_t patience = kPatience, uint64_t limit = UINT64_MAX);
    uint64_t interrupts() const { return model_.figures().interrupts; }

    Model &model() { return model_; }
    Arena &memory() { return memory_; }

    static constexpr uint64_t kPatience = 4000000;  // cycles

  private:
    Model &model_;
    Arena &memory_;
};

}  // namespace litepcie
