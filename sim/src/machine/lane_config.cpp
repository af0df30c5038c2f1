// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Configuration space of a card at the other end of a lane: every access is a request, as on a real link.
#include "machine/lane_machine.h"

#include <cstring>

namespace litepcie::soft {

namespace {

// Registers of PCIe 2.1 7.5 and 7.8.
constexpr unsigned kCommand = 0x04, kBar0 = 0x10, kPointer = 0x34;
constexpr unsigned kExpressId = 0x10, kMsiId = 0x05, kPowerId = 0x01, kMostCapabilities = 48;
constexpr unsigned kDeviceControl = 0x08, kLinkControl = 0x10, kPowerControl = 0x04;
constexpr uint32_t kFunctionReset = 1u << 15, kMpsBits = 7u << 5;
constexpr uint32_t kRelaxedOrdering = 1u << 4, kExtendedTag = 1u << 8, kNoSnoop = 1u << 11;
constexpr uint16_t kCardId = 0x0100;
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
            order_.reset();
            idle_.reset();
            completer_.set_timeout_cycles(idle_.timeout_cycles());
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
    completer_.set_mps(now.mps());
    cpu_.set_mps(now.mps());
}

}  // namespace litepcie::soft
