// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
// The monitor on symbols of standard input: the endpoint's and the host's in each line, hexadecimal.
#include "monitor.h"

#include <cstdio>

int main() {
    judge::Monitor monitor;
    for (unsigned up, down; scanf("%x %x", &up, &down) == 2;)
        monitor.step(up, down);
    const auto &seen = monitor.figures();
    printf("%u %u %u %u %s\n", seen.ts1, seen.ts2, seen.tlps, seen.acks, monitor.fault().c_str());
}
