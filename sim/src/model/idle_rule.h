// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstdint>

namespace litepcie {

// Decides when the simulated clock may stop: when the card has sent nothing for so long that it will not send anything
// unprompted.
//
// The clock runs for kLingerCycles after the last TLP or MSI, and after the last cycle with an outstanding request.
// Three timers of the card may expire later, and the rule waits for them too. The host set them: the interrupt
// moderation of an engine, the flush of a stream's buffers, and the completion timeout, which matters only after the
// host left a request unanswered. The clock also runs while the host has an interrupt of the user's logic armed, whose
// cause may be a timer of the user.
class IdleRule {
  public:
    static constexpr uint64_t kLingerCycles = 65536;
    static constexpr uint32_t kDefaultTimeoutUs = 50000;  // the longest allowed (PCIe 4.0 2.8), until the host sets one

    explicit IdleRule(uint64_t clock_hz) : clock_hz_(clock_hz), linger_(kLingerCycles) {}

    // The host writes `value` to the register at `offset` of BAR0.
    void host_writes(uint64_t offset, uint32_t value);
    // A TLP or an MSI moves in this cycle.
    void activity(uint64_t cycle) { awake_until(cycle + linger_); }
    // The host leaves a request of the card unanswered.
    void unanswered(uint64_t cycle) { awake_until(cycle + timeout_cycles() + linger_); }
    bool may_stop(uint64_t cycle) const { return !armed_ && cycle >= awake_until_; }

    uint64_t timeout_cycles() const { return cycles(timeout_us_); }
    void reset();

  private:
    uint64_t cycles(uint64_t us) const { return us * clock_hz_ / 1000000; }
    void awake_until(uint64_t cycle) { awake_until_ = cycle > awake_until_ ? cycle : awake_until_; }

    uint64_t clock_hz_;
    uint64_t linger_;
    uint64_t awake_until_ = 0;
    uint32_t timeout_us_ = kDefaultTimeoutUs;
    uint32_t armed_ = 0;  // interrupts of the user's logic, by bit
};

}  // namespace litepcie
