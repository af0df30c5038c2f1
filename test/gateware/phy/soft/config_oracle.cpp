// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
// The configuration space of the simulated hard block, by commands: r DWORD, w DWORD VALUE BE, e BIT CAUSE and four
// dwords of a header, c BIT, p LIMIT, f, h, z (power-on). Prints what is read, for a write whether it asked for a
// function level reset, and the code of the message that an error asks for.
#include "host/config_space.h"

#include <cstdio>
#include <cstdlib>

using litepcie::ConfigSpace;

int main(int argc, char **argv) {
    litepcie::CardInfo card{};
    if (argc != 9)
        return 2;
    card.gen = card.lanes = 1;
    card.vendor = uint16_t(atoi(argv[1])), card.device = uint16_t(atoi(argv[2]));
    card.subsystem_vendor = uint16_t(atoi(argv[3])), card.subsystem_device = uint16_t(atoi(argv[4]));
    card.class_code = uint32_t(atoi(argv[5])), card.bar0_size = uint32_t(atoi(argv[6]));
    ConfigSpace space(card, unsigned(atoi(argv[7])), atoi(argv[8]) != 0);
    char what;
    unsigned dword, value, enables, cause;
    ConfigSpace::Header header;
    while (scanf(" %c", &what) == 1) {
        if (what == 'r' && scanf("%u", &dword) == 1) {
            printf("%u\n", space.read(dword * 4, 4));
        } else if (what == 'w' && scanf("%u %u %u", &dword, &value, &enables) == 3) {
            for (unsigned i = 0; i < 4; i++) {
                const uint8_t byte = uint8_t(value >> 8 * i);
                if (enables >> i & 1)
                    space.write(dword * 4 + i, &byte, 1);
            }
            printf("%d\n", space.take_function_reset());
        } else if (what == 'e' &&
                   scanf("%u %u %u %u %u %u", &value, &cause, &header[0], &header[1], &header[2], &header[3]) == 6) {
            printf("%d\n", int(space.report(ConfigSpace::Error(value), ConfigSpace::Cause(cause), header)));
        } else if (what == 'c' && scanf("%u", &value) == 1) {
            printf("%d\n", int(space.report(ConfigSpace::LinkError(value))));
        } else if (what == 'p' && scanf("%u", &value) == 1) {
            space.take_power_limit(value);
        } else if (what == 'f') {
            space.function_reset();
        } else if (what == 'h') {
            space.hot_reset();
        } else if (what == 'z') {
            space.reset();
        } else {
            return 1;
        }
    }
}
