// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "machine/lane_machine.h"

#include <cstdio>
#include <cstring>
#include <memory>

namespace litepcie::soft {

// Settings ------------------------------------------------------------------------------------------------------------

namespace {

constexpr uint64_t kMost = 1000000000;
constexpr unsigned kLeastBetweenErrors = 100, kLeastBetweenFaults = 10;

std::string fault_names() {
    std::string names;
    for (unsigned i = 0; i < lane::kFaults; i++)
        names += (i ? ", " : "") + std::string(lane::name(lane::Fault(i)));
    return names;
}

// "NAME:N", or "all:N" for each fault. What is typed later counts.
void add_faults(const std::string &text, std::vector<std::pair<lane::Fault, unsigned>> &faults) {
    const size_t mark = text.find(':');
    const std::string name = text.substr(0, mark);
    const auto fault = lane::fault_of(name);
    if ((!fault && name != "all") || mark == std::string::npos)
        throw UsageError("--link-fault: '" + text + "' is not allowed; give NAME:N with one of " + fault_names() +
                         ", all");
    const auto every =
        unsigned(parse_number("--link-fault " + text, text.substr(mark + 1), kLeastBetweenFaults, kMost));
    for (unsigned i = 0; i < lane::kFaults; i++)
        if (name == "all" || lane::Fault(i) == *fault)
            faults.push_back({lane::Fault(i), every});
}

// Values as they are typed.
struct Typed {
    uint64_t drift = 0, errors_every = 0, delay = 0, lcrc_every = 0;
    bool slow = false, swapped = false;
};

}  // namespace

void add_lane_options(CommandLine &line, LaneSettings &o) {
    const auto typed = std::make_shared<Typed>();
    Typed &t = *typed;
    line.number("--drift", "PPM", "the host's clock is faster by so many millionths, at most 600 (0)", t.drift, 0, 600);
    line.flag("--slow", "the host's clock is slower by --drift, not faster", t.slow);
    line.flag("--absent", "the card finds no receiver, as in a slot without a host", o.wires.absent);
    line.flag("--silent", "the card finds a receiver that never sends", o.wires.silent);
    line.flag("--swapped", "the wires of the lane to the card are swapped", t.swapped);
    line.number("--delay", "CYCLES", "cycles of 8 ns that a symbol takes each way (0)", t.delay, 0, 1000);
    line.number("--errors-every", "N", "one damaged symbol in so many on average, each way; 0: none (0)",
                t.errors_every, 0, kMost);
    line.number("--lcrc-every", "N",
                "one TLP of so many on average arrives damaged, in each direction, and is replayed; 0: none (0)",
                t.lcrc_every, 0, kMost);
    static const std::string fault_help =
        "a fault in one of N packets of the root port, on average; repeatable: " + fault_names() + ", all";
    line.each("--link-fault", "NAME:N", fault_help.c_str(),
              [&o](const std::string &text) { add_faults(text, o.faults); });
    line.check([&o, typed] {
        const Typed &t = *typed;
        if (t.errors_every && t.errors_every < kLeastBetweenErrors)
            throw UsageError("--errors-every: with more than one error in 100 symbols no link lasts");
        if (t.lcrc_every && t.lcrc_every < kLeastBetweenFaults)
            throw UsageError("--lcrc-every: with more than one damaged TLP in 10 nothing gets through");
        o.wires.drift = t.slow ? -int(t.drift) : int(t.drift);
        o.wires.delay = unsigned(t.delay);
        o.wires.down_swapped = t.swapped;
        o.wires.down_errors_every = o.wires.up_errors_every = unsigned(t.errors_every);
        o.port.damage_every = unsigned(t.lcrc_every);
        if (t.lcrc_every)
            o.faults.push_back({lane::Fault::WrongLcrc, unsigned(t.lcrc_every)});
    });
}

// Machine -------------------------------------------------------------------------------------------------------------

namespace {

constexpr uint8_t kBus = 1;
constexpr uint16_t kCardId = kBus << 8;
constexpr uint64_t kMillisecond = kLaneHz / 1000;  // cycles
constexpr uint64_t kTrainingLimit = 200 * kMillisecond;
constexpr uint64_t kConfigLimit = 50 * kMillisecond;
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
    : LaneMachine(memory, host, settings, make_soft_card()) {}

LaneMachine::LaneMachine(HostMemory &memory, const ModelOptions &host, const LaneSettings &settings,
                         std::unique_ptr<SoftCard> card)
    : HostSide(memory, without_flight(host), kLaneHz, IdleRule::kLaneLingerCycles, card->info().memory_channels,
               card->info().streams),
      card_(std::move(card)), lane_(settings.wires, root_port(host, settings.port), host.seed), errors_(kCardId),
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
    for (const auto &[fault, every] : settings.faults)
        lane_.port().faults().arm(fault, every);
    lane_.port().training().entered = [this](lane::LinkState state) {
        states_.push_back({cycle_, state});
        if (states_.size() > kStates)
            states_.pop_front();
    };
    train();
    figures_.trained_cycle = cycle_;
}

Machine::Shape LaneMachine::shape() const { return {kLaneHz, {card_->info().bar0_size}, 1, 0, 0}; }

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
    serve();
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
    lose_all();
    leaving_.clear();
    answer_.reset();
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
        observe('<', tlp);
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
        counts_.masked_interrupts++;
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
    counts_.interrupts++;
    if (on_interrupt)
        on_interrupt(uint8_t(vector));
}

