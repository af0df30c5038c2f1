// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Loopback with the root port as the master, and the link after it. Arguments:
// SEED EVENT ROUNDS. EVENT is recovery or configuration (where the port asks),
// stays (20 ms), errors (on the way to the card), gone (the port falls silent
// without EIOS), perst (of the card alone), compliance (no port for 30 ms), or
// any, one of these in each round. Wires, clocks and the length of Loopback are
// random.
#include "session.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace litepcie::lane;

namespace {

struct Counts {
    uint64_t compared = 0, wrong = 0, injected = 0, idle_sets = 0, added = 0, removed = 0;
};

LaneOptions random_wires(std::minstd_rand &random) {
    LaneOptions wires;
    wires.drift = int(random() % 1201) - 600;
    wires.down_swapped = random() % 2, wires.up_swapped = random() % 2;
    wires.down_shift = random() % 2, wires.up_shift = random() % 2;
    wires.delay = random() % 30;
    return wires;
}

bool looped(Session &session) {
    return session.endpoint.state() == Endpoint::kLoopback && session.training().state() == LinkState::LoopbackActive;
}

void wait(Session &session, unsigned milliseconds) {
    session.run(milliseconds, [] { return false; });
}

// Enters Loopback and compares for a while; null, or what failed.
const char *loop(Session &session, const std::string &event, Counts &counts) {
    if (event == "configuration") {
        session.begin();
        session.training().loopback();
    } else {
        if (!session.run(60, [&] { return session.up(); }))
            return "the link does not train";
        session.training().loopback();
    }
    if (!session.run(80, [&] { return looped(session); }))
        return "Loopback is not reached";
    if (session.endpoint.dl_up() || session.data_link().up())
        return "the data link is up in Loopback";
    const LoopbackMaster &master = session.lane->port().loopback_master();
    const uint64_t before = master.compared(), wrong = master.wrong(), injected = session.lane->injected();
    wait(session, event == "stays" ? 20 : 1 + session.random() % 3);
    if (!looped(session))
        return "Loopback ended by itself";
    counts.compared += master.compared() - before;
    counts.wrong += master.wrong() - wrong;
    counts.injected += session.lane->injected() - injected;
    return master.compared() - before < 200000 ? "too little came back" : nullptr;
}

// Ends it; null, or what failed.
const char *leave(Session &session, const std::string &event, Counts &counts) {
    counts.added += session.lane->added(), counts.removed += session.lane->removed();
    if (event == "gone") {
        session.begin(false);
        if (!session.run(1, [&] { return session.endpoint.state() != Endpoint::kLoopback; }))
            return "the card does not see that the port is gone";
        wait(session, 1 + session.random() % 30);
        session.begin();
        return nullptr;
    }
    if (event == "perst") {
        session.endpoint.reset();
        wait(session, 1 + session.random() % 40);
    }
    const uint64_t before = session.lane->port().idle_sets();
    session.training().end_loopback();
    if (!session.run(1, [&] { return session.training().state() == LinkState::LoopbackExit; }))
        return "the port does not leave";
    if (event != "perst" && !session.run(1, [&] { return session.lane->port().idle_sets() > before; }))
        return "the EIOS does not come back";
    counts.idle_sets += session.lane->port().idle_sets() - before;
    if (event != "perst" && !session.run(1, [&] { return session.endpoint.state() > Endpoint::kLoopback; }))
        return "the card does not leave";
    return nullptr;
}

// Without a port but with a receiver: the card ends in Compliance, and trains
// with the next port.
const char *comply(Session &session) {
    session.begin(false);
    if (!session.run(120, [&] { return session.endpoint.state() == Endpoint::kCompliance; }))
        return "the card does not reach Compliance";
    wait(session, 30);
    if (session.endpoint.state() != Endpoint::kCompliance)
        return "Compliance ended by itself";
    session.begin();
    return nullptr;
}

const char *round(Session &session, const std::string &event, Counts &counts) {
    session.wires = random_wires(session.random);
    if (event == "errors")
        session.wires.down_errors_every = 5000;
    session.begin();
    const char *failed = event == "compliance" ? comply(session) : loop(session, event, counts);
    if (!failed && event != "compliance")
        failed = leave(session, event, counts);
    session.wires.down_errors_every = 0;
    if (!failed && event == "errors")
        session.begin();
    if (!failed && !session.run(200, [&] { return session.up(); }))
        failed = "the next link does not train";
    if (!failed && !session.exchange(20))
        failed = "TLPs were lost after it";
    return failed;
}

}  // namespace

int loopback(int argc, char **argv) {
    if (argc != 4)
        return 2;
    constexpr const char *kEvents[] = {"recovery", "configuration", "gone", "perst", "compliance"};
    Session session{uint64_t(atoi(argv[1]))};
    session.endpoint.elastic = true;
    Counts counts;
    const char *failed = nullptr;
    for (int i = 0; i < atoi(argv[3]) && !failed; i++) {
        const std::string event = argv[2] == std::string("any") ? kEvents[session.random() % 5] : argv[2];
        printf("\n%s: ", event.c_str());
        failed = round(session, event, counts);
    }
    printf("\n%s; endpoint in state %u, port in %s\n", failed ? failed : "passed", session.endpoint.state(),
           info(session.training().state()).name);
    printf("compared %" PRIu64 " wrong %" PRIu64 " injected %" PRIu64 " idle_sets %" PRIu64 " added %" PRIu64
           " removed %" PRIu64 " card_added %" PRIu64 " card_removed %" PRIu64 "\n",
           counts.compared, counts.wrong, counts.injected, counts.idle_sets, counts.added, counts.removed,
           session.endpoint.elastic_added, session.endpoint.elastic_removed);
    return failed != nullptr;
}
