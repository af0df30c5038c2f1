// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The stack of the endpoint in gateware against the root port of sim/src/lane. Arguments:
// links FIRST_SEED RUNS TLPS ERRORS_EVERY RECOVERIES ELASTIC: from Detect to TLPs both ways. Prints a line per run that
// fails, and a summary.
// rates TLPS PAYLOAD UP DOWN ERRORS_EVERY: payload per second, with every dword compared. UP: memory writes of the
// card; DOWN: 1: completions to it, 2: memory writes. resets SEED EVENT: what ends a link, and the link after it; EVENT
// is hot, disable, perst (of the card alone), both, host (another port, and no reset of the card) or pull (no port for
// 60 ms); or Loopback over random wires, which the port asks for in recovery or in configuration, or with errors (on
// the way to the card).
#include "endpoint.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

using namespace litepcie;
using namespace litepcie::lane;

namespace {

constexpr uint64_t kMillisecond = 125000;  // cycles
constexpr double kHz = 125e6;
constexpr unsigned kDelay = 63;                    // cycles: 1 us there and back
constexpr uint64_t kAlmostQuiet = 3000000 - 1000;  // symbols in Detect.Quiet: the port leaves it soon

unsigned number(const char *text) { return unsigned(atoi(text)); }

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

int links(int argc, char **argv) {
    if (argc != 7)
        return 2;
    const Plan plan{number(argv[3]), number(argv[4]), number(argv[5]), number(argv[6]) != 0};
    Totals totals;
    unsigned failed = 0;
    for (unsigned i = 0; i < number(argv[2]); i++)
        failed += !run(number(argv[1]) + i, plan, totals);
    printf("failed %u cycles %" PRIu64 " longest %" PRIu64 " injected %" PRIu64 " added %" PRIu64 " removed %" PRIu64
           " recoveries %" PRIu64 " replays_down %" PRIu64 " lcrc %" PRIu64 " dllp %" PRIu64 " replays_up %" PRIu64
           " early %" PRIu64 " overflows %" PRIu64 " card_added %" PRIu64 " card_removed %" PRIu64 "\n",
           failed, totals.cycles, totals.longest, totals.injected, totals.added, totals.removed, totals.recoveries,
           totals.replays, totals.events[0], totals.events[1], totals.events[4], totals.early, totals.events[7],
           totals.card_added, totals.card_removed);
    return failed != 0;
}

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

int rates(int argc, char **argv) {
    if (argc != 6)
        return 2;
    const unsigned payload = number(argv[2]);
    Stream up{true, payload, number(argv[3]) ? number(argv[1]) : 0},
        down{number(argv[4]) == 2, payload, number(argv[4]) ? number(argv[1]) : 0};
    LaneOptions wires;
    wires.delay = kDelay;
    wires.down_errors_every = wires.up_errors_every = number(argv[5]);
    RootPortOptions options;
    options.training.quiet_since = kAlmostQuiet;
    options.data_link.mps = payload <= 128 ? 128 : 256;
    options.data_link.credits = {{32, 32, Credits::kInfinite}, {128, 32, Credits::kInfinite}};
    SerDesLane lane(wires, options, 1);
    Endpoint endpoint(1, 0, 0);
    uint64_t cycle = 0;
    endpoint.took = [&](Tlp tlp) { down.take(tlp, cycle); };
    DataLink &data_link = lane.port().data_link();
    const uint64_t limit = 1000000 + uint64_t(number(argv[1])) * 1000;
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

// An endpoint, a root port that can be replaced, and random TLPs both ways.
struct Session {
    explicit Session(uint64_t seed) : seed(seed), random(seed), endpoint(seed, 10, 25) { begin(); }

    // Another port, or none: one that finds no receiver stays silent.
    void begin(bool present = true) {
        RootPortOptions options;
        options.training.link_number = uint8_t(random());
        options.training.present = present;
        options.training.quiet_since = kAlmostQuiet;
        lane = std::make_unique<SerDesLane>(wires, options, seed);
        // A port without a receiver goes to Detect again and again.
        if (present)
            lane->port().training().entered = [](LinkState state) { printf("%s ", info(state).name); };
    }
    Training &training() { return lane->port().training(); }
    DataLink &data_link() { return lane->port().data_link(); }
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

    uint64_t seed, cycle = 0;
    std::minstd_rand random;
    LaneOptions wires;
    Endpoint endpoint;
    std::unique_ptr<SerDesLane> lane;
    std::vector<Tlp> got;
};

struct Counts {
    uint64_t compared = 0, wrong = 0, injected = 0, idle_sets = 0;
};

bool is_loopback(const std::string &event) {
    return event == "recovery" || event == "configuration" || event == "errors";
}

bool looped(Session &session) {
    return session.endpoint.state() == Endpoint::kLoopback && session.training().state() == LinkState::LoopbackActive;
}

// What comes back in Loopback, and its end; null, or what failed.
const char *loop(Session &session, const std::string &event, Counts &counts) {
    auto &random = session.random;
    session.wires.drift = int(random() % 1201) - 600, session.wires.delay = random() % 30;
    session.wires.down_swapped = random() % 2, session.wires.down_shift = random() % 2;
    session.wires.down_errors_every = event == "errors" ? 5000 : 0;
    session.begin();
    if (event != "configuration" && !session.run(60, [&] { return session.up(); }))
        return "the link does not train";
    session.training().loopback();
    if (!session.run(80, [&] { return looped(session); }))
        return "Loopback is not reached";
    auto &port = session.lane->port();
    const uint64_t before = port.loopback_master().compared(), wrong = port.loopback_master().wrong(),
                   injected = session.lane->injected(), sets = port.idle_sets();
    session.run(4, [] { return false; });
    if (!looped(session) || session.endpoint.dl_up() || session.data_link().up())
        return "Loopback ended by itself, or the data link is up in it";
    counts.compared = port.loopback_master().compared() - before, counts.wrong = port.loopback_master().wrong() - wrong;
    counts.injected = session.lane->injected() - injected;
    session.training().end_loopback();
    if (!session.run(1, [&] { return session.endpoint.state() > Endpoint::kLoopback && port.idle_sets() > sets; }))
        return "the card does not leave, or the EIOS does not come back";
    counts.idle_sets = port.idle_sets() - sets;
    session.wires.down_errors_every = 0;
    if (event == "errors")
        session.begin();
    return nullptr;
}

// Both sides have seen that the link is down, or the card alone.
bool end_link(Session &session, const std::string &event) {
    const auto down = [&] { return !session.endpoint.dl_up() && !session.data_link().up(); };
    if (event == "hot") {
        session.training().hot_reset();
        return session.run(1, down);
    }
    if (event == "disable") {
        session.training().disable();
        const bool ended = session.run(1, down);
        session.run(1, [] { return false; });
        session.training().enable();
        return ended;
    }
    if (event == "perst" || event == "both")
        session.endpoint.reset();
    if (event == "pull") {
        session.begin(false);
        session.run(60, [] { return false; });
    }
    if (event != "perst")
        session.begin();
    if (event == "host")
        return session.run(60, [&] { return !session.endpoint.dl_up(); });
    return !session.endpoint.dl_up();
}

int resets(int argc, char **argv) {
    if (argc != 3)
        return 2;
    Session session{uint64_t(atoi(argv[1]))};
    Counts counts;
    session.endpoint.elastic = is_loopback(argv[2]);
    const char *failed = nullptr;
    if (!session.run(2, [&] { return session.up(); }))
        failed = "the first link does not train";
    else if (!session.exchange(20))
        failed = "TLPs were lost";
    else if (is_loopback(argv[2]))
        failed = loop(session, argv[2], counts);
    else if (!end_link(session, argv[2]))
        failed = "the link did not end";
    const uint64_t ended = session.cycle;
    if (!failed && !session.run(200, [&] { return session.up(); }))
        failed = "the second link does not train";
    const uint64_t trained = session.cycle;
    if (!failed && !session.exchange(20))
        failed = "TLPs were lost after it";
    printf("\n%s; endpoint in state %u, port in %s\n", failed ? failed : "passed", session.endpoint.state(),
           info(session.training().state()).name);
    printf("cycles %" PRIu64 " compared %" PRIu64 " wrong %" PRIu64 " injected %" PRIu64 " idle_sets %" PRIu64 "\n",
           trained - ended, counts.compared, counts.wrong, counts.injected, counts.idle_sets);
    return failed != nullptr;
}

}  // namespace

int main(int argc, char **argv) {
    const std::string what = argc < 2 ? "" : argv[1];
    return what == "links"    ? links(argc - 1, argv + 1)
           : what == "rates"  ? rates(argc - 1, argv + 1)
           : what == "resets" ? resets(argc - 1, argv + 1)
                              : 2;
}
