// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/packet.h"

#include <iterator>

namespace litepcie::lane {

// DLLPs ---------------------------------------------------------------------------------------------------------------

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

// Faults --------------------------------------------------------------------------------------------------------------

namespace {

constexpr const char *kNames[kFaults] = {"wrong-lcrc",   "nullified",    "nullified-wrong", "no-end",
                                         "lost-tlp",     "doubled-tlp",  "wrong-dllp",      "lost-dllp",
                                         "doubled-dllp", "unknown-dllp", "wrong-ack",       "unasked-sleep"};
constexpr unsigned kFar = 1500;  // further ahead than TLPs are in flight

// Feature exchange, vendor, NOP, InitFC1 of virtual channel 1, and a type that nobody uses.
constexpr uint32_t kUnknown[] = {0x02000001, 0x30abcdef, 0x31000000, 0x41080080, 0x7f000000};

}  // namespace

const char *name(Fault fault) { return kNames[unsigned(fault)]; }

std::optional<Fault> fault_of(const std::string &name) {
    for (unsigned i = 0; i < kFaults; i++)
        if (name == kNames[i])
            return Fault(i);
    return {};
}

bool FaultInjector::suits(Fault fault, const Packet &packet) {
    Dllp dllp;
    if (fault == Fault::WrongAck)
        return dllp.parse(packet) && dllp.is_ack();
    return packet.dllp == (fault >= Fault::WrongDllp);
}

void FaultInjector::add_dllp(uint32_t dword) {
    extra_ = Dllp{dword}.packet();
    has_extra_ = true;
}

const Packet *FaultInjector::extra() {
    const bool has = has_extra_;
    has_extra_ = false;
    return has ? &extra_ : nullptr;
}

const Packet *FaultInjector::change(const Packet *packet) {
    for (unsigned i = 0; packet && i < kFaults; i++)
        if (every_[i] && suits(Fault(i), *packet) && random_() % every_[i] == 0)
            return with(Fault(i), *packet);
    return packet;
}

const Packet *FaultInjector::with(Fault fault, const Packet &packet) {
    injected_++;
    changed_ = packet;
    auto &bytes = changed_.bytes;
    switch (fault) {
    case Fault::WrongLcrc:
    case Fault::WrongDllp: bytes[injected_ % bytes.size()] ^= 1 << injected_ % 8; break;
    case Fault::Nullified:
        for (size_t i = bytes.size() - 4; i < bytes.size(); i++)
            bytes[i] ^= 0xff;
        changed_.nullified = true;
        break;
    case Fault::NullifiedWrong: changed_.nullified = true; break;
    case Fault::NoEnd: changed_.damaged = true; break;
    case Fault::LostTlp:
    case Fault::LostDllp: return nullptr;
    case Fault::DoubledTlp:
    case Fault::DoubledDllp: extra_ = changed_, has_extra_ = true; break;
    case Fault::UnknownDllp: add_dllp(kUnknown[injected_ % std::size(kUnknown)]); break;
    case Fault::WrongAck: {
        Dllp dllp;
        dllp.parse(packet);
        add_dllp(Dllp::ack(dllp.sequence() + kFar).dword);
        break;
    }
    case Fault::UnaskedSleep: add_dllp(Dllp::power(Dllp::RequestAck).dword);
    }
    return &changed_;
}

}  // namespace litepcie::lane
