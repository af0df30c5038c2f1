// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "tlp/tlp.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace litepcie {

// Writes a pcapng file with a packet for each TLP, as the root port sees them: outbound ones go to the card, inbound
// ones to the host.
//
// A packet is header, payload and digest in the order of the wire, without framing, sequence number and LCRC. No link
// type stands for bare TLPs, so the file has LINKTYPE_USER0 (147), for which sim/tlp.lua is the dissector. Times are
// those of the simulated clock in ns, from 0. Each block is one write, so that a file whose program was killed is
// whole, and a reader of a FIFO gets each TLP at once.
class Capture {
  public:
    static constexpr uint16_t kLinkType = 147;

    // With an empty path it writes nothing. Throws std::runtime_error if the file cannot be written, as tlp() does.
    Capture(const std::string &path, uint64_t clock_hz);
    bool on() const { return file_ != nullptr; }
    // `direction`: > to the card, < to the host.
    void tlp(uint64_t cycle, char direction, const Tlp &tlp);

  private:
    void put(uint32_t value);  // least significant byte first
    void write();

    struct Close {
        void operator()(FILE *file) const { fclose(file); }
    };
    std::string path_;
    uint64_t clock_hz_;
    std::unique_ptr<FILE, Close> file_;
    std::vector<uint8_t> block_;
};

}  // namespace litepcie
