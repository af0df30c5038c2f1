// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "referee/tlp_checker.h"

#include <array>

namespace litepcie::soft {

// The root port's end of a card's error messages: ERR_COR, ERR_NONFATAL and ERR_FATAL (PCIe 2.1 2.2.8.3, 6.2.6).
class ErrorMessages {
  public:
    static constexpr unsigned kKinds = 3;
    static constexpr uint32_t kSerrEnable = 1u << 8;  // of Command
    static constexpr uint32_t kAll = 15;              // of Device Control: each kind, and unsupported requests

    explicit ErrorMessages(uint16_t card) : card_(card) {}

    // The host writes enables. One counts from then on: a message may be on its way when the host takes it back.
    void set_device_control(uint32_t value) { enabled_ |= value & 7; }
    void set_command(uint32_t value) { enabled_ |= value & kSerrEnable ? 6 : 0; }

    // Counts a message of an error. False: the TLP is something else. Throws Violation if the card must not send it.
    bool take(const Tlp &tlp) {
        static constexpr uint8_t kCodes[kKinds] = {0x30, 0x31, 0x33};
        for (unsigned kind = 0; kind < kKinds; kind++) {
            if (!tlp.is_message() || tlp.message_code() != kCodes[kind])
                continue;
            if (tlp.dw != std::vector<uint32_t>{0x30000000, uint32_t(card_) << 16 | kCodes[kind], 0, 0})
                throw Violation("message of an error that is not as the specification has it", tlp);
            if (!(enabled_ >> kind & 1))
                throw Violation("message of an error, of a kind that the host has not enabled", tlp);
            counts_[kind]++;
            return true;
        }
        return false;
    }
    // Correctable, non-fatal, fatal.
    const std::array<uint64_t, kKinds> &counts() const { return counts_; }

  private:
    uint16_t card_;
    unsigned enabled_ = 0;  // bits by kind
    std::array<uint64_t, kKinds> counts_{};
};

}  // namespace litepcie::soft
