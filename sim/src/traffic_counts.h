// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "tlp.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace litepcie {

// TLPs by name (MRd32, CplD ...), each way.
struct TrafficCounts {
    struct Count {
        uint64_t tlps = 0, payload_bytes = 0, wire_bytes = 0;
    };
    std::map<std::string, Count> to_host, to_card;

    static void add(std::map<std::string, Count> &counts, const char *name, unsigned payload, unsigned wire) {
        Count &count = counts[name];
        count.tlps++;
        count.payload_bytes += payload;
        count.wire_bytes += wire;
    }
    static void add(std::map<std::string, Count> &counts, const Tlp &tlp) {
        add(counts, tlp.name(), 4 * tlp.payload_dwords(), tlp.wire_bytes());
    }
};

// Wall time while the clock of the model runs.
class BusyClock {
  public:
    void start() { start_ = Clock::now(); running_ = true; }
    void stop() { sum_ = seconds(); running_ = false; }
    double seconds() const {
        return sum_ + (running_ ? std::chrono::duration<double>(Clock::now() - start_).count() : 0);
    }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_;
    bool running_ = false;
    double sum_ = 0;
};

}  // namespace litepcie
