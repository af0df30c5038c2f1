// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/tlp.h"

#include <array>
#include <cstdint>

namespace litepcie {

// When a receiver gives credits back.
//
// Guideline  the recommended interval of PCIe 3.0 3.5.3.1 after every TLP, one UpdateFC for all classes: the published
//            link models, and the vectors of the tests
// Minimum    only what 2.6.1.2 demands, an UpdateFC for each class: when half of the credits advertised have been used
//            and freed, when the transmitter may not have enough for one more TLP, and every 30 us: real root ports,
//            whose reads are faster than an UpdateFC beside each request would let them be
enum class UpdateFc { Guideline, Minimum };

constexpr double kUpdateFcSeconds = 30e-6;  // the longest from one to the next of a class
constexpr unsigned kCreditBytes = 16;       // of one data credit

// Flow control credits a receiver advertises, by class (TlpClass): headers, and data in units of 16 bytes.
struct Credits {
    static constexpr int64_t kInfinite = INT64_MAX / 2;
    std::array<int64_t, kTlpClasses> header;
    std::array<int64_t, kTlpClasses> data;

    // A class without limits never needs an UpdateFC.
    bool finite(size_t i) const { return header[i] < kInfinite || data[i] < kInfinite; }
};

// Credits as root ports advertise them: posted writes 64 headers and 4 KiB, reads 64, completions without limit.
constexpr Credits kRootPortCredits = {{64, 64, Credits::kInfinite}, {256, 64, Credits::kInfinite}};

// Credits as a hard block advertises them: 32 posted headers and 2 KiB, or one payload of `mps_supported` bytes if that
// is more, 12 reads; completions without limit, as an endpoint must, with a buffer behind (CardInfo) that the card
// must not let overflow.
constexpr Credits card_credits(unsigned mps_supported) {
    const int64_t payload = mps_supported / kCreditBytes;
    return {{32, 12, Credits::kInfinite}, {payload > 128 ? payload : 128, 12, Credits::kInfinite}};
}

// The credits of one direction: those its transmitter has left, and those its receiver freed and has not told of.
class FlowControl {
  public:
    explicit FlowControl(const Credits &advertised) : advertised_(advertised), available_(advertised) {}

    bool has(TlpClass tlp_class, unsigned data) const {
        size_t i = size_t(tlp_class);
        return available_.header[i] >= 1 && available_.data[i] >= int64_t(data);
    }
    void take(TlpClass tlp_class, unsigned data);
    // The receiver's buffer is free again.
    void free(TlpClass tlp_class, unsigned data);
    // An UpdateFC arrives: for one class, for all.
    void grant(size_t i);
    void grant();

    // PCIe 3.0 2.6.1.2 demands an UpdateFC of this class, with payloads of up to `mps` bytes.
    bool must_update(size_t i, unsigned mps) const;
    const Credits &advertised() const { return advertised_; }

  private:
    Credits advertised_, available_;
    Credits freed_{};
};

}  // namespace litepcie
