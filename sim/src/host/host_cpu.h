// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/egress.h"
#include "link/tlp.h"

#include <array>
#include <cstdint>

namespace litepcie {

// The root complex as requester: loads and stores of a processor to the card's BARs, as TLPs.
class HostCpu {
  public:
    // Stores; split at MPS and at 4 KiB. Returns the number of TLPs.
    unsigned write(uint64_t address, const uint8_t *data, size_t bytes, Egress &egress);

    // A load of 1 to 128 bytes within 4 KiB; returns its tag. All 32 tags in use: std::runtime_error.
    uint8_t read(uint64_t address, size_t bytes, uint64_t cycle, Egress &egress, Tlp *request = nullptr);

    enum class State { Idle, Waiting, Done, Failed };
    State state(uint8_t tag) const { return loads_[tag].state; }
    // The bytes of a load that is Done; the tag is free afterwards. A failed one gives all ones, as a processor sees
    // it.
    void take(uint8_t tag, uint8_t *data, size_t bytes);

    // A checked completion of the card.
    void complete(const Tlp &tlp);
    // Gives up loads older than the completion timeout; returns the tag of one, or -1.
    int expire(uint64_t cycle, uint64_t timeout_cycles);
    bool outstanding() const { return waiting_; }
    void set_mps(unsigned mps) { mps_ = mps; }
    // Every load that waits fails.
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
