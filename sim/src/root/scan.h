// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "tlp/tlp.h"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace litepcie::scan {

// The card broke a rule, or did not answer.
class ScanError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// The way to a card. `step` advances the link by one cycle and gives a TLP if one has arrived.
//
// This namespace is what a host does with a card it knows nothing of: it finds functions, walks capabilities, sizes
// BARs, and reads and writes registers, by TLPs alone. It knows neither the link nor the card.
struct Way {
    std::function<void(Tlp)> send;
    std::function<bool(Tlp &)> step;
};

// Makes requests one at a time, and checks every field of their completions (PCIe 2.1 2.2.7 to 2.2.9).
class Requester {
  public:
    // `patience`: steps until a request has failed. `bus`: of the card.
    Requester(Way way, uint8_t bus, uint64_t patience) : way_(std::move(way)), bus_(bus), patience_(patience) {}

    // Called with each TLP of the card that is no completion.
    std::function<void(const Tlp &)> other = [](const Tlp &) {};

    struct Answer {
        CplStatus status = CplStatus::Success;
        uint32_t value = 0;  // little-endian, as registers are
    };
    // A dword of the configuration space. `enables`: bytes that are read or written.
    Answer config_read(unsigned function, unsigned offset, unsigned enables = 15, bool type1 = false);
    Answer config_write(unsigned function, unsigned offset, uint32_t value, unsigned enables = 15);
    // A dword of a memory BAR.
    Answer memory_read(uint64_t address);
    void memory_write(uint64_t address, uint32_t value);

    uint64_t requests() const { return requests_; }

  private:
    Answer request(Tlp tlp);
    void check(const Tlp &request, const Tlp &completion) const;

    static constexpr uint16_t kId = 0;  // of the root port
    Way way_;
    uint8_t bus_;
    uint64_t patience_;
    uint8_t tag_ = 0;
    uint64_t requests_ = 0;
};

struct Capability {
    unsigned id, version, offset;  // version: of an extended capability
};

struct Bar {
    unsigned number;
    bool memory, wide, prefetchable;
    uint64_t size, address;
};

// What a host knows of function 0 after it has looked.
struct Function {
    uint16_t vendor = 0, device = 0, subsystem_vendor = 0, subsystem_device = 0;
    uint32_t class_code = 0;
    uint8_t revision = 0;
    std::vector<Capability> capabilities, extended;
    std::vector<Bar> bars;
    unsigned other_functions = 0;   // that answer
    unsigned speed = 0, width = 0;  // of the link, as Link Status has them
    unsigned mps_supported = 0, mps = 0;

    const Capability *find(unsigned id) const;
};

// Finds function 0, gives its BARs addresses from `base` on, sets MPS to what both sides support and enables memory and
// bus master. Throws ScanError if there is no card, or if it breaks a rule.
Function scan(Requester &requester, uint64_t base, unsigned mps_of_host = 128);

// A report in lines, as lspci has them.
std::string report(const Function &card);

}  // namespace litepcie::scan
