// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The configuration space in gateware against that of the simulated hard block, by commands: r DWORD, w DWORD VALUE BE,
// e NUMBER SOURCE BIT CAUSE and four dwords of a header, c NUMBER BIT, p LIMIT, f, h, z (power-on). Arguments: IDs,
// class code, size of BAR0, MPS, extended tags. Compares what is read, whether a write asked for a function level
// reset, and the code of the message that an error asks for. Prints the number of answers, or the first that differs.
#include "Vtop.h"
#include "card/config_space.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using litepcie::ConfigSpace;

namespace {

// Code of the message that an error asks for. `kinds`: correctable, non-fatal, fatal.
unsigned code(unsigned kinds) { return kinds == 1 ? 0x30 : kinds == 2 ? 0x31 : kinds == 4 ? 0x33 : kinds; }

ConfigSpace hard_block(char **argv) {
    litepcie::CardInfo card{};
    card.gen = card.lanes = 1;
    card.vendor = uint16_t(atoi(argv[1])), card.device = uint16_t(atoi(argv[2]));
    card.subsystem_vendor = uint16_t(atoi(argv[3])), card.subsystem_device = uint16_t(atoi(argv[4]));
    card.class_code = uint32_t(atoi(argv[5])), card.bars[0] = uint32_t(atoi(argv[6]));
    return ConfigSpace(card, unsigned(atoi(argv[7])), atoi(argv[8]) != 0);
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 9)
        return 2;
    ConfigSpace space = hard_block(argv);
    Vtop top;
    unsigned answers = 0;
    char what;
    unsigned dword, value, enables, source, bit, cause;
    ConfigSpace::Header header;
    const auto clock = [&top] {
        top.sys_clk = 0;
        top.eval();
        top.sys_clk = 1;
        top.eval();
    };
    const auto pulse = [&](auto &port) {
        port = 1;
        clock();
        port = 0;
        clock();
    };
    const auto same = [&](unsigned found, unsigned expected) {
        if (found != expected) {
            printf("answer %u, to %c (dword %u, value %u): %08x, expected %08x\n", answers, what, dword, value, found,
                   expected);
            exit(1);
        }
        answers++;
    };
    const auto error = [&](auto &port, ConfigSpace::Message expected) {
        port = 1 << value;
        clock();
        same(code(top.messages | top.late), unsigned(expected));
        port = top.load = 0;
        clock();
    };
    pulse(top.sys_rst);
    while (scanf(" %c", &what) == 1) {
        if (what == 'r' && scanf("%u", &dword) == 1) {
            top.address = dword;
            clock();
            clock();
            same(top.data_r, space.read(dword * 4, 4));
        } else if (what == 'w' && scanf("%u %u %u", &dword, &value, &enables) == 3) {
            top.address = dword, top.data_w = value, top.be = enables, top.write = 1;
            clock();
            top.write = 0;
            for (unsigned i = 0; i < 4; i++) {
                const uint8_t byte = uint8_t(value >> 8 * i);
                if (enables >> i & 1)
                    space.write(dword * 4 + i, &byte, 1);
            }
            same(top.flr, space.take_function_reset());
            clock();
        } else if (what == 'e' && scanf("%u %u %u %u %u %u %u %u", &value, &source, &bit, &cause, &header[0],
                                        &header[1], &header[2], &header[3]) == 8) {
            std::copy_n(header.begin(), 4, top.header.m_storage);
            top.load = 1 << source;
            error(top.errors, space.report(ConfigSpace::Error(bit), ConfigSpace::Cause(cause), header));
        } else if (what == 'c' && scanf("%u %u", &value, &bit) == 2) {
            error(top.correctable, space.report(ConfigSpace::LinkError(bit)));
        } else if (what == 'p' && scanf("%u", &value) == 1) {
            top.power_limit = value;
            pulse(top.take_limit);
            space.take_power_limit(value);
        } else if (what == 'f') {
            pulse(top.function_reset);
            space.function_reset();
        } else if (what == 'h') {
            pulse(top.reset);
            space.hot_reset();
        } else if (what == 'z') {
            pulse(top.sys_rst);
            space.reset();
        } else {
            return 1;
        }
    }
    printf("%u\n", answers);
}
