// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// What ends a link, and the link after it. Arguments: SEED EVENT, with EVENT hot, disable, perst (of the card alone),
// both, host (another port, and no reset of the card) or pull (no port for 60 ms); or Loopback over random wires, which
// the port asks for in recovery or in configuration, or with errors (on the way to the card).
#include "endpoint.h"
#include "random_tlps.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

using namespace litepcie::lane;

namespace {

constexpr uint64_t kMillisecond = 125000;  // cycles

// An endpoint, a root port that can be replaced, and random TLPs both ways.
struct Session {
    explicit Session(uint64_t seed) : seed(seed), random(seed), endpoint(seed, 10, 25) { begin(); }

    // Another port, or none: one that finds no receiver stays silent.
    void begin(bool present = true) {
        RootPortOptions options;
        options.training.link_number = uint8_t(random());
        options.training.present = present;
        options.training.quiet_since = 3000000 - 1000;
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

}  // namespace

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

int main(int argc, char **argv) {
    const std::string what = argc < 2 ? "" : argv[1];
    return what == "links"    ? links(argc - 1, argv + 1)
           : what == "rates"  ? rates(argc - 1, argv + 1)
           : what == "resets" ? resets(argc - 1, argv + 1)
                              : 2;
}
