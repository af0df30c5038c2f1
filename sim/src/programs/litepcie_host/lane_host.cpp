// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/lane_host.h"

#include <poll.h>

namespace litepcie::soft {

namespace {

constexpr uint8_t kBus = 1;
constexpr uint64_t kBase = 0xfe000000;  // of the BARs
constexpr unsigned kExpressId = 0x10, kDeviceControl = 0x08;
constexpr unsigned kTurn = 2000;  // cycles between two looks at a serial port
constexpr int kIdleMilliseconds = 10;
constexpr uint64_t kPatience = kLaneHz / 20;  // 50 ms: the longest time that a completion may take

}  // namespace

LaneHost::LaneHost(const LaneSettings &settings, uint64_t seed)
    : lane_(settings.wires, settings.port, seed), errors_(kBus << 8),
      requester_({
                     [this](Tlp tlp) { lane_.port().data_link().send(std::move(tlp)); },
                     [this](Tlp &tlp) {
                         clock();
                         const bool came = lane_.port().data_link().receive(tlp);
                         if (came)
                             lane_.port().data_link().release(tlp);
                         return came && !errors_.take(tlp);
                     },
                 },
                 kBus, kPatience) {
    for (const auto &[fault, every] : settings.faults)
        lane_.port().faults().arm(fault, every);
}

bool LaneHost::run_until(const std::function<bool()> &done, uint64_t limit) {
    for (const uint64_t end = cycle_ + limit; cycle_ < end && !done();)
        clock();
    return done();
}

bool LaneHost::train(uint64_t limit) {
    return run_until([this] { return lane_.port().data_link().up(); }, limit);
}

void LaneHost::serve(SerialPort &port, int stop) {
    Uart &uart = card_->serial();
    pollfd stopped = {stop, POLLIN, 0};
    while (poll(&stopped, 1, 0) == 0) {
        // Time goes on while nobody asks, but it takes little of the processor's.
        port.exchange(uart.from_card, uart.to_card, stop, uart.idle() ? kIdleMilliseconds : 0);
        for (unsigned i = 0; i < kTurn; i++)
            clock();
    }
}

bool LaneHost::reset_link(bool disable, unsigned requests, uint64_t cycles, uint64_t limit) {
    lane::DataLink &link = lane_.port().data_link();
    const uint8_t data[4] = {1, 2, 3, 4};
    for (unsigned i = 0; i < requests; i++)
        link.send(i % 3 ? Tlp::memory_read(0, uint8_t(i & 31), address(0), 4)
                        : Tlp::memory_write(0, address(0x28), data, 4));
    run_until([] { return false; }, cycles);
    lane::Training &training = lane_.port().training();
    disable ? training.disable() : training.hot_reset();
    if (!run_until([&link] { return !link.up(); }, limit))
        return false;
    if (disable) {
        run_until([] { return false; }, kLaneHz / 1000);
        training.enable();
    }
    // What came before is not for the requests that follow.
    for (Tlp tlp; link.receive(tlp); link.release(tlp))
        errors_.take(tlp);
    return train(limit);
}

const scan::Function &LaneHost::scan(unsigned mps, bool report) {
    found_ = scan::scan(requester_, kBase, mps);
    if (found_.bars.empty())
        throw scan::ScanError("the card has no BAR");
    lane_.port().data_link().set_mps(found_.mps);
    if (report)
        report_errors();
    return found_;
}

void LaneHost::report_errors() {
    const unsigned control = found_.find(kExpressId)->offset + kDeviceControl;
    errors_.set_device_control(ErrorMessages::kAll);
    requester_.config_write(0, control, requester_.config_read(0, control).value | ErrorMessages::kAll, 3);
}

uint64_t LaneHost::address(uint32_t offset) const {
    if (offset >= found_.bars.at(0).size)
        throw scan::ScanError("the offset is outside BAR0");
    return found_.bars[0].address + offset;
}

uint32_t LaneHost::read(uint32_t offset) {
    const auto answer = requester_.memory_read(address(offset));
    if (answer.status != CplStatus::Success)
        throw scan::ScanError("the card did not answer a read of a register with data");
    return answer.value;
}

void LaneHost::write(uint32_t offset, uint32_t value) { requester_.memory_write(address(offset), value); }

}  // namespace litepcie::soft
