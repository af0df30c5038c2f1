// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/packet.h"

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>

namespace litepcie::lane {

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
