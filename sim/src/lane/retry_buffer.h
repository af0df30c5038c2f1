// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/packet.h"
#include "tlp/tlp.h"

#include <cstdint>
#include <deque>

namespace litepcie::lane {

// The TLPs that have been sent and are not acknowledged (PCIe 2.1 3.5.2.2).
class RetryBuffer {
  public:
    static constexpr unsigned kNumbers = 4096, kWindow = kNumbers / 2;

    bool empty() const { return sent_.empty(); }
    bool full() const { return sent_.size() >= kWindow - 1; }
    // Adds a TLP and returns it as it goes over the link. It is to be sent at once.
    const Packet &add(const Tlp &tlp);
    // Frees up to `sequence`. Returns how many TLPs that were, or -1 if the number is none that was sent.
    int acknowledge(unsigned sequence);
    // Begins to send all again.
    void replay() { again_ = 0; }
    bool replaying() const { return again_ < sent_.size(); }
    const Packet &next_replayed() { return sent_[again_++]; }
    // Of that packet, with those around it.
    unsigned replayed_symbols() const { return unsigned(sent_[again_].bytes.size()) + 2; }
    void clear() {
        sent_.clear();
        next_ = again_ = 0;
    }

  private:
    std::deque<Packet> sent_;
    unsigned next_ = 0;  // NEXT_TRANSMIT_SEQ
    size_t again_ = 0;   // index of the TLP that is replayed next; the size: none
};

// The packet of a TLP, and back. take_apart() gives false if the bytes can be no TLP.
Packet framed(unsigned sequence, const Tlp &tlp);
enum class Intact { Good, Nullified, Bad };
Intact take_apart(const Packet &packet, unsigned &sequence, Tlp &tlp);

}  // namespace litepcie::lane
