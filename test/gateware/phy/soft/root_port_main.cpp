// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Arguments: `links`, `rates` or `resets`, and theirs.
#include "endpoint.h"

#include <string>

int main(int argc, char **argv) {
    const std::string what = argc < 2 ? "" : argv[1];
    return what == "links"    ? links(argc - 1, argv + 1)
           : what == "rates"  ? rates(argc - 1, argv + 1)
           : what == "resets" ? resets(argc - 1, argv + 1)
                              : 2;
}
