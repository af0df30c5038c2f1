// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstdint>
#include <vector>

namespace litepcie::lane {

// What is between the control symbols at the begin and at the end of a TLP or a DLLP.
struct Packet {
    std::vector<uint8_t> bytes;
    bool dllp = false;
    bool nullified = false;  // ends with EDB
    bool damaged = false;    // has a damaged symbol, or no end
};

}  // namespace litepcie::lane
