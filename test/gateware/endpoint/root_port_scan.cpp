// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// A host at the other end of the lane: trains it, scans the card by configuration requests, reads and writes registers.
// Arguments: SEED ERRORS_EVERY REGISTERS OFFSET, with REGISTERS dwords of memory at OFFSET in BAR0. Prints the way of
// the LTSSM, the scan, and counts. Or `sleep` or `errors` and the arguments of root_port_sleep.cpp,
// root_port_errors.cpp.
#include "scan_host.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <random>

using namespace litepcie;
using namespace litepcie::lane;

namespace {

// Writes and reads random registers. Returns how many were wrong.
unsigned use_registers(scan::Requester &requester, uint64_t base, unsigned count, uint64_t seed) {
    std::minstd_rand random(seed);
    std::vector<uint32_t> values(count);
    unsigned wrong = 0;
    for (unsigned i = 0; i < count; i++)
        requester.memory_write(base + 4 * i, values[i] = random() << 8 ^ random());
    for (unsigned i = 0; i < 2 * count; i++) {
        const unsigned n = random() % count;
        if (random() & 1)
            requester.memory_write(base + 4 * n, values[n] = random() << 8 ^ random());
        const auto answer = requester.memory_read(base + 4 * n);
        wrong += answer.status != CplStatus::Success || answer.value != values[n];
    }
    return wrong;
}

// Requests that the card must refuse. Returns how many it did not.
unsigned refusals(scan::Requester &requester, const scan::Bar &bar) {
    unsigned wrong = 0;
    wrong += requester.memory_read(bar.address + bar.size).status != CplStatus::Unsupported;
    wrong += requester.memory_read(bar.address - 4).status != CplStatus::Unsupported;
    wrong += requester.config_read(5, 0).status != CplStatus::Unsupported;
    wrong += requester.config_read(0, 0, 15, true).status != CplStatus::Unsupported;
    return wrong;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc > 1 && std::string(argv[1]) == "sleep")
        return sleeping(argc - 1, argv + 1);
    if (argc > 1 && std::string(argv[1]) == "errors")
        return erring(argc - 1, argv + 1);
    if (argc != 5)
        return 2;
    const uint64_t seed = uint64_t(atoi(argv[1]));
    LaneOptions wires;
    wires.up_errors_every = wires.down_errors_every = unsigned(atoi(argv[2]));
    wires.down_shift = seed & 1, wires.down_swapped = seed & 2, wires.drift = seed & 4 ? 600 : -600;
    Host host(wires, soon(), seed);
    unsigned wrong = 0;
    const int failed = checked([&] {
        host.train();
        const uint64_t trained = host.cycles;
        scan::Requester requester(host.way(), 1, 50 * kMillisecond);
        const scan::Function card = scan::scan(requester, kBase);
        printf("%s", scan::report(card).c_str());
        expect(!card.bars.empty(), "there is no BAR");
        wrong += use_registers(requester, card.bars[0].address + strtoul(argv[4], nullptr, 0), unsigned(atoi(argv[3])),
                               seed);
        wrong += refusals(requester, card.bars[0]);
        wrong += scan::report(scan::scan(requester, kBase)) != scan::report(card);
        printf("trained %" PRIu64 " cycles %" PRIu64 " requests %" PRIu64 " injected %" PRIu64 " wrong %u\n", trained,
               host.cycles, requester.requests(), host.injected(), wrong);
    });
    return failed || wrong != 0;
}
