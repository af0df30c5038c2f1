// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"
#include "card/config_space.h"
#include "card/phy.h"
#include "link/link_direction.h"
#include "machine/host_side.h"
#include "machine/options.h"
#include "referee/tlp_checker.h"
#include "root/host_memory.h"
#include "root/root_complex.h"
#include "tlp/tlp.h"

namespace litepcie {

// The machine below the host's software: card, PHY, link, root complex and configuration space, all on the card's
// clock.
class Model final : public HostSide {
  public:
    static constexpr uint64_t kDownCycles = 1024;  // after which the card has seen that the link is down

    Model(Card &card, HostMemory &memory, const ModelOptions &options);

    Shape shape() const override;
    void step() override;
    // A TLP is queued or a request outstanding, or the card may still send something unprompted (IdleRule).
    bool busy() const override;
    const CardInfo &info() const { return card_.info(); }

    // Of stores, stores() TLPs have not been accepted by the card.
    void bar_store(unsigned bar, uint64_t offset, const uint8_t *data, size_t bytes) override;
    uint64_t stores() const override { return stores_; }
    bool stores_done() const override { return stores_ == 0; }
    uint64_t tlps() const override { return to_host().counts().tlps + to_card().counts().tlps; }
    uint64_t last_completion_cycle() const override { return figures_.last_completion_cycle; }
    bool bar_load(unsigned bar, uint64_t offset, uint8_t *data, size_t bytes) override;

    // Configuration space. A write takes effect at the next step. After a write that forbids something, the clock runs
    // until the requests of before have arrived; then the write is complete, and what it forbids breaks a rule. After a
    // write that starts a function level reset, it runs until the card has ended the reset; a card that takes too long
    // breaks a rule.
    const ConfigSpace &config() const { return config_; }
    void config_read(unsigned offset, uint8_t *data, size_t bytes) override { config_.read(offset, data, bytes); }
    void config_write(unsigned offset, const uint8_t *data, size_t bytes) override;
    bool msix_on() const override { return config_.msix_enabled() && !config_.msix_function_masked(); }

    // Resets the card. TLPs in flight in either direction are lost, and configuration space is as after power-on.
    void reset();
    // The link goes down now and is up again after `cycles`. All TLPs in flight are lost, and configuration space is as
    // after power-on but for what is sticky (PCIe 4.0 2.9.1, 6.6.1, 7.4). The card itself is not reset. A hot reset
    // looks the same to the card.
    void link_down(uint64_t cycles);
    // The link is down for 1024 cycles, and nothing is accessed for as long after.
    void reset_bus() override;

    std::string broken_rules() const override { return broken_.list(); }
    void write_figures(const std::string &path, const std::string &violation) const override;
    struct Figures {
        uint64_t last_write_cycle = 0;       // when the latest posted write of the card reached memory
        uint64_t last_completion_cycle = 0;  // when the card accepted the last beat of the latest completion with data
        uint64_t requests_without_bus_master = 0;  // those that arrived just after bus mastering was turned off
    };
    const Figures &figures() const { return figures_; }
    bool link_up() const { return in_.link_up; }
    unsigned card_requests() const { return checker_.card_requests(); }
    const LinkDirection &to_host() const { return phy_.to_host(); }
    const LinkDirection &to_card() const { return phy_.to_card(); }
    const CompleterCounts &completer_counts() const { return completer_.counts(); }
    uint64_t iommu_misses() const { return completer_.iommu().misses(); }
    const TrafficCounts &traffic() const { return traffic_; }
    const CompletionSpace &completion_peak() const { return phy_.completion_peak(); }
    const ModelOptions &options() const { return options_; }

  private:
    CardLimits card_limits() const;
    void apply_config();
    void restart_card();
    void cut_link();
    void function_reset();
    void flush_requests();
    void host_side();
    void closed_cycle();
    void report_errors();
    void from_card(const CardItem &item);
    void request(const Tlp &tlp);
    void expire_loads();
    void interrupt(uint8_t vector);
    static uint32_t message_data(const Tlp &tlp);
    void message(const Tlp &tlp);
    void deliver(unsigned vector, const char *kind);
    void card_accepted(const HostTlp &accepted);
    bool card_sent(const Tlp &tlp);
    template <typename Check> bool kept(const Check &check);
    bool streams_move() const;
    void trace_naks();
    unsigned interrupt_bytes() const;

    Card &card_;
    ConfigSpace config_;
    Phy phy_;
    BrokenRules broken_;
    uint64_t traced_naks_ = 0, reported_naks_ = 0;
    CardInputs in_;
    CardOutputs out_;
    unsigned reset_cycles_ = 0;
    uint64_t down_cycles_ = 0, down_since_ = 0;
    uint64_t stores_ = 0;  // TLPs of stores that the card has not accepted
    Figures figures_;
};

}  // namespace litepcie
