// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace litepcie::lane {

// A reflected CRC, byte by byte, that begins with ones and is inverted at the end.
template <typename Register, Register kPolynomial> class Crc {
  public:
    static Register of(const uint8_t *data, size_t bytes) {
        Register crc = Register(~Register(0));
        for (size_t i = 0; i < bytes; i++)
            crc = crc >> 8 ^ kTable[uint8_t(crc ^ data[i])];
        return Register(~crc);
    }

  private:
    static constexpr std::array<Register, 256> table() {
        std::array<Register, 256> values{};
        for (unsigned i = 0; i < 256; i++) {
            Register value = i;
            for (unsigned bit = 0; bit < 8; bit++)
                value = value & 1 ? value >> 1 ^ kPolynomial : value >> 1;
            values[i] = value;
        }
        return values;
    }
    static constexpr std::array<Register, 256> kTable = table();
};

using Lcrc = Crc<uint32_t, 0xedb88320>;  // of a TLP with its sequence number (PCIe 2.1 3.5.2.1)
using DllpCrc = Crc<uint16_t, 0xd008>;   // of a DLLP (PCIe 2.1 3.4.1)

}  // namespace litepcie::lane
