// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"
#include "card/card_receive.h"
#include "card/card_transmit.h"
#include "link/egress.h"
#include "link/link_direction.h"
#include "link/replay_queue.h"

namespace litepcie {

// How the two ends of the link run it.
struct LinkPolicy {
    UpdateFc update_fc = UpdateFc::Guideline;
    uint64_t lcrc_every = 0;  // every so many TLPs of a direction one arrives damaged; 0: none
};

// The PHY of the card with the link behind it, both directions of it.
class Phy {
  public:
    Phy(const CardInfo &info, const Credits &root_port, const Credits &card, const LinkPolicy &policy = {});

    // One cycle of link time.
    void advance(uint64_t cycle);
    // Towards the host: next item that has arrived by `cycle`.
    bool receive(uint64_t cycle, CardItem &item) { return card_wire_.arrived(cycle) && take(cycle, item); }
    // Towards the card: sends what is in the queue as fast as the wire and the credits allow.
    template <typename Sent> void send(Egress &egress, uint64_t cycle, Sent sent) {
        while (to_card_.free_this_cycle() && !egress.empty()) {
            if (!egress.next(to_card_)) {
                to_card_.count_credit_wait();
                break;
            }
            HostTlp tlp = egress.pop();
            start(tlp.tlp);
            sent(tlp.tlp);
            const unsigned bytes = tlp.tlp.wire_bytes();
            host_wire_.push(std::move(tlp), bytes, cycle);
        }
    }

    // Inputs for the coming clock edge; then what happens at it, from what the board showed. `interrupt_bytes` is the
    // size of the memory write an MSI is.
    void drive(uint64_t cycle, CardInputs &inputs);
    void clock(uint64_t cycle, const CardInputs &inputs, const CardOutputs &outputs, unsigned interrupt_bytes);

    bool quiet() const { return card_wire_.empty() && host_wire_.empty() && transmit_.idle() && receive_.empty(); }
    void set_mps(unsigned mps);
    void reset();

    CardTransmit &transmit() { return transmit_; }
    CardReceive &receive() { return receive_; }
    const LinkDirection &to_host() const { return to_host_; }
    const LinkDirection &to_card() const { return to_card_; }
    unsigned completion_buffer_peak() const { return receive_.completion_peak(); }

  private:
    bool take(uint64_t cycle, CardItem &item);
    void start(const Tlp &tlp);
    void arrive(uint64_t cycle);

    LinkDirection to_host_, to_card_;
    ReplayQueue<CardItem> card_wire_;
    ReplayQueue<HostTlp> host_wire_;
    CardTransmit transmit_;
    CardReceive receive_;
    HostTlp arrived_;
};

}  // namespace litepcie