void LaneMachine::to_link() {
    const auto may_go = [this](const Tlp &tlp) { return link().room(tlp.credit_class()); };
    while (egress_.next(may_go)) {
        HostTlp next = egress_.pop();
        observe('>', next.tlp);
        TrafficCounts::add(traffic_.to_card, next.tlp);
        idle_.activity(cycle_);
        completes(next);
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

// The card has BAR0 only.
void LaneMachine::bar_store(unsigned, uint64_t offset, const uint8_t *data, size_t bytes) {
    if (!control_.memory())
        return;
    store_at(control_.bar0, offset, data, bytes);
}

bool LaneMachine::bar_load(unsigned, uint64_t offset, uint8_t *data, size_t bytes) {
    memset(data, 0xff, bytes);
    if (!control_.memory() || !up_)
        return false;
    return load_at(control_.bar0 + offset, data, bytes);
}

void LaneMachine::expire_loads() {
    const int tag = cpu_.expire(cycle_, kLoadTimeoutUs * kLaneHz / 1000000);
    if (tag < 0)
        return;
    counts_.load_timeouts++;
    throw Violation("read of the host (tag " + std::to_string(tag) + ") is not answered within " +
                    std::to_string(kLoadTimeoutUs) + " us");
}

// Configuration Space -------------------------------------------------------------------------------------------------
// Configuration space of a card at the other end of a lane: every access is a request, as on a real link.

namespace {

// Registers of PCIe 2.1 7.5 and 7.8.
constexpr unsigned kCommand = 0x04, kBar0 = 0x10, kPointer = 0x34;
constexpr unsigned kExpressId = 0x10, kMsiId = 0x05, kPowerId = 0x01, kMostCapabilities = 48;
constexpr unsigned kDeviceControl = 0x08, kLinkControl = 0x10, kPowerControl = 0x04;
constexpr uint32_t kFunctionReset = 1u << 15, kMpsBits = 7u << 5;
constexpr uint32_t kRelaxedOrdering = 1u << 4, kExtendedTag = 1u << 8, kNoSnoop = 1u << 11;
constexpr uint32_t kNobody = 0xffffffff;

}  // namespace

// A dword, read or written. Nothing if the card refuses it, or if the link ends before the answer.
std::optional<uint32_t> LaneMachine::config(unsigned offset, unsigned enables, std::optional<uint32_t> value) {
    if (!up_)
        return {};
    figures_.config_requests++;
    asking_ = true;
    std::optional<uint32_t> result;
    try {
        const auto answer =
            value ? requester_.config_write(0, offset, *value, enables) : requester_.config_read(0, offset, enables);
        if (answer.status == CplStatus::Success)
            result = answer.value;
    } catch (const LinkEnded &) {
    } catch (const scan::ScanError &error) {
        throw Violation(error.what());
    }
    asking_ = false;
    return result;
}

void LaneMachine::config_read(unsigned offset, uint8_t *data, size_t bytes) {
    for (size_t i = 0; i < bytes;) {
        const unsigned at = offset + i, first = at % 4, now = std::min<size_t>(4 - first, bytes - i);
        const uint32_t value = config(at, ((1u << now) - 1) << first).value_or(kNobody);
        memcpy(data + i, reinterpret_cast<const uint8_t *>(&value) + first, now);
        i += now;
    }
}

void LaneMachine::config_write(unsigned offset, const uint8_t *data, size_t bytes) {
    const auto acting = controls();
    bool acts = false;
    for (size_t i = 0; i < bytes;) {
        const unsigned at = offset + i, first = at % 4, now = std::min<size_t>(4 - first, bytes - i);
        uint32_t value = 0;
        memcpy(reinterpret_cast<uint8_t *>(&value) + first, data + i, now);
        // The card may act on the write before its completion comes, so both limits may be obeyed until then.
        Control written = control_;
        uint32_t mask = 0;
        memset(reinterpret_cast<uint8_t *>(&mask) + first, 0xff, now);
        for (const auto &[register_at, member] : acting)
            if (register_at / 4 == at / 4) {
                written.*member ^= (written.*member ^ value) & mask;
                acts = true;
            }
        const bool resets = express_ && at / 4 == (express_ + kDeviceControl) / 4 && value & kFunctionReset;
        if (resets) {
            written = {};
            written.device = control_.device & kMpsBits;
        }
        checker_.change_limits(limits(written));
        if (at / 4 == kCommand / 4)
            errors_.set_command(value);
        if (express_ && at / 4 == (express_ + kDeviceControl) / 4)
            errors_.set_device_control(value);
        config(at, ((1u << now) - 1) << first, value);
        if (up_) {
            control_ = written;
            checker_.set_limits(limits(written));
        }
        if (resets) {
            forget_registers();
        }
        i += now;
    }
    if (acts)
        read_controls();
}

// As software finds them, by the list that begins at 34h.
void LaneMachine::find_capabilities() {
    unsigned next = config(kPointer, 15).value_or(0) & 0xfc;
    for (unsigned count = 0; next && count < kMostCapabilities; count++) {
        const uint32_t header = config(next, 15).value_or(0);
        if ((header & 0xff) == kExpressId)
            express_ = next;
        if ((header & 0xff) == kMsiId)
            msi_ = next;
        if ((header & 0xff) == kPowerId)
            power_ = next;
        next = header >> 8 & 0xfc;
    }
    if (!express_ || !msi_ || !power_)
        throw Violation("the card has no capability of PCI Express, of MSI, or of power management");
}

std::vector<std::pair<unsigned, uint32_t LaneMachine::Control::*>> LaneMachine::controls() const {
    return {{kCommand, &Control::command},
            {kBar0, &Control::bar0},
            {power_ + kPowerControl, &Control::power},
            {express_ + kDeviceControl, &Control::device},
            {express_ + kLinkControl, &Control::link},
            {msi_, &Control::msi},
            {msi_ + 4, &Control::msi_low},
            {msi_ + 8, &Control::msi_high},
            {msi_ + 12, &Control::msi_data}};
}

CardLimits LaneMachine::limits(const Control &control) const {
    const uint32_t device = control.device;
    return {kCardId,
            control.mps(),
            control.mrrs(),
            bool(device & kExtendedTag),
            control.bus_master(),
            control.msi_on(),
            control.msi_on(),
            bool(device & kRelaxedOrdering),
            bool(device & kNoSnoop),
            card_->info().tags};
}

// The completions push what the card sent before it saw the write (PCIe 2.1 2.4.1).
void LaneMachine::read_controls() {
    Control now;
    for (const auto &[offset, member] : controls())
        now.*member = config(offset, 15).value_or(0);
    if (!up_)
        return;
    now.bar0 &= ~15u;
    control_ = now;
    checker_.set_limits(limits(now));
    link().set_mps(now.mps());
    set_mps(now.mps());
}

}  // namespace litepcie::soft
