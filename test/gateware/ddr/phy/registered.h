// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The register between a board and the chips of an RDIMM (JESD82-31). It delays commands by a clock, or more if
// configured so; its B side inverts some bits; commands for the register itself do not reach the chips.
#pragma once

#include "chips.h"

#include <array>
#include <deque>

class Register {
  public:
    // The signals that the chips on its sides A and B see at an edge.
    std::array<Pins, 2> clock(const Pins &pins) {
        Pins now = pins;
        if (!pins.reset_n)
            delay = 2;
        if (pins.cke && pins.selected && own(pins)) {
            if (!pins.unstable)
                write(pins.a);
            now.selected = false;
        }
        held.push_back(now);
        while (held.size() > 1 + delay)
            held.pop_front();
        if (held.size() <= delay)
            return {};
        Pins a = held.front(), b = a;
        a.reset_n = b.reset_n = pins.reset_n;
        b.a ^= 0x2bf8;  // A3 to A9, A11, A13.
        b.ba ^= 3;
        b.bg ^= 3;
        return {a, b};
    }

  private:
    size_t delay = 2;  // In clocks: its own, and one that it adds until configured otherwise.
    std::deque<Pins> held;

    static bool own(const Pins &pins) {
        return pins.act_n && !pins.ras_n && !pins.cas_n && !pins.we_n && (pins.ba | pins.bg << 2) == 7;
    }

    // A control word: its number and four bits; some have eight bits.
    void write(unsigned a) {
        if (a >> 4 == 0xf)
            delay = (a & 7) == 4 ? 1 : 2 + (a & 3);
        if (a >> 4 == 0x0 && a & 1)
            complain("the register's B side is not inverted");
    }
};
