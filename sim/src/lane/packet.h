// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "tlp/tlp.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace litepcie::lane {

// What is between the control symbols at the begin and at the end of a TLP or a DLLP.
struct Packet {
    std::vector<uint8_t> bytes;
    bool dllp = false;
    bool nullified = false;  // ends with EDB
    bool damaged = false;    // has a damaged symbol, or no end
};

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

// What the root port can do wrong with the packets that it sends.
enum class Fault {
    WrongLcrc,       // a TLP with a wrong bit
    Nullified,       // a TLP ends with EDB and has the LCRC for it
    NullifiedWrong,  // a TLP ends with EDB and has another LCRC
    NoEnd,           // a TLP has no END
    LostTlp,
    DoubledTlp,
    WrongDllp,  // a DLLP with a wrong bit
    LostDllp,
    DoubledDllp,
    UnknownDllp,   // one more DLLP, of a type that no receiver has to know
    WrongAck,      // one more ACK, for a TLP that was not sent
    UnaskedSleep,  // one more PM_Request_Ack
};
constexpr unsigned kFaults = unsigned(Fault::UnaskedSleep) + 1;
const char *name(Fault fault);
std::optional<Fault> fault_of(const std::string &name);

// Puts faults into the packets of a data link layer: each kind in one of n packets that it suits, on average.
class FaultInjector {
  public:
    // `every`: n, or 0 for no more faults of this kind.
    void arm(Fault fault, unsigned every) { every_[unsigned(fault)] = every; }
    // What is sent instead of `packet`: itself, another one, or nothing.
    const Packet *change(const Packet *packet);
    // A packet to be sent before others, or nullptr.
    const Packet *extra();
    uint64_t injected() const { return injected_; }

  private:
    static bool suits(Fault fault, const Packet &packet);
    const Packet *with(Fault fault, const Packet &packet);
    void add_dllp(uint32_t dword);

    std::array<unsigned, kFaults> every_{};
    std::minstd_rand random_;  // not every n-th: a replay of n TLPs would lose the same one for ever
    uint64_t injected_ = 0;
    Packet changed_, extra_;
    bool has_extra_ = false;
};

}  // namespace litepcie::lane
