// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/symbols.h"

#include <array>

namespace litepcie::lane {

// No bit that is fed back reaches bit 15 within one symbol, so the upper byte of the register gives all.
struct ScramblerTables {
    std::array<uint16_t, 256> feedback{};
    std::array<uint8_t, 256> mask{};
    constexpr ScramblerTables() {
        for (unsigned top = 0; top < 256; top++)
            for (unsigned bit = 0; bit < 8; bit++)
                if (top << bit & 0x80) {
                    feedback[top] ^= 0x39 << (7 - bit);
                    mask[top] |= 1 << bit;
                }
    }
};
inline constexpr ScramblerTables kScramblerTables{};

// Scrambles or descrambles one direction (PCIe 2.1 4.2.3): x^16 + x^5 + x^4 + x^3 + 1, one symbol per call.
class Scrambler {
  public:
    // With `plain` the register moves, but the symbol is not changed, as in training sets.
    Symbol operator()(Symbol symbol, bool plain = false) {
        if (symbol == kCom) {
            register_ = 0xffff;
            return symbol;
        }
        if (symbol == kSkp)
            return symbol;
        const uint8_t top = register_ >> 8;
        register_ = register_ << 8 ^ kScramblerTables.feedback[top];
        return plain || off || symbol & kControl ? symbol : symbol ^ kScramblerTables.mask[top];
    }

    bool off = false;  // both ends have agreed not to scramble

  private:
    uint16_t register_ = 0xffff;
};

}  // namespace litepcie::lane
