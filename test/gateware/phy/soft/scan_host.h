// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// A host with a card, whose endpoint is gateware, at the other end of the lane.
#pragma once

#include "Vtop.h"
#include "scan/scan.h"
#include "serdes_pins.h"

#include <cstdio>
#include <functional>

constexpr uint64_t kMillisecond = 125000;  // cycles

// The card, whose only ports are those of its SerDes.
class Host {
  public:
    Host(const litepcie::lane::LaneOptions &wires, const litepcie::lane::RootPortOptions &port, uint64_t seed)
        : lane_(wires, port, seed) {
        top_.sys_rst = 1;
        edge();
        top_.sys_rst = 0;
        lane_.port().training().entered = [](litepcie::lane::LinkState state) { printf("%s\n", info(state).name); };
    }
    ~Host() { top_.final(); }

    void clock() {
        clock_lane(lane_, top_, in_);
        edge();
        cycles++;
    }
    litepcie::lane::DataLink &data_link() { return lane_.port().data_link(); }
    litepcie::lane::Training &training() { return lane_.port().training(); }
    litepcie::lane::FaultInjector &faults() { return lane_.port().faults(); }
    // The card's lane is in electrical idle.
    bool silent() const { return top_.serdes_tx_idle == 3; }
    // Goes on until `done`. False if that takes longer.
    bool run(uint64_t most, const std::function<bool()> &done) {
        for (const uint64_t end = cycles + most; cycles < end && !done();)
            clock();
        return done();
    }
    bool train() {
        return run(100 * kMillisecond, [this] { return data_link().up(); });
    }
    litepcie::scan::Way way() {
        return {[this](litepcie::Tlp tlp) { data_link().send(std::move(tlp)); },
                [this](litepcie::Tlp &tlp) {
                    clock();
                    const bool came = data_link().receive(tlp);
                    if (came)
                        data_link().release(tlp);
                    return came;
                }};
    }
    uint64_t injected() const { return lane_.injected(); }
    Vtop &pins() { return top_; }

    uint64_t cycles = 0;

  private:
    void edge() {
        top_.sys_clk = 0;
        top_.eval();
        top_.sys_clk = 1;
        top_.eval();
    }

    Vtop top_;
    litepcie::lane::SerDesLane lane_;
    litepcie::lane::SerDesInputs in_;
};

// root_port_sleep.cpp and root_port_errors.cpp
int sleeping(int argc, char **argv);
int erring(int argc, char **argv);
