// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The configuration space of the Model, and what resets the card, the function or the link.
#include "machine/model.h"

namespace litepcie {

namespace {

constexpr uint16_t kCardId = 0x0100;  // 01:00.0, as the card is below a root port on bus 0
constexpr unsigned kResetCycles = 16;
constexpr unsigned kQuietCycles = 16;    // within which a card sends a request that it has begun
constexpr uint64_t kWriteCycles = 1024;  // most cycles that a configuration write takes
constexpr uint64_t kHotResetCycles = 1024;
constexpr uint64_t kFunctionResetsPerSecond = 10;  // a function level reset lasts at most 100 ms (PCIe 4.0 6.6.2)

}  // namespace

CardLimits Model::card_limits() const {
    return {kCardId,
            config_.mps(),
            config_.mrrs(),
            config_.extended_tag(),
            config_.bus_master(),
            config_.msi_enabled(),
            config_.msix_enabled() && !config_.msix_function_masked(),
            config_.relaxed_ordering(),
            config_.no_snoop(),
            info().tags};
}

void Model::apply_config() {
    in_.id = kCardId;
    in_.max_payload_size = config_.mps();
    in_.max_request_size = config_.mrrs();
    in_.extended_tag = config_.extended_tag();
    in_.bus_master_enable = config_.bus_master();
    in_.msi_enable = config_.msi_enabled();
    in_.msix_enable = config_.msix_enabled();
    in_.msix_function_mask = config_.msix_function_masked();
    in_.relaxed_ordering_enable = config_.relaxed_ordering();
    in_.no_snoop_enable = config_.no_snoop();
    in_.rcb_128 = config_.rcb_128();
    if (!options_.credits.hold_write(config_.mps()))
        throw UsageError("--credits: " + std::to_string(options_.credits.data[size_t(TlpClass::Posted)]) +
                         " units of posted data are less than a write of MPS " + std::to_string(config_.mps()) +
                         " bytes, which could never be sent; give at least " +
                         std::to_string(config_.mps() / kCreditBytes) + ", or set a smaller MPS");
    if (config_.mps() > options_.most_mps)
        throw UsageError("--host " + options_.host + ": its root port takes at most " +
                         std::to_string(options_.most_mps) + " bytes in a TLP; set an MPS of at most that, not " +
                         std::to_string(config_.mps()));
    phy_.set_mps(config_.mps());
    completer_.set_mps(config_.mps());
    cpu_.set_mps(config_.mps());
}

void Model::config_write(unsigned offset, const uint8_t *data, size_t bytes) {
    config_.write(offset, data, bytes);
    if (config_.take_function_reset()) {
        function_reset();
        return;
    }
    apply_config();
    const CardLimits before = checker_.limits(), limits = card_limits();
    checker_.change_limits(limits);
    if (before.bus_master && limits.narrower(before))
        flush_requests();
    checker_.set_limits(limits);
}

// The completion of a configuration write pushes the posted writes that the card sent before it (PCIe 4.0 2.4.1). It
// comes when the card has no more of them, or at last after a time, and not in the middle of a TLP.
void Model::flush_requests() {
    const uint64_t end = cycle_ + kWriteCycles;
    for (unsigned quiet = 0; quiet < kQuietCycles && cycle_ < end; quiet = phy_.all_sent() ? quiet + 1 : 0)
        step();
    while (!phy_.transmit().idle() && cycle_ < end + kWriteCycles)
        step();
}

// Completions of requests of before still arrive: the link stays up.
void Model::function_reset() {
    const uint64_t deadline = cycle_ + info().clock_hz / kFunctionResetsPerSecond;
    // A configuration write does not pass the posted writes before it.
    while (!stores_done() && cycle_ < deadline)
        step();
    config_.function_reset();
    apply_config();
    checker_.change_limits(card_limits());
    order_.reset();
    idle_.reset();
    completer_.set_timeout_cycles(idle_.timeout_cycles());
    in_.function_reset = true;
    while (in_.function_reset) {
        if (cycle_ >= deadline)
            throw Violation("function level reset takes longer than 100 ms");
        step();
        in_.function_reset = !out_.function_reset_done;
    }
    checker_.set_limits(card_limits());
}

void Model::reset() {
    config_.reset();
    restart_card();
    apply_config();
    checker_.set_limits(card_limits());
}

void Model::link_down(uint64_t cycles) {
    config_.hot_reset();
    cut_link();
    apply_config();
    checker_.set_limits(card_limits());
    down_cycles_ = cycles;
    down_since_ = cycle_;
}

// It does not reset the FPGA.
void Model::reset_bus() {
    link_down(kHotResetCycles);
    for (uint64_t i = 0; i < 2 * kHotResetCycles; i++)
        step();
}

void Model::restart_card() {
    cut_link();
    in_.reset = true;
    reset_cycles_ = kResetCycles;
}

// Loses everything that is in flight.
void Model::cut_link() {
    phy_.reset();
    egress_.clear();
    completer_.clear();
    cpu_.fail_all();
    checker_.reset();
    order_.reset();
    idle_.reset();
    completer_.set_timeout_cycles(idle_.timeout_cycles());
    idle_.activity(cycle_);
    stores_ = 0;
    in_.link_up = false;
}

}  // namespace litepcie
