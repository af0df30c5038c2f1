// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Arguments: `links`, `rates`, `resets`, `faults` or `loopback`, and theirs.
#include "endpoint.h"

#include <string>

int main(int argc, char **argv) {
    const std::string what = argc < 2 ? "" : argv[1];
    if (what == "links")
        return links(argc - 1, argv + 1);
    if (what == "rates")
        return rates(argc - 1, argv + 1);
    if (what == "resets")
        return resets(argc - 1, argv + 1);
    if (what == "loopback")
        return loopback(argc - 1, argv + 1);
    return what == "faults" ? faults(argc - 1, argv + 1) : 2;
}
