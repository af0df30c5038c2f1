// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// TLPs both ways over a link whose root port sends faulty packets. Arguments: SEED TLPS FAULT EVERY.
#include "session.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

using namespace litepcie::lane;

int faults(int argc, char **argv) {
    const auto fault = argc == 5 ? fault_of(argv[3]) : std::optional<Fault>();
    if (!fault)
        return 2;
    Session session{uint64_t(atoi(argv[1]))};
    const unsigned tlps = unsigned(atoi(argv[2]));
    const bool trained = session.run(2, [&] { return session.up(); });
    session.lane->port().faults().arm(*fault, unsigned(atoi(argv[4])));
    const bool passed = trained && session.exchange(tlps, 20 + tlps / 10);
    // The last fault may be on its way.
    session.lane->port().faults().arm(*fault, 0);
    session.run(1, [] { return false; });
    const auto &events = session.endpoint.events;
    printf("\n%s; %zu TLPs down, %zu up, port in %s\n", passed ? "passed" : "failed", session.endpoint.received.size(),
           session.got.size(), info(session.training().state()).name);
    printf("injected %" PRIu64 " lcrc %" PRIu64 " dllp %" PRIu64 " naks_sent %" PRIu64 " naks_received %" PRIu64
           " replays %" PRIu64 " timeouts %" PRIu64 " protocol %" PRIu64 " recoveries %" PRIu64 " cycles %" PRIu64 "\n",
           session.lane->port().faults().injected(), events[0], events[1], events[2], events[3], events[4], events[5],
           events[6], session.recoveries, session.cycle);
    return !passed;
}
