// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/dllp.h"

#include "lane/crc.h"

namespace litepcie::lane {

Packet Dllp::packet() const {
    Packet packet;
    packet.dllp = true;
    packet.bytes = {uint8_t(dword >> 24), uint8_t(dword >> 16), uint8_t(dword >> 8), uint8_t(dword)};
    const uint16_t crc = DllpCrc::of(packet.bytes.data(), 4);
    packet.bytes.push_back(uint8_t(crc));
    packet.bytes.push_back(uint8_t(crc >> 8));
    return packet;
}

bool Dllp::parse(const Packet &packet) {
    const auto &bytes = packet.bytes;
    if (!packet.dllp || packet.damaged || packet.nullified || bytes.size() != 6)
        return false;
    if (DllpCrc::of(bytes.data(), 4) != (bytes[4] | bytes[5] << 8))
        return false;
    dword = uint32_t(bytes[0]) << 24 | uint32_t(bytes[1]) << 16 | uint32_t(bytes[2]) << 8 | bytes[3];
    return true;
}

}  // namespace litepcie::lane
