// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"
#include "card/card_receive.h"
#include "card/card_transmit.h"
#include "link/egress.h"
#include "link/link_direction.h"
#include "link/replay_queue.h"

#include <array>
#include <deque>
#include <functional>

namespace litepcie {

// What both ends of the link do beyond sending TLPs.
struct PhyPolicy {
    LinkPolicy link;
    uint64_t lcrc_every = 0;            // every lcrc_every-th TLP of a direction arrives damaged; 0: none
    uint64_t credit_return_cycles = 0;  // for which the root port keeps the buffer of a TLP
};

// The PHY of the card and both directions of the link to the root port.
class Phy {
  public:
    Phy(const CardInfo &info, const Credits &root_port, const Credits &card, const PhyPolicy &policy = {});

    // The cycle until which the root port keeps a memory request of the card at least; empty: it keeps none.
    std::function<uint64_t(const Tlp &)> kept_until;
    // How many of the reads that arrived last the root complex does not serve yet, so that the root port keeps them;
    // empty: none.
    std::function<size_t()> reads_waiting;

    // Advances the link by one clock cycle.
    void advance(uint64_t cycle);
    // Gives the next item from the card that has arrived at the host by `cycle`; false if there is none.
    bool receive(uint64_t cycle, CardItem &item) { return card_wire_.arrived(cycle) && take(cycle, item); }
    // Sends TLPs of the queue to the card while the wire is free and credit is left. Calls `sent` for each.
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

    // drive() sets the card's inputs for the next clock edge. clock() transfers the beats and the MSI that both sides
    // accept at that edge; `interrupt_bytes` is the size of the memory write that an MSI is on the link.
    void drive(uint64_t cycle, CardInputs &inputs);
    void clock(uint64_t cycle, const CardInputs &inputs, const CardOutputs &outputs, unsigned interrupt_bytes);

    // Whether everything that the card sent has arrived at the host.
    bool all_sent() const { return card_wire_.empty() && transmit_.idle(); }
    bool quiet() const {
        return !occupied() && card_wire_.empty() && host_wire_.empty() && transmit_.idle() && receive_.empty();
    }
    void set_mps(unsigned mps);
    void reset();

    CardTransmit &transmit() { return transmit_; }
    CardReceive &receive() { return receive_; }
    const LinkDirection &to_host() const { return to_host_; }
    const LinkDirection &to_card() const { return to_card_; }
    const CompletionSpace &completion_peak() const { return receive_.completion_peak(); }

  private:
    // A TLP of the card in the root port's buffer.
    struct Occupied {
        uint64_t until;
        unsigned data;
    };

    bool take(uint64_t cycle, CardItem &item);
    void free(uint64_t cycle);
    void free(uint64_t cycle, TlpClass tlp_class, size_t kept);
    bool occupied() const;
    void start(const Tlp &tlp);
    void arrive(uint64_t cycle);

    LinkDirection to_host_, to_card_;
    uint64_t credit_return_cycles_;
    std::array<std::deque<Occupied>, kTlpClasses> occupied_;  // by class, as they do not wait for each other
    ReplayQueue<CardItem> card_wire_;
    ReplayQueue<HostTlp> host_wire_;
    CardTransmit transmit_;
    CardReceive receive_;
    HostTlp arrived_;
};

}  // namespace litepcie
