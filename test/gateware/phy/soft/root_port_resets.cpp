// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// What ends a link, and the link after it. Arguments: SEED EVENT, with EVENT hot, disable, perst (of the card alone),
// both, host (another port, and no reset of the card) or pull (no port for 60 ms).
#include "session.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace litepcie::lane;

namespace {

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
