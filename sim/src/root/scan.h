// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "root/requester.h"

#include <string>
#include <vector>

namespace litepcie::scan {

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
