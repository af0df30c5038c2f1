// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/flow_control.h"
#include "tlp/tlp.h"

#include <array>

namespace litepcie::lane {

// The credits that the partner gives: what may be sent (PCIe 2.1 2.6.1.2, transmitter).
class CreditLimits {
  public:
    // The values of the initialization, where 0 is infinite. They may come again.
    void record(unsigned tlp_class, unsigned headers, unsigned data) {
        pools_[tlp_class] = {Pool{headers, 0, headers == 0}, Pool{data, 0, data == 0}};
        recorded_ |= 1u << tlp_class;
    }
    void update(unsigned tlp_class, unsigned headers, unsigned data) {
        pools_[tlp_class][0].limit = headers;
        pools_[tlp_class][1].limit = data;
    }
    bool finite(unsigned tlp_class) const { return !pools_[tlp_class][0].infinite || !pools_[tlp_class][1].infinite; }
    bool recorded() const { return recorded_ == (1u << kTlpClasses) - 1; }
    bool allow(const Tlp &tlp) const {
        const auto &pools = pools_[unsigned(tlp.credit_class())];
        return pools[0].allows(1, 0xff) && pools[1].allows(tlp.data_credits(), 0xfff);
    }
    void consume(const Tlp &tlp) {
        auto &pools = pools_[unsigned(tlp.credit_class())];
        pools[0].consumed++;
        pools[1].consumed += tlp.data_credits();
    }

  private:
    struct Pool {
        unsigned limit = 0, consumed = 0;
        bool infinite = false;
        bool allows(unsigned need, unsigned mask) const {
            return infinite || ((limit - consumed - need) & mask) <= mask / 2;
        }
    };
    std::array<std::array<Pool, 2>, kTlpClasses> pools_{};
    unsigned recorded_ = 0;
};

// The credits that the partner gets: what it may send, and when it is told of more (receiver).
class CreditGrants {
  public:
    explicit CreditGrants(const Credits &advertised)
        : advertised_(advertised), allocated_(advertised), announced_(advertised) {}

    bool infinite(unsigned tlp_class) const { return !advertised_.finite(tlp_class); }
    // Fields of InitFC and UpdateFC.
    unsigned headers(unsigned tlp_class) const { return field(advertised_.header, allocated_.header, tlp_class); }
    unsigned data(unsigned tlp_class) const { return field(advertised_.data, allocated_.data, tlp_class); }
    // A TLP came. False if the partner had no credits for it.
    bool receive(const Tlp &tlp) {
        const unsigned i = unsigned(tlp.credit_class());
        received_.header[i]++;
        received_.data[i] += tlp.data_credits();
        return within(advertised_.header[i], received_.header[i], allocated_.header[i]) &&
               within(advertised_.data[i], received_.data[i], allocated_.data[i]);
    }
    // The room of a TLP is free again.
    void release(const Tlp &tlp) {
        const unsigned i = unsigned(tlp.credit_class());
        allocated_.header[i]++;
        allocated_.data[i] += tlp.data_credits();
    }
    // An UpdateFC tells the partner of all that is free.
    void announce(unsigned i) {
        announced_.header[i] = allocated_.header[i];
        announced_.data[i] = allocated_.data[i];
    }
    // Whether the partner may lack credits for one more TLP with up to `mps` bytes (PCIe 2.1 2.6.1.2).
    bool scarce(unsigned i, unsigned mps) const {
        const int64_t data = TlpClass(i) == TlpClass::NonPosted ? 1 : mps / kCreditBytes;
        return announced_.header[i] - received_.header[i] < 1 || announced_.data[i] - received_.data[i] < data;
    }
    // Whether half of the room is free again, and the partner does not know.
    bool half(unsigned i) const {
        return 2 * (allocated_.header[i] - announced_.header[i]) >= advertised_.header[i] ||
               2 * (allocated_.data[i] - announced_.data[i]) >= advertised_.data[i];
    }
    void reset() {
        allocated_ = announced_ = advertised_;
        received_ = {};
    }

  private:
    using Pools = std::array<int64_t, kTlpClasses>;
    static unsigned field(const Pools &advertised, const Pools &allocated, unsigned i) {
        return advertised[i] < Credits::kInfinite ? unsigned(allocated[i]) : 0;
    }
    static bool within(int64_t advertised, int64_t received, int64_t allocated) {
        return advertised >= Credits::kInfinite || received <= allocated;
    }

    Credits advertised_, allocated_, announced_, received_{};
};

}  // namespace litepcie::lane
