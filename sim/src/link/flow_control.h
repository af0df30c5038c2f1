// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "tlp/tlp.h"

#include <array>
#include <cstdint>

namespace litepcie {

// When a receiver returns credits.
//
// Guideline: after a TLP, at the interval that PCIe 3.0 3.5.3.1 recommends, with one UpdateFC for all classes.
// Published link models and the vectors of the tests assume this.
//
// Minimum: only when PCIe 3.0 2.6.1.2 demands it, with an UpdateFC for each class: when half of the advertised credits
// have been used and freed, when the transmitter may lack credit for one more TLP, and every 30 us. Real root ports
// come close to this: measured reads are faster than an UpdateFC for each request would allow.
//
// PerType: at the recommended interval too, but with an UpdateFC for each class, as the specification has it, and none
// for a class with infinite credits. So do the ends of a lane whose symbols are counted (lane/).
enum class UpdateFc { Guideline, Minimum, PerType };

constexpr double kUpdateFcSeconds = 30e-6;  // longest time between two UpdateFCs of a class
constexpr unsigned kCreditBytes = 16;       // bytes of one data credit

// Flow control credits that a receiver advertises, indexed by TlpClass: headers, and data in units of kCreditBytes.
struct Credits {
    static constexpr int64_t kInfinite = INT64_MAX / 2;
    std::array<int64_t, kTlpClasses> header;
    std::array<int64_t, kTlpClasses> data;

    // False for a class with infinite credits, which never needs an UpdateFC.
    bool finite(size_t i) const { return header[i] < kInfinite || data[i] < kInfinite; }
    // Whether a write of `mps` bytes can ever be sent.
    bool hold_write(unsigned mps) const { return data[size_t(TlpClass::Posted)] >= int64_t(mps / kCreditBytes); }
};

// Typical credits of a root port: 64 posted headers and 4 KiB of posted data, 64 reads, infinite completions.
constexpr Credits kRootPortCredits = {{64, 64, Credits::kInfinite}, {256, 64, Credits::kInfinite}};

// Typical credits of a hard block: 32 posted headers, 2 KiB of posted data or one payload of `mps_supported` bytes if
// that is more, and 12 reads. Completion credits are infinite, as the specification demands of an endpoint. The
// completion buffer is finite nevertheless (CardInfo), and the card must limit its reads so that it never overflows.
constexpr Credits card_credits(unsigned mps_supported) {
    const int64_t payload = mps_supported / kCreditBytes;
    return {{32, 12, Credits::kInfinite}, {payload > 128 ? payload : 128, 12, Credits::kInfinite}};
}

// The credits of one direction: those left to the transmitter, those that an UpdateFC on the wire announces, and those
// that the receiver has freed but not yet announced.
class FlowControl {
  public:
    explicit FlowControl(const Credits &advertised) : advertised_(advertised), available_(advertised) {}

    bool has(TlpClass tlp_class, unsigned data) const {
        size_t i = size_t(tlp_class);
        return available_.header[i] >= 1 && available_.data[i] >= int64_t(data);
    }
    void take(TlpClass tlp_class, unsigned data);
    // The receiver has freed the buffer of a TLP.
    void free(TlpClass tlp_class, unsigned data);
    // An UpdateFC leaves the receiver, for one class or for all: returns what it announces.
    Credits announce(size_t i);
    Credits announce();
    // It arrives at the transmitter.
    void grant(const Credits &announced);
    // The transmitter learns of all freed credits at once.
    void grant_all();

    // Whether the receiver has freed credits of a class that it has not announced.
    bool unannounced(size_t i) const { return freed_.header[i] != 0; }
    // Whether PCIe 3.0 2.6.1.2 demands an UpdateFC for this class now, where payloads have up to `mps` bytes.
    bool must_update(size_t i, unsigned mps) const;
    const Credits &advertised() const { return advertised_; }

  private:
    Credits advertised_, available_;
    Credits announced_{}, freed_{};
};

}  // namespace litepcie
