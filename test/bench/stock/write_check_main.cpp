// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
//   write_check ADDRESS LENGTH ADDRESS:DWORD,DWORD,... ...     checks these writes to descriptors of LENGTH bytes
#include "write_check.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

int main(int argc, char **argv) {
    try {
        litepcie::WriteCheck check;
        check.start(strtoull(argv[1], nullptr, 10), strtoul(argv[2], nullptr, 10));
        for (int i = 3; i < argc; i++) {
            char *at = argv[i];
            const uint64_t address = strtoull(at, &at, 10);
            std::vector<uint32_t> dwords;
            while (*at)
                dwords.push_back(strtoul(at + 1, &at, 10));
            check.landed(address, reinterpret_cast<const uint8_t *>(dwords.data()), 4 * dwords.size());
        }
    } catch (const std::exception &error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
