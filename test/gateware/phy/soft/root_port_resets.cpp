// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// What ends a link, and the link after it. Arguments: SEED EVENT, with EVENT hot, disable, perst or both.
#include "endpoint.h"
#include "random_tlps.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

using namespace litepcie;
using namespace litepcie::lane;

namespace {

constexpr uint64_t kMillisecond = 125000;  // cycles

struct Session {
    explicit Session(uint64_t seed) : seed(seed), random(seed), endpoint(seed, 10, 25) { begin(); }

    void begin() {
        RootPortOptions options;
        options.training.link_number = uint8_t(random());
        options.training.quiet_since = 3000000 - 1000;
        lane = std::make_unique<SerDesLane>(LaneOptions(), options, seed);
        lane->port().training().entered = [this](LinkState state) { printf("%s ", info(state).name); };
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
    bool exchange(unsigned count) {
        std::vector<Tlp> down, up;
        got.clear(), endpoint.received.clear();
        for (unsigned i = 0; i < count; i++) {
            down.push_back(random_tlp(random)), up.push_back(random_tlp(random));
            endpoint.send(up.back()), data_link().send(down.back());
        }
        run(2, [&] { return endpoint.received.size() == count && got.size() == count && data_link().quiet(); });
        return same(down, endpoint.received) && same(up, got);
    }

    uint64_t seed, cycle = 0;
    std::minstd_rand random;
    Endpoint endpoint;
    std::unique_ptr<SerDesLane> lane;
    std::vector<Tlp> got;
};

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
    session.endpoint.reset();
    if (event == "both")
        session.begin();
    return !session.endpoint.dl_up();
}

}  // namespace

int resets(int argc, char **argv) {
    if (argc != 3)
        return 2;
    Session session{uint64_t(atoi(argv[1]))};
    const char *failed = nullptr;
    if (!session.run(2, [&] { return session.up(); }))
        failed = "the first link does not train";
    else if (!session.exchange(20))
        failed = "TLPs were lost";
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
    printf("cycles %" PRIu64 "\n", trained - ended);
    return failed != nullptr;
}
