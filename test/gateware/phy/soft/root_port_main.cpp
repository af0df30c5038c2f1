// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Arguments: `links` or `rates`, and theirs.
#include "endpoint.h"

#include <cstring>

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    return strcmp(argv[1], "links") ? rates(argc - 1, argv + 1) : links(argc - 1, argv + 1);
}
