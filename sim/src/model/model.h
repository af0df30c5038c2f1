// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"
#include "card/phy.h"
#include "host/completer.h"
#include "host/config_space.h"
#include "host/faults.h"
#include "host/host_cpu.h"
#include "host/host_memory.h"
#include "link/egress.h"
#include "link/tlp_checker.h"
#include "link/trace.h"
#include "link/traffic_counts.h"
#include "model/idle_rule.h"
#include "model/model_options.h"

#include <functional>

namespace litepcie {

// The whole machine below the host's software: board, PHY, link, root complex, configuration space; one clock.
//
// Everything runs in the thread that calls it. Whatever steps the clock may throw Violation.
class Model {
  public:
    static constexpr uint64_t kLoadTimeoutUs = 10000;  // completion timeout of the host

    Model(Card &card, HostMemory &memory, const ModelOptions &options);

    // One clock cycle.
    void step();
    // Something is outstanding, queued or may still come from the card by itself (IdleRule).
    bool busy() const;
    uint64_t cycle() const { return cycle_; }
    const CardInfo &info() const { return card_.info(); }

    // Processor accesses to BAR0. A store is posted; store_done() is true when the card has taken all of them. A load
    // steps the clock until it is answered: false, and all ones, if by an error or not at all.
    void store(uint64_t offset, const uint8_t *data, size_t bytes);
    bool stores_done() const { return stores_ == 0; }
    bool load(uint64_t offset, uint8_t *data, size_t bytes);

    // Configuration space; a write takes effect at the next step.
    const ConfigSpace &config() const { return config_; }
    void config_write(unsigned offset, const uint8_t *data, size_t bytes);

    // A reset of the card: what is under way in either direction is lost; configuration space as after power-on.
    void reset();

    // Called when an MSI reaches the host, after all data sent before it is in memory.
    std::function<void(uint8_t vector)> on_interrupt;

    FaultInjector &faults() { return faults_; }
    struct Figures {
        uint64_t last_write_cycle = 0;       // a posted write of the card reached memory
        uint64_t last_completion_cycle = 0;  // the card took the last beat of a completion with data
        uint64_t interrupts = 0, masked_interrupts = 0;
        uint64_t dropped_requests = 0;  // while bus mastering was off, within the checker's grace
        uint64_t load_timeouts = 0;
        uint64_t unmapped = 0;
    };
    const Figures &figures() const { return figures_; }
    const LinkDirection &to_host() const { return phy_.to_host(); }
    const LinkDirection &to_card() const { return phy_.to_card(); }
    const CompleterCounts &completer_counts() const { return completer_.counts(); }
    const FaultInjector &faults() const { return faults_; }
    const TrafficCounts &traffic() const { return traffic_; }
    unsigned completion_buffer_peak() const { return phy_.completion_buffer_peak(); }
    const ModelOptions &options() const { return options_; }
    BusyClock &busy_clock() { return busy_clock_; }
    const BusyClock &busy_clock() const { return busy_clock_; }

  private:
    void apply_config();
    void restart_card();
    void host_side();
    void reset_cycle();
    void from_card(const CardItem &item);
    void request(const Tlp &tlp);
    void expire_loads();
    void interrupt(uint8_t vector);
    void card_took(const Tlp &tlp);
    bool streams_move() const;
    void trace_naks();
    void unmapped(const Tlp &tlp);
    unsigned interrupt_bytes() const;

    Card &card_;
    ModelOptions options_;
    FaultInjector faults_;
    ConfigSpace config_;
    Phy phy_;
    TlpChecker checker_;
    Completer completer_;
    HostCpu cpu_;
    Egress egress_;
    IdleRule idle_;
    Trace trace_;
    uint64_t traced_naks_ = 0;
    TrafficCounts traffic_;
    BusyClock busy_clock_;
    CardInputs in_;
    CardOutputs out_;
    uint64_t cycle_ = 0;
    unsigned reset_cycles_ = 0;
    uint64_t stores_ = 0;  // TLPs of stores the card has not taken
    Figures figures_;
};

}  // namespace litepcie
