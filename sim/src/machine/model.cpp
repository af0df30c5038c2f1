// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "machine/model.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace litepcie {

Model::Model(Card &card, HostMemory &memory, const ModelOptions &options)
    : HostSide(memory, options, card.info().clock_hz, IdleRule::kLingerCycles, card.info().memory_channels,
               card.info().streams),
      card_(card), config_(card.info(), options.mps_supported, options.extended_tag, options.msix),
      phy_(card.info(), options.credits, card_credits(options.mps_supported),
           {{options.update_fc, cycles_of(options.flight_ns, card.info().clock_hz), options.acks},
            options.lcrc_every,
            cycles_of(options.credit_return_ns, card.info().clock_hz)}),
      broken_(options.count_violations) {
    if (!info().own)
        phy_.receive().bar_of = [this](const Tlp &tlp) { return config_.bar_of(tlp.address()); };
    phy_.receive().on_begin = [this](const HostTlp &tlp) { completes(tlp); };
    phy_.kept_until = [this](const Tlp &tlp) { return completer_.accepted(tlp, cycle_); };
    phy_.reads_waiting = [this] { return completer_.reads_waiting(); };
    phy_.receive().on_end = [this](const HostTlp &tlp) { card_accepted(tlp); };
    phy_.transmit().on_accept = [this](const Tlp &tlp) { return card_sent(tlp); };
    phy_.transmit().on_broken = [this](const Violation &broken) { broken_.add(cycle_, broken); };
    phy_.transmit().on_interrupt = [this](uint8_t vector) {
        kept([this] { checker_.interrupt_from_card(); });
        order_.msi(vector);
    };
    restart_card();
    apply_config();
    checker_.set_limits(card_limits());
}

Machine::Shape Model::shape() const {
    Shape shape{info().clock_hz, {}, info().msi_vectors, config_.msix_vectors(), info().msix_table};
    std::copy(info().bars.begin(), info().bars.end(), shape.bars.begin());
    return shape;
}

bool Model::busy() const {
    return !idle_.may_stop(cycle_) || completer_.outstanding() || cpu_.outstanding() || !egress_.empty() ||
           !phy_.quiet();
}

void Model::step() {
    phy_.advance(cycle_);
    if (reset_cycles_ || down_cycles_) {
        closed_cycle();
        return;
    }
    host_side();
    phy_.drive(cycle_, in_);
    if (trace_.on())
        trace_naks();
    card_.settle(in_, out_);
    phy_.clock(cycle_, in_, out_, interrupt_bytes());
    report_errors();
    if (streams_move())
        idle_.activity(cycle_);
    card_.edge();
    cycle_++;
}

void Model::trace_naks() {
    const uint64_t to_host = phy_.to_host().counts().naks, to_card = phy_.to_card().counts().naks;
    if (to_host + to_card == traced_naks_)
        return;
    traced_naks_ = to_host + to_card;
    trace_.event(cycle_, '-',
                 "NAK, " + std::to_string(to_host) + " to the host and " + std::to_string(to_card) +
                     " to the card so far");
}

// A cycle in which nothing passes the link. Without a link, a PHY may take beats of the card, which are lost, or not.
void Model::closed_cycle() {
    const bool late = info().own && down_cycles_ && cycle_ - down_since_ > kDownCycles;
    in_.tx_ready.fill(!reset_cycles_ && cycle_ & 8);
    for (RxInput &rx : in_.rx)
        rx.valid = false;
    in_.msi_ready = false;
    card_.settle(in_, out_);
    for (size_t i = 0; late && i < info().channels(); i++)
        if (out_.tx_valid[i] && out_.tx[i].first)
            throw Violation("TLP begins while the link is down");
    card_.edge();
    cycle_++;
    if (reset_cycles_)
        in_.reset = --reset_cycles_ != 0;
    if (down_cycles_)
        down_cycles_--;
    in_.link_up = !reset_cycles_ && !down_cycles_;
}

void Model::report_errors() {
    if (out_.completion_timeout)
        config_.report(ConfigSpace::Error::CompletionTimeout);
    if (out_.unexpected_completion)
        config_.report(ConfigSpace::Error::UnexpectedCompletion);
    if (out_.poisoned)
        config_.report(ConfigSpace::Error::Poisoned);
    if (out_.unsupported_request)
        config_.report(ConfigSpace::Error::UnsupportedRequest, ConfigSpace::Cause::NonPosted);
    if (out_.completer_abort)
        config_.report(ConfigSpace::Error::CompleterAbort, ConfigSpace::Cause::NonPosted);
    // The card sends a NAK for a TLP that arrived damaged.
    if (phy_.to_host().counts().naks != reported_naks_) {
        reported_naks_ = phy_.to_host().counts().naks;
        config_.report(ConfigSpace::LinkError::BadTlp);
    }
}

void Model::host_side() {
    CardItem item;
    while (phy_.receive(cycle_, item))
        from_card(item);
    serve();
    phy_.send(egress_, cycle_, [this](const Tlp &tlp) {
        observe('>', tlp);
        TrafficCounts::add(traffic_.to_card, tlp);
    });
    if (cycle_ % kExpiryPeriod == 0 && cpu_.outstanding())
        expire_loads();
}

