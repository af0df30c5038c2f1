// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// A host with a card, whose endpoint is gateware, at the other end of the lane.
#pragma once

#include "Vtop.h"
#include "root/scan.h"
#include "serdes_pins.h"

#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

constexpr uint64_t kMillisecond = 125000;  // cycles
constexpr uint64_t kBase = 0xfe000000;     // of BAR0
constexpr unsigned kCommand = 0x04, kPowerControl = 0x44, kDeviceControl = 0x68;

inline void expect(bool right, const std::string &what) {
    if (!right)
        throw std::runtime_error(what);
}

// Runs what throws if it fails, and prints that. Returns the exit status.
inline int checked(const std::function<void()> &run) {
    try {
        run();
        return 0;
    } catch (const std::exception &error) {
        printf("%s\n", error.what());
        return 1;
    }
}

// A port that leaves Detect soon.
inline litepcie::lane::RootPortOptions soon() {
    litepcie::lane::RootPortOptions port;
    port.training.quiet_since = 3000000 - 1000;
    return port;
}

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
    void train() {
        expect(run(100 * kMillisecond, [this] { return data_link().up(); }), "the link does not train");
    }
    void wait_for_end() {
        expect(run(10 * kMillisecond, [this] { return !data_link().up(); }), "the link does not end");
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
