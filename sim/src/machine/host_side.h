// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "machine/machine.h"
#include "machine/options.h"
#include "referee/order_checker.h"
#include "referee/tlp_checker.h"
#include "root/host_memory.h"
#include "root/root_complex.h"
#include "tlp/capture.h"
#include "tlp/tlp.h"

#include <cstdint>

namespace litepcie {

// Decides when the simulated clock may stop: when the card has sent nothing for so long that it will not send anything
// unprompted.
//
// The clock runs for some cycles, the linger, after the last TLP or MSI and after the last cycle with an outstanding
// request. The linger is longer than the card takes from one TLP to the next without a timer that the host sets:
// - kLingerCycles: the longest such time is that of the walk over 256 tags after a timeout (gateware/tlp/tags.py),
//   at most four cycles each. A refresh of DDR memory takes less.
// - kLaneLingerCycles, for the endpoint in gateware: a TLP that is lost on the way to the host comes again when the
//   card's replay timer expires, 1024 cycles for each of four attempts, and after the content of the replay buffer,
//   8192 cycles (gateware/endpoint/data_link/replay.py). Then the link trains again, which counts as activity.
//
// Three timers of the card may expire later, and the rule waits for them too. The host set them: the interrupt
// moderation of an engine, the flush of a stream's buffers, and the completion timeout, which matters only after the
// host left a request unanswered. The card ends a request up to one sixteenth later than this timeout. The clock also
// runs while the host has an interrupt of the user's logic armed, whose cause may be a timer of the user.
class IdleRule {
  public:
    static constexpr uint64_t kLingerCycles = 4096;
    static constexpr uint64_t kLaneLingerCycles = 16384;
    static constexpr uint32_t kDefaultTimeoutUs = 50000;  // the longest allowed (PCIe 4.0 2.8), until the host sets one

    explicit IdleRule(uint64_t clock_hz, uint64_t linger = kLingerCycles)
        : cycles_per_us_((clock_hz + 999999) / 1000000), least_(linger), linger_(linger) {}

    // The host writes `value` to the register at `offset` of BAR0.
    void host_writes(uint64_t offset, uint32_t value);
    // A TLP or an MSI moves in this cycle.
    void activity(uint64_t cycle) { awake_until(cycle + linger_); }
    // The host leaves a request of the card unanswered.
    void unanswered(uint64_t cycle) { awake_until(cycle + timeout_cycles() + timeout_cycles() / 16 + linger_); }
    bool may_stop(uint64_t cycle) const { return !armed_ && cycle >= awake_until_; }

    uint64_t timeout_cycles() const { return cycles(timeout_us_); }
    void reset();

  private:
    // The card's timers count microseconds of whole cycles.
    uint64_t cycles(uint64_t us) const { return us * cycles_per_us_; }
    void awake_until(uint64_t cycle) { awake_until_ = cycle > awake_until_ ? cycle : awake_until_; }

    uint64_t cycles_per_us_;
    uint64_t least_, linger_;  // linger without timers of the host, and with those that it has set
    uint64_t awake_until_ = 0;
    uint32_t timeout_us_ = kDefaultTimeoutUs;
    uint32_t armed_ = 0;  // interrupts of the user's logic, by bit
};

// The host's side of a machine, the same for every link and card: the root complex, the referees of the card, and the
// clock's rule. The machine moves the TLPs, and tells this side of them.
class HostSide : public Machine {
  public:
    uint64_t cycle() const override { return cycle_; }
    uint64_t interrupts() const override { return counts_.interrupts; }
    unsigned rcb() const override { return options_.rcb; }
    FaultInjector &faults() override { return faults_; }

    struct Counts {
        uint64_t interrupts = 0, masked_interrupts = 0;
        uint64_t load_timeouts = 0;
        uint64_t unmapped = 0;  // accesses of the card outside of host memory
    };
    const Counts &counts() const { return counts_; }

  protected:
    static constexpr uint64_t kExpiryPeriod = 1024;  // cycles between checks of the host's completion timeout

    // `channels` memory channels and `streams` of streams have the registers of litepcie_regs.h.
    HostSide(HostMemory &memory, const ModelOptions &options, uint64_t clock_hz, uint64_t linger, unsigned channels,
             unsigned streams);

    // Queues the completions that are due in this cycle.
    void serve();
    // The card gets a completion. After the last one of a request, it may use the tag again.
    void completes(const HostTlp &tlp);
    // A store to `offset` of the BAR at `bar0`; returns the number of its TLPs. The card has the registers of
    // litepcie_regs.h if it is our `own`.
    unsigned store_at(uint64_t bar0, uint64_t offset, const uint8_t *data, size_t bytes, bool own = true);
    // A load of `address`: steps the clock until it is answered. False if the card refuses it, or gives no answer.
    bool load_at(uint64_t address, uint8_t *data, size_t bytes);
    // All that is in flight is lost.
    void lose_all();
    // The card forgot what the host wrote into its registers.
    void forget_registers();
    void set_mps(unsigned mps);
    void unmapped(const Tlp &tlp);
    // Writes the TLP into the files that observe the link. `direction`: > to the card, < to the host.
    void observe(char direction, const Tlp &tlp) {
        trace_.tlp(cycle_, direction, tlp);
        capture_.tlp(cycle_, direction, tlp);
    }

    ModelOptions options_;
    FaultInjector faults_;
    TlpChecker checker_;
    OrderChecker order_;
    Completer completer_;
    HostCpu cpu_;
    Egress egress_;
    IdleRule idle_;
    Trace trace_;
    Capture capture_;
    TrafficCounts traffic_;
    uint64_t cycle_ = 0;
    Counts counts_;
};

}  // namespace litepcie
