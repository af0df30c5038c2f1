// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/packet.h"
#include "tlp/tlp.h"

namespace litepcie::lane {

// A data link layer packet (PCIe 2.1 3.4.1): four bytes, the first one in bits 31:24, and their CRC.
struct Dllp {
    // Kinds of flow control: bits 31:30.
    enum FlowControl : uint32_t { Init1 = 1, Update = 2, Init2 = 3 };

    // Types of power management: bits 31:24.
    enum Power : uint32_t { EnterL1 = 0x20, EnterL23 = 0x21, RequestAck = 0x24 };

    uint32_t dword = 0;

    static Dllp ack(unsigned sequence) { return {sequence & 0xfff}; }
    static Dllp nak(unsigned sequence) { return {0x10000000 | (sequence & 0xfff)}; }
    static Dllp flow_control(FlowControl kind, unsigned tlp_class, unsigned headers, unsigned data) {
        return {uint32_t(kind) << 30 | tlp_class << 28 | (headers & 0xff) << 14 | (data & 0xfff)};
    }
    static Dllp power(Power power) { return {uint32_t(power) << 24}; }

    bool is_ack() const { return dword >> 24 == 0x00; }
    bool is_nak() const { return dword >> 24 == 0x10; }
    // Of virtual channel 0.
    bool is_flow_control() const { return dword >> 30 && (dword >> 28 & 3) < kTlpClasses && !(dword >> 24 & 15); }
    bool is_power(Power power) const { return dword >> 24 == power; }
    unsigned sequence() const { return dword & 0xfff; }
    FlowControl kind() const { return FlowControl(dword >> 30); }
    unsigned tlp_class() const { return dword >> 28 & 3; }
    unsigned headers() const { return dword >> 14 & 0xff; }
    unsigned data() const { return dword & 0xfff; }

    Packet packet() const;
    // False if the packet is no DLLP, or is damaged.
    bool parse(const Packet &packet);
};

}  // namespace litepcie::lane
