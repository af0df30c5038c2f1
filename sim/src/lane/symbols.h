// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstdint>

namespace litepcie::lane {

// A symbol of a lane before 8b/10b coding: its data in bits 7:0, and flags.
//
// This folder is a root port at the other end of one lane at 2.5 GT/s, symbol by symbol: physical layer, data link
// layer, and the lane between it and the SerDes of an endpoint in gateware. It shares no code with that gateware.
using Symbol = uint16_t;

constexpr Symbol kControl = 0x100;  // a control symbol (K)
constexpr Symbol kDamaged = 0x200;  // the decoder saw a wrong code or a wrong running disparity
constexpr Symbol kSilence = 0x400;  // electrical idle instead of a symbol

// Control symbols (PCIe 2.1 4.2.1.2).
constexpr Symbol kCom = 0x1bc, kStp = 0x1fb, kSdp = 0x15c, kEnd = 0x1fd, kEdb = 0x1fe, kPad = 0x1f7;
constexpr Symbol kSkp = 0x11c, kFts = 0x13c, kIdl = 0x17c;

constexpr uint64_t kSymbolsPerMicrosecond = 250;

// The symbol that arrives if the two wires of the lane are swapped. Of the two groups of bits in a code, one with as
// many ones as zeros becomes the code of other data. Every other group is the same data with the other running
// disparity, and so are all control symbols.
constexpr Symbol inverted(Symbol symbol) {
    if (symbol & (kControl | kSilence))
        return symbol;
    const unsigned low = symbol & 31, high = symbol >> 5 & 7;
    const int ones = __builtin_popcount(low);
    const bool low_balanced = (ones == 2 || ones == 3) && low != 7 && low != 24;
    const bool high_balanced = high == 1 || high == 2 || high == 5 || high == 6;
    return (symbol & kDamaged) | (high_balanced ? 7 - high : high) << 5 | (low_balanced ? 31 - low : low);
}

}  // namespace litepcie::lane
