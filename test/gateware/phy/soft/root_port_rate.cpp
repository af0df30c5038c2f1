// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Payload per second of the stack of the endpoint against the root port of sim/src/lane, with every dword compared.
// Arguments: TLPS PAYLOAD UP DOWN ERRORS_EVERY. UP: memory writes of the card; DOWN: 1: completions to it, 2: memory
// writes.
#include "endpoint.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

using namespace litepcie;
using namespace litepcie::lane;

namespace {

constexpr double kHz = 125e6;
constexpr unsigned kDelay = 63;  // cycles: 1 us there and back

// Numbered TLPs of one direction, and what of them has arrived.
struct Stream {
    bool writes;
    unsigned payload;
    uint64_t most, sent = 0, arrived = 0, wrong = 0, first = 0, last = 0;

    Tlp make(uint64_t number) const {
        std::vector<uint8_t> data(payload);
        for (unsigned i = 0; i < payload; i++)
            data[i] = uint8_t((number * 0x9e3779b97f4a7c15 + i * 0x85ebca6b) >> 24);
        if (writes)
            return Tlp::memory_write(0x0100, 0x10000000 + number * payload % 0x10000000, data.data(), payload);
        return Tlp::completion_data(0, 0x0100, uint8_t(number), payload, 0, data.data(), payload / 4);
    }
    bool more() const { return sent < most; }
    void take(const Tlp &tlp, uint64_t cycle) {
        wrong += tlp.dw != make(arrived++).dw;
        (arrived == 1 ? first : last) = cycle;
    }
    double rate() const { return most < 2 ? 0 : double(most - 1) * payload * kHz / double(last - first); }
};

}  // namespace

int rates(int argc, char **argv) {
    if (argc != 6)
        return 2;
    const auto number = [&](int i) { return unsigned(atoi(argv[i])); };
    const unsigned payload = number(2);
    Stream up{true, payload, number(3) ? number(1) : 0}, down{number(4) == 2, payload, number(4) ? number(1) : 0};
    LaneOptions wires;
    wires.delay = kDelay;
    wires.down_errors_every = wires.up_errors_every = number(5);
    RootPortOptions options;
    options.training.quiet_since = 3000000 - 1000;
    options.data_link.mps = payload <= 128 ? 128 : 256;
    options.data_link.credits = {{32, 32, Credits::kInfinite}, {128, 32, Credits::kInfinite}};
    SerDesLane lane(wires, options, 1);
    Endpoint endpoint(1, 0, 0);
    uint64_t cycle = 0;
    endpoint.took = [&](Tlp tlp) { down.take(tlp, cycle); };
    DataLink &data_link = lane.port().data_link();
    const uint64_t limit = 1000000 + uint64_t(number(1)) * 1000;
    unsigned backlog = 0;
    for (; cycle < limit && (up.arrived < up.most || down.arrived < down.most); cycle++) {
        endpoint.clock(lane);
        for (Tlp tlp; data_link.receive(tlp); up.take(tlp, cycle))
            data_link.release(tlp);
        if (!data_link.up() || !endpoint.dl_up())
            continue;
        if (up.more() && endpoint.waiting(TlpClass::Posted) < 2)
            endpoint.send(up.make(up.sent++));
        for (backlog = unsigned(down.sent - data_link.counts().sent); down.more() && backlog < 2; backlog++)
            data_link.send(down.make(down.sent++));
    }
    const bool passed = up.arrived == up.most && down.arrived == down.most && !up.wrong && !down.wrong;
    printf("passed %d up %.0f down %.0f injected %" PRIu64 " replays %" PRIu64 " timeouts %" PRIu64 " late %" PRIu64
           " cycles %" PRIu64 "\n",
           passed, up.rate(), down.rate(), lane.injected(), endpoint.events[4] + data_link.counts().replays,
           endpoint.events[5] + data_link.counts().timeouts, data_link.counts().late_updates, cycle);
    return !passed;
}
