// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstdint>

namespace litepcie {

// When the clock may stop: the card has been silent for so long that nothing will come from it unasked.
//
// After the last TLP or MSI, or the last cycle with a request outstanding in either direction, the clock goes on for
// kLingerCycles. Two timers of the card may speak later than that, and the host set both: the longest interrupt
// moderation it wrote to an engine, and the completion timeout, which only runs if the host leaves a request
// unanswered.
class IdleRule {
  public:
    static constexpr uint64_t kLingerCycles = 65536;
    static constexpr uint32_t kDefaultTimeoutUs = 50000;  // the longest of PCIe 4.0 2.8, if the host sets none

    explicit IdleRule(uint64_t clock_hz) : clock_hz_(clock_hz), linger_(kLingerCycles) {}

    // The host writes `value` to the register at `offset` of BAR0.
    void host_writes(uint64_t offset, uint32_t value);
    void activity(uint64_t cycle) { awake_until(cycle + linger_); }
    // The host leaves a request of the card unanswered.
    void unanswered(uint64_t cycle) { awake_until(cycle + timeout_cycles() + linger_); }
    bool may_stop(uint64_t cycle) const { return cycle >= awake_until_; }

    uint64_t timeout_cycles() const { return cycles(timeout_us_); }
    void reset();

  private:
    uint64_t cycles(uint64_t us) const { return us * clock_hz_ / 1000000; }
    void awake_until(uint64_t cycle) { awake_until_ = cycle > awake_until_ ? cycle : awake_until_; }

    uint64_t clock_hz_;
    uint64_t linger_;
    uint64_t awake_until_ = 0;
    uint32_t timeout_us_ = kDefaultTimeoutUs;
};

}  // namespace litepcie
