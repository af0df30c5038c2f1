// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"
#include "root/host_memory.h"
#include "root/root_complex.h"
#include "tlp/tlp.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <string>

namespace litepcie {

// Measures wall time and processor time of this thread while the simulated clock runs.
class BusyClock {
  public:
    void start() {
        begin_ = now();
        running_ = true;
    }
    void stop() {
        sum_ = elapsed();
        running_ = false;
    }
    double wall_seconds() const { return elapsed().wall; }
    double processor_seconds() const { return elapsed().processor; }

  private:
    struct Times {
        double wall = 0, processor = 0;
    };

    static double read(clockid_t clock) {
        timespec time;
        clock_gettime(clock, &time);
        return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
    }
    static Times now() { return {read(CLOCK_MONOTONIC), read(CLOCK_THREAD_CPUTIME_ID)}; }
    Times elapsed() const {
        if (!running_)
            return sum_;
        Times end = now();
        return {sum_.wall + end.wall - begin_.wall, sum_.processor + end.processor - begin_.processor};
    }

    Times begin_, sum_;
    bool running_ = false;
};

// The machine below the host's software, with a card: what a processor can do with the card, on a simulated clock.
//
// Each call does its work in the calling thread. Calls that step the clock may throw Violation.
class Machine {
  public:
    static constexpr uint64_t kLoadTimeoutUs = 10000;  // completion timeout of the host
    static constexpr size_t kConfigBytes = 4096;

    // What the host's software must know of the card before it asks the card.
    struct Shape {
        uint64_t clock_hz;                 // of the simulated clock
        std::array<uint64_t, kBars> bars;  // bytes; 0: there is none
        unsigned msi_vectors, msix_vectors;
        uint32_t msix_table;  // offset, and in bits 2:0 the BAR
    };

    virtual ~Machine() = default;
    virtual Shape shape() const = 0;

    // Simulates one clock cycle.
    virtual void step() = 0;
    // Whether the clock must not stop yet: something is on its way, or the card may still send something unprompted.
    virtual bool busy() const = 0;
    virtual uint64_t cycle() const = 0;

    // Accesses of a processor to a BAR that the card has. A store only queues posted writes, of which stores() TLPs are
    // still in the host. A load steps the clock until the read is answered. It returns false, and data of all ones, if
    // the answer is an error or does not come in time.
    virtual void bar_store(unsigned bar, uint64_t offset, const uint8_t *data, size_t bytes) = 0;
    virtual uint64_t stores() const = 0;
    virtual bool bar_load(unsigned bar, uint64_t offset, uint8_t *data, size_t bytes) = 0;
    // The same of BAR0.
    void store(uint64_t offset, const uint8_t *data, size_t bytes) { bar_store(0, offset, data, bytes); }
    bool load(uint64_t offset, uint8_t *data, size_t bytes) { return bar_load(0, offset, data, bytes); }

    // Configuration space. Both may step the clock.
    virtual void config_read(unsigned offset, uint8_t *data, size_t bytes) = 0;
    virtual void config_write(unsigned offset, const uint8_t *data, size_t bytes) = 0;
    // Whether the host lets the card send messages of MSI-X.
    virtual bool msix_on() const = 0;

    // The reset of the bus above the card: a hot reset of the link, which is up again at the end or soon after.
    virtual void reset_bus() = 0;

    // What a program that measures must know: whether the card has accepted all stores, the TLPs of both directions so
    // far, when the card had the latest completion with data, the interrupts, and the read completion boundary in
    // bytes.
    virtual bool stores_done() const = 0;
    virtual uint64_t tlps() const = 0;
    virtual uint64_t last_completion_cycle() const = 0;
    virtual uint64_t interrupts() const = 0;
    virtual unsigned rcb() const = 0;

    // Faults of the completions that the host sends.
    virtual FaultInjector &faults() = 0;
    // The rules that the card broke so far, where these are counted: one line for each, or an empty text.
    virtual std::string broken_rules() const { return {}; }
    // Writes the figures so far as JSON; `violation` is the broken rule, or empty. Throws std::runtime_error if the
    // file cannot be written.
    virtual void write_figures(const std::string &path, const std::string &violation) const = 0;

    // Called when an interrupt reaches the host, with its vector. All data that the card sent before is in memory by
    // then.
    std::function<void(uint8_t vector)> on_interrupt;

    BusyClock &busy_clock() { return busy_clock_; }
    const BusyClock &busy_clock() const { return busy_clock_; }

  private:
    BusyClock busy_clock_;
};

// Builds a machine whose card reads and writes `memory`.
using MakeMachine = std::function<std::unique_ptr<Machine>(HostMemory &memory)>;

}  // namespace litepcie
