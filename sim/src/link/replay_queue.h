// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "link/link_direction.h"

#include <cstdint>
#include <deque>
#include <utility>

namespace litepcie {

// The TLPs of one direction that are on the wire or in the transmitter's replay buffer (PCIe 3.0 3.5).
//
// Every `damage_every`-th TLP arrives damaged, once; 0 means none. The receiver drops the damaged TLP and all TLPs
// after it, and sends a NAK on `back`. Until the NAK arrives, the transmitter sends new TLPs. Then it sends the damaged
// TLP and all TLPs after it again, in order, and their bytes take time on the wire again.
template <typename Item> class ReplayQueue {
  public:
    ReplayQueue(LinkDirection &link, LinkDirection &back, uint64_t damage_every)
        : link_(link), back_(back), damage_every_(damage_every) {}

    // Adds a TLP whose last byte was just handed to the link. Not allowed while replaying().
    void push(Item item, unsigned wire_bytes, uint64_t cycle) {
        sent_.push_back({std::move(item), wire_bytes, cycle + link_.cycles_to_arrival(), false});
    }

    bool arrived(uint64_t cycle) const { return !sent_.empty() && sent_.front().arrival <= cycle; }
    // Gives the next TLP that has arrived by `cycle`; false if none has, or if the receiver drops it.
    bool receive(uint64_t cycle, Item &item) {
        if (nak_ || !arrived(cycle))
            return false;
        Sent &front = sent_.front();
        if (damage_every_ && !front.damaged && ++accepted_ % damage_every_ == 0) {
            front.damaged = nak_ = true;
            back_.send_nak();
            nak_arrival_ = cycle + back_.cycles_to_arrival();
            return false;
        }
        item = std::move(front.item);
        sent_.pop_front();
        return true;
    }

    // Hands the TLPs of a replay to the link, one by one, whenever the link is free. A replay begins only when
    // `between_tlps` is true, so that a TLP that is handed to the link in parts is finished first.
    void replay(uint64_t cycle, bool between_tlps) {
        if (nak_ && nak_arrival_ <= cycle && between_tlps) {
            nak_ = false;
            to_replay_ = sent_.size();
            for (Sent &sent : sent_)
                sent.arrival = UINT64_MAX;
        }
        while (to_replay_ && link_.free_this_cycle()) {
            Sent &next = sent_[sent_.size() - to_replay_--];
            link_.begin_tlp(next.wire_bytes);
            link_.send_bytes(next.wire_bytes);
            link_.count_replay();
            next.arrival = cycle + link_.cycles_to_arrival();
        }
    }

    // Whether replay() has work: a NAK is on its way, or a replay has begun.
    bool replay_pending() const { return nak_ || to_replay_; }
    // Whether a replay has begun. No new TLP is sent until it is over.
    bool replaying() const { return to_replay_; }
    bool empty() const { return sent_.empty(); }
    // Drops all TLPs, and calls `lost` for each.
    template <typename Lost> void clear(Lost lost) {
        for (const Sent &sent : sent_)
            lost(sent.item);
        sent_.clear();
        to_replay_ = 0;
        nak_ = false;
    }

  private:
    struct Sent {
        Item item;
        unsigned wire_bytes;
        uint64_t arrival;  // cycle of its last byte at the receiver
        bool damaged;      // has arrived damaged once already
    };

    LinkDirection &link_, &back_;
    uint64_t damage_every_;
    std::deque<Sent> sent_;
    size_t to_replay_ = 0;  // how many TLPs, at the end of `sent_`, are still to be sent again
    uint64_t accepted_ = 0;
    bool nak_ = false;  // a NAK is on its way to the transmitter
    uint64_t nak_arrival_ = 0;
};

}  // namespace litepcie
