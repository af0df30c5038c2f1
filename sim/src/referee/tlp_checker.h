// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "tlp/tlp.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

namespace litepcie {

// Where processors of the x86 family receive interrupts: 1 MiB from here (Intel SDM 3, 10.11.1).
constexpr uint32_t kInterruptAddress = 0xfee00000;

// The card broke a rule of PCI Express. The program prints the rule and the TLP, and ends, unless it counts these
// (BrokenRules).
class Violation : public std::runtime_error {
  public:
    explicit Violation(const std::string &rule) : std::runtime_error(rule), rule_(rule) {}
    Violation(const std::string &rule, const Tlp &tlp)
        : std::runtime_error(rule + "\n  " + tlp.describe() + "\n  " + tlp.hex()), rule_(rule) {}
    const std::string &rule() const { return rule_; }

  private:
    std::string rule_;
};

// A rule that the receiver of the TLP cannot see: it serves the TLP as any other.
class UnseenViolation : public Violation {
  public:
    using Violation::Violation;
};

// The limits that the host set in the card's configuration space.
struct CardLimits {
    uint16_t id = 0;      // bus, device, function
    unsigned mps = 128;   // bytes
    unsigned mrrs = 512;  // bytes
    bool extended_tag = false;
    bool bus_master = false;
    bool msi = true;                                  // MSI Enable
    bool msix = false;                                // MSI-X Enable, and Function Mask is not set
    bool relaxed_ordering = false, no_snoop = false;  // requests may have these attributes
    unsigned tags = 256;                              // that the card says it has; it uses those below this number

    bool operator==(const CardLimits &o) const {
        return id == o.id && mps == o.mps && mrrs == o.mrrs && extended_tag == o.extended_tag &&
               bus_master == o.bus_master && msi == o.msi && msix == o.msix && relaxed_ordering == o.relaxed_ordering &&
               no_snoop == o.no_snoop && tags == o.tags;
    }
    // Whether these forbid something that `o` allows.
    bool narrower(const CardLimits &o) const {
        return mps < o.mps || mrrs < o.mrrs || extended_tag < o.extended_tag || bus_master < o.bus_master ||
               msi < o.msi || msix < o.msix || relaxed_ordering < o.relaxed_ordering || no_snoop < o.no_snoop ||
               tags < o.tags;
    }
};

// Checks every TLP of the card against PCIe 4.0 2.2 and 2.3, and throws Violation for the first that breaks a rule.
//
// It knows the outstanding requests of both sides, so it finds a tag that is used twice and a completion that answers
// no request. While the host writes a limit, TLPs of the card may obey the old one or the new one: it may have built
// them before it saw the write. From the completion of the write on, all obey the new one.
class TlpChecker {
  public:
    // The host begins to write these limits. set_limits() ends that: the write's completion has reached the host.
    void change_limits(const CardLimits &limits) { coming_ = limits; }
    void set_limits(const CardLimits &limits) {
        limits_ = limits;
        coming_.reset();
    }
    const CardLimits &limits() const { return limits_; }

    // Checks a complete TLP of the card.
    void from_card(const Tlp &tlp, uint64_t cycle);
    // Whether a TLP of the card is a message of MSI-X: a write of a dword to where the host receives interrupts.
    static bool is_message(const Tlp &tlp);
    // Checks an MSI that the card's PHY accepts. It is a memory write (PCIe 4.0 6.1.4).
    void interrupt_from_card() const;

    // The last completion of a request reached the card, so the card may use the tag again.
    void card_request_done(uint8_t tag) { card_tags_[tag] = Tag::Free; }
    // The host answers this request too late or never. After its timeout, the card may use the tag again only after
    // the late completions arrived or the quarantine passed, which begins now.
    void card_request_abandoned(uint8_t tag, uint64_t cycle);
    // The last late completion reached the card.
    void card_request_answered_late(uint8_t tag);
    // How long no late completion must meet another request, in cycles; 0: a tag is free at once.
    void set_quarantine(uint64_t cycles) { quarantine_ = cycles; }
    unsigned card_requests() const;  // number of outstanding requests of the card

    // The host sends a memory read to the card; the host gives that read up without a completion.
    void host_read(const Tlp &tlp);
    void host_read_over(uint8_t tag) { host_reads_[tag].outstanding = false; }

    void reset();

  private:
    enum class Tag : uint8_t { Free, InUse, Abandoned };
    struct HostRead {
        bool outstanding = false;
        uint64_t address = 0;     // of the next byte to be completed
        unsigned bytes = 0;       // still to be completed
        uint32_t attributes = 0;  // traffic class and attributes, as in dword 0
    };

    void check_shape(const Tlp &tlp) const;
    void check_request(const Tlp &tlp, const CardLimits &limits) const;
    bool keeps(const Tlp &tlp, const CardLimits &limits) const;
    void check_tag(const Tlp &tlp, uint64_t cycle);
    void check_completion(const Tlp &tlp);
    // Whether either of the limits that may be obeyed now has this.
    bool either(bool CardLimits::*allowed) const { return limits_.*allowed || (coming_ && *coming_.*allowed); }

    CardLimits limits_;
    std::optional<CardLimits> coming_;
    uint64_t quarantine_ = 0;
    std::array<Tag, 256> card_tags_{};
    std::array<uint64_t, 256> abandoned_at_{};
    std::array<HostRead, 256> host_reads_{};
};

// The rules of PCI Express that the card broke. The first one ends the run, unless they are counted.
class BrokenRules {
  public:
    struct Count {
        uint64_t times = 0, cycle = 0;  // cycle of the first time
        std::string first;              // the rule and the TLP that broke it first
    };

    explicit BrokenRules(bool counted) : counted_(counted) {}

    // Call it while a Violation is handled: throws that again, or counts it, and prints the first one of each rule.
    void add(uint64_t cycle, const Violation &broken);
    uint64_t total() const { return total_; }
    const std::map<std::string, Count> &rules() const { return rules_; }
    // One line for each rule, or an empty text.
    std::string list() const;

  private:
    static constexpr size_t kMost = 100;  // rules in the list, as some name a number of the TLP

    bool counted_;
    uint64_t total_ = 0;
    std::map<std::string, Count> rules_;
};

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

}  // namespace litepcie