void Model::expire_loads() {
    int tag;
    while ((tag = cpu_.expire(cycle_, kLoadTimeoutUs * info().clock_hz / 1000000)) >= 0) {
        checker_.host_read_over(tag);
        counts_.load_timeouts++;
        kept([] {
            throw Violation("read of the host is not answered within " + std::to_string(kLoadTimeoutUs) + " us");
        });
    }
}

void Model::from_card(const CardItem &item) {
    if (item.discarded)
        return;
    if (item.interrupt)
        interrupt(item.vector);
    else if (item.tlp.is_completion())
        cpu_.complete(item.tlp);
    else
        request(item.tlp);
}

// The root port does not know whether bus mastering is off at the card: it serves what the card sent before.
void Model::request(const Tlp &tlp) {
    figures_.requests_without_bus_master += !config_.bus_master();
    if (TlpChecker::is_message(tlp)) {
        message(tlp);
        return;
    }
    if (tlp.is_memory_write())
        figures_.last_write_cycle = cycle_;
    completer_.receive(tlp, cycle_);
}

uint32_t Model::message_data(const Tlp &tlp) {
    uint8_t data[4];
    if (tlp.length() != 1 || tlp.first_be() != 0xf)
        throw Violation("message of MSI-X that is not one dword", tlp);
    tlp.payload_bytes(data);
    return data[0] | data[1] << 8 | data[2] << 16 | uint32_t(data[3]) << 24;
}

void Model::message(const Tlp &tlp) {
    if (!config_.msix_enabled())
        counts_.masked_interrupts++;
    else
        deliver(message_data(tlp) & 0xffff, "MSI-X");
}

void Model::interrupt(uint8_t vector) {
    // An MSI that the checker passed may still arrive after the host has turned bus mastering or MSI off.
    if (!kept([this, vector] {
            if (vector >= config_.msi_vectors())
                throw Violation("MSI vector " + std::to_string(vector) + ", but the host granted " +
                                std::to_string(config_.msi_vectors()));
        }))
        return;
    if (!config_.msi_enabled() || !config_.bus_master()) {
        counts_.masked_interrupts++;
        return;
    }
    TrafficCounts::add(traffic_.to_host, "MSI", 4, interrupt_bytes());
    if (capture_.on()) {
        // The hard block sends it as this write.
        const uint32_t number = config_.msi_data() | vector;
        const uint8_t data[] = {uint8_t(number), uint8_t(number >> 8), 0, 0};
        capture_.tlp(cycle_, '<', Tlp::memory_write(in_.id, config_.msi_address(), data, sizeof(data)));
    }
    deliver(vector, "MSI");
}

void Model::deliver(unsigned vector, const char *kind) {
    counts_.interrupts++;
    if (trace_.on())
        trace_.event(cycle_, '<', std::string(kind) + " vector " + std::to_string(vector));
    if (on_interrupt)
        on_interrupt(vector);
}

unsigned Model::interrupt_bytes() const { return kFramingBytes + (config_.msi_address() >> 32 ? 16 : 12) + 4; }

bool Model::streams_move() const {
    return out_.tx_valid[0] | out_.tx_valid[1] | in_.rx[0].valid | in_.rx[1].valid | out_.msi_valid;
}

void Model::card_accepted(const HostTlp &accepted) {
    if (!accepted.tlp.is_completion()) {
        stores_ -= accepted.tlp.is_memory_write();
        return;
    }
    if (accepted.tlp.has_data())
        figures_.last_completion_cycle = cycle_;
    if (!accepted.stray)
        order_.completion(accepted.tlp);
}

// Returns whether the host takes the TLP.
bool Model::card_sent(const Tlp &tlp) {
    observe('<', tlp);
    if (!kept([this, &tlp] { checker_.from_card(tlp, cycle_); }))
        return false;
    if (TlpChecker::is_message(tlp)) {
        if (!kept([this, &tlp] { order_.msix(message_data(tlp)); }))
            return false;
    } else {
        order_.from_card(tlp);
    }
    TrafficCounts::add(traffic_.to_host, tlp);
    return true;
}

// Runs a check. Returns false if the card broke a rule that the host sees, and these are counted.
template <typename Check> bool Model::kept(const Check &check) {
    try {
        check();
    } catch (const UnseenViolation &broken) {
        broken_.add(cycle_, broken);
    } catch (const Violation &broken) {
        broken_.add(cycle_, broken);
        return false;
    }
    return true;
}

// A request while memory space is off, or outside of D0, is an unsupported one.
void Model::bar_store(unsigned bar, uint64_t offset, const uint8_t *data, size_t bytes) {
    if (!config_.memory_enabled()) {
        config_.report(ConfigSpace::Error::UnsupportedRequest, ConfigSpace::Cause::Posted);
        return;
    }
    stores_ += store_at(config_.bar(bar), offset, data, bytes, info().own);
}

bool Model::bar_load(unsigned bar, uint64_t offset, uint8_t *data, size_t bytes) {
    memset(data, 0xff, bytes);
    if (!config_.memory_enabled()) {
        config_.report(ConfigSpace::Error::UnsupportedRequest);
        return false;
    }
    return load_at(config_.bar(bar) + offset, data, bytes);
}

// Configuration Space and Resets --------------------------------------------------------------------------------------
// The configuration space of the Model, and what resets the card, the function or the link.

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
    set_mps(config_.mps());
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
    forget_registers();
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
    lose_all();
    stores_ = 0;
    in_.link_up = false;
}

}  // namespace litepcie
