// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "endpoint.h"
#include "random_tlps.h"

#include <cstdio>
#include <memory>

constexpr uint64_t kMillisecond = 125000;  // cycles

// An endpoint, a root port that can be replaced, and random TLPs both ways.
struct Session {
    explicit Session(uint64_t seed, const litepcie::lane::LaneOptions &wires = {})
        : seed(seed), random(seed), wires(wires), endpoint(seed, 10, 25) {
        begin();
    }

    // Another port, or none: one that finds no receiver stays silent.
    void begin(bool present = true) {
        litepcie::lane::RootPortOptions options;
        options.training.link_number = uint8_t(random());
        options.training.present = present;
        options.training.quiet_since = 3000000 - 1000;
        lane = std::make_unique<litepcie::lane::SerDesLane>(wires, options, seed);
        // A port without a receiver goes to Detect again and again.
        if (present)
            lane->port().training().entered = [this](litepcie::lane::LinkState state) {
                printf("%s ", litepcie::lane::info(state).name);
                recoveries += state == litepcie::lane::LinkState::RecoveryLock;
            };
    }
    litepcie::lane::Training &training() { return lane->port().training(); }
    litepcie::lane::DataLink &data_link() { return lane->port().data_link(); }
    bool up() { return endpoint.dl_up() && data_link().up() && training().active(); }
    // Goes on until `done`, or for the time. False if it is over.
    template <typename Done> bool run(unsigned milliseconds, Done done) {
        for (uint64_t end = cycle + milliseconds * kMillisecond; cycle < end; cycle++) {
            endpoint.clock(*lane);
            for (Tlp tlp; data_link().receive(tlp); got.push_back(tlp))
                data_link().release(tlp);
            if (done())
                return true;
        }
        return false;
    }
    // TLPs both ways.
    bool exchange(unsigned count, unsigned milliseconds = 2) {
        std::vector<Tlp> down, up;
        got.clear(), endpoint.received.clear();
        for (unsigned i = 0; i < count; i++) {
            down.push_back(random_tlp(random)), up.push_back(random_tlp(random));
            endpoint.send(up.back()), data_link().send(down.back());
        }
        run(milliseconds,
            [&] { return endpoint.received.size() == count && got.size() == count && data_link().quiet(); });
        return same(down, endpoint.received) && same(up, got);
    }

    uint64_t seed, cycle = 0, recoveries = 0;
    std::minstd_rand random;
    litepcie::lane::LaneOptions wires;
    Endpoint endpoint;
    std::unique_ptr<litepcie::lane::SerDesLane> lane;
    std::vector<Tlp> got;
};
