// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/egress.h"
#include "tlp/tlp.h"

#include <array>
#include <cstdint>

namespace litepcie {

// The part of the root complex that turns loads and stores of a processor to the card's BARs into requests.
class HostCpu {
  public:
    // Makes memory writes, split at MPS and at multiples of 4 KiB. Returns the number of TLPs.
    unsigned write(uint64_t address, const uint8_t *data, size_t bytes, Egress &egress);

    // Makes a memory read of 1 to 128 bytes that crosses no multiple of 4 KiB; returns its tag. Throws
    // std::runtime_error if all 32 tags are in use.
    uint8_t read(uint64_t address, size_t bytes, uint64_t cycle, Egress &egress, Tlp *request = nullptr);

    enum class State { Idle, Waiting, Done, Failed };
    State state(uint8_t tag) const { return loads_[tag].state; }
    // Copies the bytes of a load that is Done, and frees its tag. A failed load gives all ones, as on a real processor.
    void take(uint8_t tag, uint8_t *data, size_t bytes);

    // Handles a completion of the card that has passed the TlpChecker.
    void complete(const Tlp &tlp);
    // Fails one load that is older than the completion timeout, and returns its tag; -1 if there is none.
    int expire(uint64_t cycle, uint64_t timeout_cycles);
    bool outstanding() const { return waiting_; }
    void set_mps(unsigned mps) { mps_ = mps; }
    // Fails all outstanding loads.
    void fail_all();

  private:
    struct Load {
        State state = State::Idle;
        unsigned received = 0, bytes = 0;
        uint64_t issued = 0;
        uint8_t data[128];
    };

    std::array<Load, 32> loads_;
    unsigned next_tag_ = 0;
    unsigned waiting_ = 0;
    unsigned mps_ = 128;
};

}  // namespace litepcie
