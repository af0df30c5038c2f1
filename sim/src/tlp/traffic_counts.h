// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "tlp/tlp.h"

#include <cstdint>
#include <ctime>
#include <map>
#include <string>

namespace litepcie {

// Counts of TLPs in each direction, by name (MRd32, CplD ...).
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

// Measures wall time and processor time of this thread while the simulated clock runs.
class BusyClock {
  public:
    void start() {
        begin_ = now();
        running_ = true;
    }
    void stop() {
        sum_ = elapsed();
        running_ = false;
    }
    double wall_seconds() const { return elapsed().wall; }
    double processor_seconds() const { return elapsed().processor; }

  private:
    struct Times {
        double wall = 0, processor = 0;
    };

    static double read(clockid_t clock) {
        timespec time;
        clock_gettime(clock, &time);
        return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
    }
    static Times now() { return {read(CLOCK_MONOTONIC), read(CLOCK_THREAD_CPUTIME_ID)}; }
    Times elapsed() const {
        if (!running_)
            return sum_;
        Times end = now();
        return {sum_.wall + end.wall - begin_.wall, sum_.processor + end.processor - begin_.processor};
    }

    Times begin_, sum_;
    bool running_ = false;
};

}  // namespace litepcie
