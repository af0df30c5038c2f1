// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
// The configuration space in gateware, by the commands of config_oracle.cpp, but e NUMBER SOURCE and four dwords of a
// header, and c NUMBER. Prints what is read, for a write whether it asked for a function level reset, and the code of
// the message that an error asks for.
#include "Vtop.h"

#include <algorithm>
#include <cstdio>

namespace {

// Code of the message that an error asks for. `kinds`: correctable, non-fatal, fatal.
int code(unsigned kinds) { return kinds == 1 ? 0x30 : kinds == 2 ? 0x31 : kinds == 4 ? 0x33 : int(kinds); }

}  // namespace

int main() {
    Vtop top;
    const auto clock = [&top] {
        top.sys_clk = 0;
        top.eval();
        top.sys_clk = 1;
        top.eval();
    };
    const auto pulse = [&](auto &port, auto value) {
        port = value;
        clock();
        port = 0;
        clock();
    };
    const auto error = [&](auto &port, auto value) {
        port = value;
        clock();
        printf("%d\n", code(top.messages | top.late));
        port = top.load = 0;
        clock();
    };
    pulse(top.sys_rst, 1);
    char what;
    unsigned dword, value, enables, source, header[4];
    while (scanf(" %c", &what) == 1) {
        if (what == 'r' && scanf("%u", &dword) == 1) {
            top.address = dword;
            clock();
            clock();
            printf("%u\n", top.data_r);
        } else if (what == 'w' && scanf("%u %u %u", &dword, &value, &enables) == 3) {
            top.address = dword, top.data_w = value, top.be = enables, top.write = 1;
            clock();
            top.write = 0;
            printf("%d\n", top.flr);
            clock();
        } else if (what == 'e' &&
                   scanf("%u %u %u %u %u %u", &value, &source, &header[0], &header[1], &header[2], &header[3]) == 6) {
            std::copy_n(header, 4, top.header.m_storage);
            top.load = 1 << source;
            error(top.errors, 1 << value);
        } else if (what == 'c' && scanf("%u", &value) == 1) {
            error(top.correctable, 1 << value);
        } else if (what == 'p' && scanf("%u", &value) == 1) {
            top.power_limit = value;
            pulse(top.take_limit, 1);
        } else if (what == 'f') {
            pulse(top.function_reset, 1);
        } else if (what == 'h') {
            pulse(top.reset, 1);
        } else if (what == 'z') {
            pulse(top.sys_rst, 1);
        } else {
            return 1;
        }
    }
}
