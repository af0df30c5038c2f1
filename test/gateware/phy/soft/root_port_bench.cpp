// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The stack of the endpoint in gateware against the root port of sim/src/lane, from Detect to TLPs both ways.
// Arguments: FIRST_SEED RUNS TLPS ERRORS_EVERY RECOVERIES ELASTIC. Prints a line per run that fails, and a summary.
#include "endpoint.h"
#include "random_tlps.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

using namespace litepcie;
using namespace litepcie::lane;

namespace {

struct Plan {
    unsigned tlps, errors_every, recoveries;
    bool elastic;  // symbols go through the elastic buffer of the card
};

struct Totals {
    uint64_t cycles = 0, longest = 0, injected = 0, added = 0, removed = 0, recoveries = 0, replays = 0;
    uint64_t early = 0, card_added = 0, card_removed = 0;
    std::array<uint64_t, 8> events{};
};

LaneOptions random_lane(std::minstd_rand &random, const Plan &plan, bool steady_skips) {
    LaneOptions lane;
    lane.drift = steady_skips ? int(random() % 1201) - 600 : 0;
    lane.down_swapped = random() % 2, lane.up_swapped = random() % 2;
    lane.down_shift = random() % 2, lane.up_shift = random() % 2;
    lane.down_errors_every = lane.up_errors_every = plan.errors_every;
    lane.reset_cycles = 1 + random() % 3000, lane.detect_cycles = 1 + random() % 1000;
    return lane;
}

// As usual, the least that the specification allows, or all infinite.
Credits random_credits(std::minstd_rand &random) {
    constexpr int64_t kInfinite = Credits::kInfinite;
    constexpr Credits kChoices[] = {
        kRootPortCredits,
        {{1, 1, kInfinite}, {8, 1, kInfinite}},
        {{1, 1, 1}, {8, 1, 8}},
        {{kInfinite, kInfinite, kInfinite}, {kInfinite, kInfinite, kInfinite}},
        {{127, 127, 127}, {2047, 127, 2047}},
    };
    return kChoices[random() % std::size(kChoices)];
}

RootPortOptions random_port(std::minstd_rand &random, bool steady_skips) {
    RootPortOptions port;
    port.skips = steady_skips ? 3 : 0;
    port.skip_interval = random() % 4 ? 0 : random() % 2 ? 1180 : 1538;
    port.training.link_number = uint8_t(random() % 256);
    port.training.n_fts = uint8_t(random() % 256);
    port.training.rates = random() % 3 == 0 ? 0x0e : random() % 2 ? 0x06 : 0x02;
    port.training.scrambling = random() % 16;
    port.data_link.credits = random_credits(random);
    port.data_link.update_fc = random() % 2 ? UpdateFc::Minimum : UpdateFc::Guideline;
    if (random() % 4)
        port.data_link.update_delay = random() % 8 ? random() % 2000 : 0;
    port.training.slowness = random() % 3 * 300;
    const uint64_t whole = info(LinkState::DetectQuiet).microseconds * kSymbolsPerMicrosecond;
    // Else the card is the first one to leave Detect.
    port.training.quiet_since = random() % 4 ? whole - random() % 8000 : 0;
    return port;
}

bool run(uint64_t seed, const Plan &plan, Totals &totals) {
    std::minstd_rand random(seed * 7919 + 1);
    const bool steady_skips = random() % 2;
    const LaneOptions wires = random_lane(random, plan, steady_skips);
    SerDesLane lane(wires, random_port(random, steady_skips), seed);
    Endpoint endpoint(seed, 10, 25);
    endpoint.elastic = plan.elastic;
    RootPort &port = lane.port();
    uint64_t recoveries = 0;
    port.training().entered = [&](LinkState state) { recoveries += state == LinkState::RecoveryLock; };

    std::vector<Tlp> down, up, got;
    for (unsigned i = 0; i < plan.tlps; i++) {
        down.push_back(random_tlp(random)), up.push_back(random_tlp(random));
        endpoint.send(up.back());
    }
    size_t given = 0;
    unsigned left = plan.recoveries;
    const uint64_t most = 100000 + 4000 * plan.tlps + 100000 * plan.recoveries;
    uint64_t cycle = 0;
    for (; cycle < most; cycle++) {
        endpoint.clock(lane);
        DataLink &data_link = port.data_link();
        // With infinite credits, the card may have to wait for a TLP until its flow control is initialized.
        if (!data_link.up())
            continue;
        if (given < down.size() && random() % 32 == 0)
            data_link.send(down[given++]);
        for (Tlp tlp; data_link.receive(tlp); got.push_back(tlp))
            data_link.release(tlp);
        if (left && port.training().active() && random() % 2000 == 0)
            port.training().retrain(), left--;
        if (given == down.size() && endpoint.received.size() >= down.size() && got.size() >= up.size() &&
            data_link.quiet() && !left && port.training().active() && endpoint.state() == Endpoint::kL0)
            break;
    }
    const bool passed = cycle < most && same(down, endpoint.received) && same(up, got);
    const DataLinkCounts &counts = port.data_link().counts();
    const bool clean = !plan.errors_every && !plan.recoveries;
    if (!passed || (clean && (counts.bad_tlps || counts.bad_dllps || counts.late_updates)) || counts.protocol_errors ||
        endpoint.events[6]) {
        printf("seed %" PRIu64 ": cycle %" PRIu64
               ", endpoint in state %u, port in %s, %zu of %zu TLPs down, %zu of %zu "
               "up, bad TLPs %" PRIu64 ", bad DLLPs %" PRIu64 ", late updates %" PRIu64 ", protocol errors %" PRIu64
               " and %" PRIu64 "\n",
               seed, cycle, endpoint.state(), info(port.training().state()).name, endpoint.received.size(), down.size(),
               got.size(), up.size(), counts.bad_tlps, counts.bad_dllps, counts.late_updates, counts.protocol_errors,
               endpoint.events[6]);
        return false;
    }
    totals.cycles += cycle;
    totals.card_added += endpoint.elastic_added, totals.card_removed += endpoint.elastic_removed;
    totals.early += endpoint.early;
    totals.longest = std::max(totals.longest, cycle);
    totals.injected += lane.injected(), totals.added += lane.added(), totals.removed += lane.removed();
    totals.recoveries += recoveries, totals.replays += counts.replays;
    for (unsigned i = 0; i < totals.events.size(); i++)
        totals.events[i] += endpoint.events[i];
    return true;
}

}  // namespace

int links(int argc, char **argv) {
    if (argc != 7)
        return 2;
    const auto number = [&](int i) { return unsigned(atoi(argv[i])); };
    const Plan plan{number(3), number(4), number(5), number(6) != 0};
    Totals totals;
    unsigned failed = 0;
    for (unsigned i = 0; i < number(2); i++)
        failed += !run(number(1) + i, plan, totals);
    printf("failed %u cycles %" PRIu64 " longest %" PRIu64 " injected %" PRIu64 " added %" PRIu64 " removed %" PRIu64
           " recoveries %" PRIu64 " replays_down %" PRIu64 " lcrc %" PRIu64 " dllp %" PRIu64 " replays_up %" PRIu64
           " early %" PRIu64 " overflows %" PRIu64 " card_added %" PRIu64 " card_removed %" PRIu64 "\n",
           failed, totals.cycles, totals.longest, totals.injected, totals.added, totals.removed, totals.recoveries,
           totals.replays, totals.events[0], totals.events[1], totals.events[4], totals.early, totals.events[7],
           totals.card_added, totals.card_removed);
    return failed != 0;
}
