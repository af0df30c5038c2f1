// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/tlp.h"

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace litepcie {

// The card broke a rule: the run ends.
class Violation : public std::runtime_error {
  public:
    explicit Violation(const std::string &rule) : std::runtime_error(rule) {}
    Violation(const std::string &rule, const Tlp &tlp)
        : std::runtime_error(rule + "\n  " + tlp.describe() + "\n  " + tlp.hex()) {}
};

// What the host allows the card, from its configuration space.
struct CardLimits {
    uint16_t id = 0;      // bus, device, function
    unsigned mps = 128;   // bytes
    unsigned mrrs = 512;  // bytes
    bool extended_tag = false;
    bool bus_master = false;

    bool operator==(const CardLimits &o) const {
        return id == o.id && mps == o.mps && mrrs == o.mrrs && extended_tag == o.extended_tag &&
               bus_master == o.bus_master;
    }
};

// Checks every TLP of the card against PCIe 4.0 2.2 and 2.3 and throws Violation for the first that breaks a rule.
//
// After the host changed a limit, TLPs that keep the old one are let through for kGraceCycles: they were on their way.
class TlpChecker {
  public:
    static constexpr uint64_t kGraceCycles = 1024;

    void set_limits(const CardLimits &limits, uint64_t cycle);

    // A complete TLP of the card.
    void from_card(const Tlp &tlp, uint64_t cycle);

    // A completion that ends a request of the card has reached it: the tag is free.
    void card_request_done(uint8_t tag) { card_tags_[tag] = Tag::Free; }
    // The host will not answer, or late: the card may give the tag up at any time.
    void card_request_abandoned(uint8_t tag) { card_tags_[tag] = Tag::Abandoned; }
    unsigned card_requests() const;  // outstanding

    // A memory read of the host towards the card, and its end without a completion.
    void host_read(const Tlp &tlp);
    void host_read_over(uint8_t tag) { host_reads_[tag].outstanding = false; }

    void reset();

  private:
    enum class Tag : uint8_t { Free, InUse, Abandoned };
    struct HostRead {
        bool outstanding = false;
        uint64_t address = 0;  // of the next byte
        unsigned bytes = 0;    // left
    };

    void check_shape(const Tlp &tlp) const;
    void check_request(const Tlp &tlp, const CardLimits &limits) const;
    bool keeps(const Tlp &tlp, const CardLimits &limits) const;
    void check_tag(const Tlp &tlp);
    void check_completion(const Tlp &tlp);

    CardLimits limits_, before_;
    uint64_t changed_at_ = 0;
    std::array<Tag, 256> card_tags_{};
    std::array<HostRead, 256> host_reads_{};
};

}  // namespace litepcie
