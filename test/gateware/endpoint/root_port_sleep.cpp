// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The link sleeps when the host sends the card to D3hot, and after PME_Turn_Off, in spite of whatever comes between.
// Arguments: SEED CASE. Prints the states of the root port, and "passed" or what failed.
#include "scan_host.h"

#include <cstring>
#include <random>

using namespace litepcie;
using namespace litepcie::lane;

namespace {

constexpr unsigned kBar0 = 0x10, kDeviceCapabilities = 0x64, kPowerLimit = 0x1fa;
constexpr uint32_t kValue = 0x600dcafe;

class Sleeper {
  public:
    Sleeper(uint64_t seed, const RootPortOptions &port, const LaneOptions &wires = {})
        : random_(seed), host_(wires, port, seed), requester_(host_.way(), 1, 20 * kMillisecond) {
        requester_.other = [this](const Tlp &tlp) { acks_ += tlp.is_message() && tlp.message_code() == Tlp::PmeToAck; };
        begin();
    }

    // Scans the card, and leaves a value in its memory.
    void begin() {
        host_.train();
        scan::scan(requester_, kBase);
        requester_.memory_write(kBase, kValue);
        expect(memory() == kValue, "the memory does not hold its value");
        expect((requester_.config_read(0, kDeviceCapabilities).value >> 18 & 0x3ff) == kPowerLimit,
               "the power limit is not captured");
    }
    void sleep() { requester_.config_write(0, kPowerControl, 3); }
    void wake() { requester_.config_write(0, kPowerControl, 0); }
    uint32_t memory() { return requester_.memory_read(kBase).value; }
    void expect_asleep(LinkState state = LinkState::L1) {
        const auto asleep = [&] { return host_.training().state() == state && host_.silent(); };
        expect(host_.run(kMillisecond, asleep), std::string("the link does not sleep in ") + info(state).name);
        // Neither side wakes it.
        expect(!host_.run(5 * kMillisecond, [&] { return !asleep(); }), "the link does not go on sleeping");
        expect(host_.data_link().up(), "the data link layer is down");
    }
    void expect_awake() {
        expect(host_.run(kMillisecond, [&] { return host_.training().active(); }), "the link does not wake");
        expect(!host_.run(kMillisecond, [&] { return !host_.training().active(); }), "the link does not stay in L0");
        expect(memory() == kValue, "the memory has lost its value");
        expect((requester_.config_read(0, kPowerControl).value & 3) == 0, "the card is not in D0");
    }
    void pass(uint64_t cycles) {
        host_.run(cycles, [] { return false; });
    }

