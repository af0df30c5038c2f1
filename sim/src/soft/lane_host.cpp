// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "soft/lane_host.h"

namespace litepcie::soft {

namespace {

constexpr uint8_t kBus = 1;
constexpr uint64_t kBase = 0xfe000000;        // of the BARs
constexpr uint64_t kPatience = kLaneHz / 20;  // 50 ms: the longest time that a completion may take

}  // namespace

LaneHost::LaneHost(const lane::LaneOptions &wires, const lane::RootPortOptions &port, uint64_t seed)
    : lane_(wires, port, seed), requester_({
                                               [this](Tlp tlp) { lane_.port().data_link().send(std::move(tlp)); },
                                               [this](Tlp &tlp) {
                                                   clock();
                                                   const bool came = lane_.port().data_link().receive(tlp);
                                                   if (came)
                                                       lane_.port().data_link().release(tlp);
                                                   return came;
                                               },
                                           },
                                           kBus, kPatience) {}

bool LaneHost::train(uint64_t limit) {
    for (const uint64_t end = cycle_ + limit; cycle_ < end && !lane_.port().data_link().up();)
        clock();
    return lane_.port().data_link().up();
}

const scan::Function &LaneHost::scan(unsigned mps) {
    found_ = scan::scan(requester_, kBase, mps);
    if (found_.bars.empty())
        throw scan::ScanError("the card has no BAR");
    return found_;
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
