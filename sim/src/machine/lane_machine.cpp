// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "machine/lane_machine.h"

#include <cstdio>
#include <cstring>

namespace litepcie::soft {

namespace {

constexpr uint8_t kBus = 1;
constexpr uint16_t kCardId = kBus << 8;
constexpr uint64_t kMillisecond = kLaneHz / 1000;  // cycles
constexpr uint64_t kTrainingLimit = 200 * kMillisecond;
constexpr uint64_t kConfigLimit = 50 * kMillisecond;
constexpr uint64_t kExpiryPeriod = 1024;  // cycles between checks of the host's completion timeout
constexpr uint64_t kReportsWithoutIommu = 10;
constexpr size_t kStates = 64;

lane::RootPortOptions root_port(const ModelOptions &host, lane::RootPortOptions port) {
    port.data_link.credits = host.credits;
    port.data_link.update_fc = host.update_fc;
    return port;
}

// The lane has a time of flight of its own, the delay of its wires.
ModelOptions without_flight(ModelOptions host) {
    host.flight_ns = 0;
    return host;
}

}  // namespace

LaneMachine::LaneMachine(HostMemory &memory, const ModelOptions &host, const LaneSettings &settings)
    : options_(host), lane_(settings.wires, root_port(host, settings.port), host.seed), faults_(host.seed),
      order_(memory, card_->info().memory_channels, card_->info().streams), errors_(kCardId),
      completer_(memory, faults_, completer_options(without_flight(host), kLaneHz),
                 [this](const Tlp &tlp) { unmapped(tlp); }),
      idle_(kLaneHz, IdleRule::kLaneLingerCycles), trace_(host.trace, kLaneHz),
      requester_({
                     [this](Tlp tlp) {
                         egress_.push({std::move(tlp), false});
                     },
                     [this](Tlp &tlp) {
                         step();
                         if (!up_)
                             throw LinkEnded();
                         const bool came = answer_.has_value();
                         if (came)
                             tlp = std::move(*answer_);
                         answer_.reset();
                         return came;
                     },
                 },
                 kBus, kConfigLimit) {
    delay_ = settings.wires.delay;
    for (const std::string &fault : host.faults)
        faults_.add(fault);
    for (const auto &[fault, every] : settings.faults)
        lane_.port().faults().arm(fault, every);
    lane_.port().training().entered = [this](lane::LinkState state) {
        states_.push_back({cycle_, state});
        if (states_.size() > kStates)
            states_.pop_front();
    };
    checker_.set_quarantine(host.quarantine_us * kLaneHz / 1000000);
    train();
    figures_.trained_cycle = cycle_;
}

Machine::Shape LaneMachine::shape() const { return {kLaneHz, card_->info().bar0_size, 1, 0, 0}; }

// Time ----------------------------------------------------------------------------------------------------------------

void LaneMachine::step() {
    card_->clock(lane_);
    cycle_++;
    if (up_ != link().up()) {
        up_ = !up_;
        // The port sends Set_Slot_Power_Limit by itself.
        given_ = up_;
        if (!up_)
            lose();
    }
    if (!lane_.port().training().active() && !lane_.port().training().asleep())
        idle_.activity(cycle_);
    from_link();
    completer_.advance(cycle_, egress_);
    if (completer_.has_abandoned()) {
        for (uint8_t tag : completer_.take_abandoned())
            checker_.card_request_abandoned(tag, cycle_);
        idle_.unanswered(cycle_);
    }
    if (completer_.take_shortened())
        idle_.unanswered(cycle_);
    if (up_)
        to_link();
    if (!leaving_.empty())
        free_room();
    if (cycle_ % kExpiryPeriod == 0 && cpu_.outstanding())
        expire_loads();
}

// When only idle symbols, SKP and UpdateFC would be sent, both ends stop together.
bool LaneMachine::busy() const {
    const lane::Training &training = lane_.port().training();
    return !idle_.may_stop(cycle_) || completer_.outstanding() || cpu_.outstanding() || !egress_.empty() ||
           !link().quiet() || !leaving_.empty() || !(training.active() || training.asleep()) ||
           link().agreed() != lane::Sleep::None;
}

bool LaneMachine::run_until_up(bool up) {
    for (const uint64_t end = cycle_ + kTrainingLimit; cycle_ < end && up_ != up;)
        step();
    return up_ == up;
}

void LaneMachine::train() {
    if (!run_until_up(true))
        throw Violation("the lane does not train within 200 ms");
    // The card takes its bus number from a write, and this one changes nothing (PCIe 2.1 2.2.6.2).
    config(0, 15, 0);
    find_capabilities();
    read_controls();
}

// Everything that is in flight is lost, and configuration space is as after power-on (PCIe 2.1 2.9.1, 6.6.1).
void LaneMachine::lose() {
    figures_.downs++;
    completion_.number = 0;
    sent_before_ = link().counts().sent;
    egress_.clear();
    completer_.clear();
    cpu_.fail_all();
    checker_.reset();
    order_.reset();
    leaving_.clear();
    answer_.reset();
    idle_.reset();
    idle_.activity(cycle_);
    completer_.set_timeout_cycles(idle_.timeout_cycles());
    control_ = {};
}

void LaneMachine::reset_bus() {
    lane_.port().training().hot_reset();
    if (!run_until_up(false))
        throw Violation("the link does not end by a hot reset within 200 ms");
    train();
}

// TLPs ----------------------------------------------------------------------------------------------------------------

void LaneMachine::from_link() {
    Tlp tlp;
    while (link().receive(tlp)) {
        trace_.tlp(cycle_, '<', tlp);
        TrafficCounts::add(traffic_.to_host, tlp);
        idle_.activity(cycle_);
        from_card(tlp);
        const uint64_t translated = tlp.is_memory_write() ? completer_.accepted(tlp, cycle_) : cycle_;
        leaving_.push_back({translated + cycles_of(options_.credit_return_ns, kLaneHz), std::move(tlp)});
    }
}

void LaneMachine::free_room() {
    for (; !leaving_.empty() && leaving_.front().cycle <= cycle_; leaving_.pop_front())
        link().release(leaving_.front().tlp);
}

void LaneMachine::from_card(const Tlp &tlp) {
    if (tlp.is_completion() && asking_) {
        answer_ = tlp;
        return;
    }
    if (errors_.take(tlp))
        return;
    checker_.from_card(tlp, cycle_);
    if (tlp.is_completion()) {
        cpu_.complete(tlp);
    } else if (is_interrupt(tlp)) {
        interrupt(tlp);
    } else {
        order_.from_card(tlp);
        completer_.receive(tlp, cycle_);
    }
}

bool LaneMachine::is_interrupt(const Tlp &tlp) const {
    return tlp.is_memory_write() && (TlpChecker::is_message(tlp) || tlp.address() == control_.msi_address()) &&
           control_.msi_address();
}

// An MSI is a write of the data that the host has set to the address that it has set (PCI 3.0 6.8.1).
void LaneMachine::interrupt(const Tlp &tlp) {
    if (!control_.msi_on()) {
        figures_.masked_interrupts++;
        return;
    }
    uint8_t data[4];
    if (tlp.length() != 1 || tlp.first_be() != 0xf || tlp.address() != control_.msi_address())
        throw Violation("MSI that is not one dword at the address that the host has set", tlp);
    tlp.payload_bytes(data);
    const unsigned value = data[0] | data[1] << 8 | data[2] << 16 | unsigned(data[3]) << 24;
    const unsigned vector = value & (control_.msi_vectors() - 1);
    if (value - vector != (control_.msi_data & 0xffff & ~(control_.msi_vectors() - 1)))
        throw Violation("MSI whose data is not what the host has set", tlp);
    order_.msi(vector);
    figures_.interrupts++;
    if (on_interrupt)
        on_interrupt(uint8_t(vector));
}

void LaneMachine::to_link() {
    const auto may_go = [this](const Tlp &tlp) { return link().room(tlp.credit_class()); };
    while (egress_.next(may_go)) {
        HostTlp next = egress_.pop();
        trace_.tlp(cycle_, '>', next.tlp);
        TrafficCounts::add(traffic_.to_card, next.tlp);
        idle_.activity(cycle_);
        if (next.tlp.is_completion() && next.ends_request && next.late)
            checker_.card_request_answered_late(next.tlp.tag());
        else if (next.tlp.is_completion() && next.ends_request)
            checker_.card_request_done(next.tlp.tag());
        if (next.tlp.is_completion() && !next.stray)
            order_.completion(next.tlp);
        given_++;
        if (next.tlp.is_completion() && next.tlp.has_data())
            completion_.number = given_, completion_.length = (next.tlp.wire_bytes() + 1) / 2 + delay_;
        link().send(std::move(next.tlp));
    }
    if (completion_.number && link().counts().sent - sent_before_ >= completion_.number) {
        completion_.cycle = cycle_ + completion_.length;
        completion_.number = 0;
    }
}

// Loads and Stores ----------------------------------------------------------------------------------------------------

void LaneMachine::store(uint64_t offset, const uint8_t *data, size_t bytes) {
    if (!control_.memory())
        return;
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
        uint32_t value;
        memcpy(&value, data + i, 4);
        idle_.host_writes(offset + i, value);
        order_.host_writes(offset + i, value);
    }
    idle_.activity(cycle_);
    completer_.set_timeout_cycles(idle_.timeout_cycles());
    cpu_.write(control_.bar0 + offset, data, bytes, egress_);
}

bool LaneMachine::load(uint64_t offset, uint8_t *data, size_t bytes) {
    memset(data, 0xff, bytes);
    if (!control_.memory() || !up_)
        return false;
    Tlp request;
    const uint8_t tag = cpu_.read(control_.bar0 + offset, bytes, cycle_, egress_, &request);
    checker_.host_read(request);
    while (cpu_.state(tag) == HostCpu::State::Waiting)
        step();
    const bool answered = cpu_.state(tag) == HostCpu::State::Done;
    cpu_.take(tag, data, bytes);
    return answered;
}

void LaneMachine::expire_loads() {
    const int tag = cpu_.expire(cycle_, kLoadTimeoutUs * kLaneHz / 1000000);
    if (tag < 0)
        return;
    figures_.load_timeouts++;
    throw Violation("read of the host (tag " + std::to_string(tag) + ") is not answered within " +
                    std::to_string(kLoadTimeoutUs) + " us");
}

void LaneMachine::unmapped(const Tlp &tlp) {
    figures_.unmapped++;
    if (options_.iommu || figures_.unmapped <= kReportsWithoutIommu)
        fprintf(stderr, "access outside a live mapping: %s\n", tlp.describe().c_str());
}

}  // namespace litepcie::soft
