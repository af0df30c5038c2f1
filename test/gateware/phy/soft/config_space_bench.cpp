// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
// The configuration space in gateware, by the commands of config_oracle.cpp: r DWORD, w DWORD VALUE BE, e NUMBER, f, h.
// Prints what is read, and for a write whether it asked for a function level reset.
#include "Vtop.h"

#include <cstdio>

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
    top.sys_rst = 1;
    clock();
    top.sys_rst = 0;
    char what;
    unsigned dword, value, enables;
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
        } else if (what == 'e' && scanf("%u", &value) == 1) {
            pulse(top.errors, 1 << value);
        } else if (what == 'f') {
            pulse(top.function_reset, 1);
        } else if (what == 'h') {
            pulse(top.reset, 1);
        } else {
            return 1;
        }
    }
}