    // D3hot, requests that wake the link for their answer, and D0.
    void enter() {
        sleep();
        expect_asleep();
        expect(requester_.memory_read(kBase).status == CplStatus::Unsupported, "a read is not refused in D3hot");
        expect_asleep();
        expect(requester_.config_read(0, kPowerControl).value == 0xb, "PMCSR is not as it was written");
        expect_asleep();
        // Nothing answers a write.
        requester_.memory_write(kBase, 1);
        expect(host_.run(kMillisecond, [&] { return host_.training().active(); }), "a write does not wake the link");
        expect_asleep();
        wake();
        expect_awake();
    }
    // The port never agrees, and the card answers all the same.
    void alone() {
        sleep();
        pass(kMillisecond);
        expect(host_.data_link().counts().sleep_requests > 20000, "the card does not ask every 12 symbols");
        expect(host_.training().active(), "the link does not stay in L0");
        expect(requester_.config_read(0, kPowerControl).value == 0xb, "PMCSR is not as it was written");
        wake();
        pass(1000);
        expect_awake();
        expect(host_.training().active(), "the link sleeps");
    }
    void unasked() {
        host_.faults().arm(Fault::UnaskedSleep, 2);
        for (unsigned i = 0; i < 100; i++)
            expect(memory() == kValue && host_.training().active(), "PM_Request_Ack is taken without being asked for");
        host_.faults().arm(Fault::UnaskedSleep, 0);
        enter();
    }
    // A request, or Recovery, at any moment of the entry.
    void crossing() {
        for (unsigned i = 0; i < 30; i++) {
            sleep();
            pass(random_() % 1000);
            if (random_() % 4 == 0)
                host_.training().retrain(), pass(random_() % 500);
            if (random_() % 2)
                expect(requester_.config_read(0, kPowerControl).value == 0xb, "PMCSR is not as it was written");
            if (random_() % 4 == 0)
                expect_asleep();
            wake();
        }
        expect_awake();
    }
    // A function level reset at any moment of the entry. The card is in D0 after it.
    void function_reset() {
        for (unsigned i = 0; i < 8; i++) {
            sleep();
            pass(i ? random_() % 1000 : kMillisecond);
            requester_.config_write(0, kDeviceControl, 0xa810);
            pass(kMillisecond / 10);
            requester_.config_write(0, kBar0, uint32_t(kBase));
            requester_.config_write(0, 4, 6);
            expect_awake();
        }
    }
    void hot_reset() {
        for (unsigned i = 0; i < 4; i++) {
            sleep();
            pass(i ? random_() % 1000 : kMillisecond);
            reset();
            expect_awake();
        }
    }
    // The host wakes the link by training it anew.
    void turn_off() {
        for (unsigned i = 0; i < 3; i++) {
            if (i)
                sleep(), pass(random_() % 1000);
            announce();
            expect_asleep(LinkState::L2);
            reset();
            expect_awake();
        }
    }
    void turn_off_alone() {
        announce();
        pass(kMillisecond);
        expect(host_.training().active() && host_.data_link().counts().sleep_requests > 1000, "the link is not in L0");
        expect(memory() == kValue, "the memory is not read");
        reset();
        expect_awake();
    }

  private:
    void announce() {
        const unsigned before = acks_;
        host_.data_link().send(Tlp::message(0, Tlp::Broadcast, Tlp::PmeTurnOff));
        Tlp tlp;
        const auto answered = [&] {
            while (host_.data_link().receive(tlp)) {
                host_.data_link().release(tlp);
                acks_ += tlp.dw[0] == 0x35000000 && tlp.dw[1] == (0x01000000 | Tlp::PmeToAck);
            }
            return acks_ != before;
        };
        expect(host_.run(kMillisecond, answered), "PME_Turn_Off is not answered");
    }
    void reset() {
        host_.training().hot_reset();
        host_.wait_for_end();
        begin();
    }

    std::minstd_rand random_;
    Host host_;
    scan::Requester requester_;
    unsigned acks_ = 0;  // PME_TO_Ack
};

}  // namespace

int sleeping(int argc, char **argv) {
    static const std::map<std::string, void (Sleeper::*)()> kCases = {{"enter", &Sleeper::enter},
                                                                      {"alone", &Sleeper::alone},
                                                                      {"unasked", &Sleeper::unasked},
                                                                      {"crossing", &Sleeper::crossing},
                                                                      {"crossing-errors", &Sleeper::crossing},
                                                                      {"function-reset", &Sleeper::function_reset},
                                                                      {"hot-reset", &Sleeper::hot_reset},
                                                                      {"turn-off", &Sleeper::turn_off},
                                                                      {"turn-off-alone", &Sleeper::turn_off_alone}};
    const auto found = argc == 3 ? kCases.find(argv[2]) : kCases.end();
    if (found == kCases.end())
        return 2;
    RootPortOptions port = soon();
    port.data_link.power_limit = kPowerLimit;
    port.data_link.sleeps = !strstr(argv[2], "alone");
    LaneOptions wires;
    if (strstr(argv[2], "errors"))
        wires.up_errors_every = wires.down_errors_every = 3000;
    return checked([&] {
        Sleeper sleep(uint64_t(atoi(argv[1])), port, wires);
        (sleep.*found->second)();
        printf("passed\n");
    });
}
