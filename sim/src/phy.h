// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "board.h"
#include "egress.h"
#include "link_direction.h"
#include "stream_checker.h"

#include <deque>
#include <functional>

namespace litepcie {

// Credits as root ports advertise them: posted writes 64 headers and 4 KiB, reads 64, completions without limit.
constexpr Credits kRootPortCredits = {{64, 64, Credits::kInfinite}, {256, 64, Credits::kInfinite}};
// Credits as a hard block advertises them: 32 posted headers and 2 KiB, 12 reads; completions without limit, as an
// endpoint must, with a buffer behind (BoardInfo) that the card must not let overflow; a header counts 16 bytes of it.
constexpr Credits kCardCredits = {{32, 12, Credits::kInfinite}, {128, 12, Credits::kInfinite}};

// What came from the card: a TLP, or its request for an interrupt.
struct CardItem {
    Tlp tlp;
    bool interrupt = false;
    uint8_t vector = 0;
    uint64_t arrival = 0;  // cycle of its last byte at the host
};

// The PHY of the card with the link behind it. The card's beats are taken as long as no more than kTransmitBeats of
// them wait for the wire; a TLP whose class has no credit stops the stream. What the host sends is shown to the card,
// beat by beat and whole TLPs only, after its last byte arrived.
class Phy {
  public:
    static constexpr unsigned kTransmitBeats = 4;

    Phy(const BoardInfo &board, const Credits &root_port, const Credits &card);

    // One cycle of link time.
    void advance();
    // Towards the host: next item that has arrived by `cycle`.
    bool receive(uint64_t cycle, CardItem &item);
    // Towards the card: sends what is in the queue as fast as the wire and the credits allow.
    template <typename Sent> void send(Egress &egress, uint64_t cycle, Sent sent) {
        while (to_card_.free_this_cycle() && !egress.empty()) {
            if (!egress.next(to_card_)) {
                to_card_.count_credit_wait();
                break;
            }
            HostTlp tlp = egress.pop();
            start(tlp);
            sent(tlp.tlp);
            flying_.push_back({std::move(tlp), cycle + to_card_.cycles_to_drain()});
        }
    }

    // Inputs for the coming clock edge; then what happens at it, from what the board showed. `interrupt_bytes` is the
    // size of the memory write an MSI is. True when the card took the last beat of a TLP: taken() gives it.
    void drive(uint64_t cycle, BoardInputs &inputs);
    bool clock(uint64_t cycle, const BoardInputs &inputs, const BoardOutputs &outputs, unsigned interrupt_bytes);
    const HostTlp &taken() const { return taken_; }

    // Called with each TLP of the card when its last beat is taken, before it is on the wire.
    std::function<void(const Tlp &)> on_accept;
    // Called with each TLP of the host when the card takes its first beat; by then it is in the card's PHY as a whole.
    std::function<void(const HostTlp &)> on_begin;

    bool quiet() const {
        return to_host_queue_.empty() && flying_.empty() && received_.empty() && !stream_.inside() && !credit_wait_;
    }
    void set_mps(unsigned mps);
    void reset();

    const LinkDirection &to_host() const { return to_host_; }
    const LinkDirection &to_card() const { return to_card_; }
    unsigned completion_buffer_peak() const { return completion_peak_; }

  private:
    struct Flying {
        HostTlp tlp;
        uint64_t arrival;
    };

    void start(const HostTlp &tlp);
    void queue_tlp(uint64_t cycle);
    void take_beat(uint64_t cycle, const Beat &beat);
    void arrive(uint64_t cycle);
    void show_beat(BoardInputs &inputs);
    bool beat_taken();

    const unsigned dwords_;
    const unsigned completion_buffer_;  // bytes
    LinkDirection to_host_, to_card_;
    StreamChecker stream_;
    std::deque<CardItem> to_host_queue_;
    bool credit_wait_ = false;  // the TLP that began has no credit yet
    TlpClass wait_class_ = TlpClass::Posted;
    unsigned wait_data_ = 0;

    std::deque<Flying> flying_;
    std::deque<HostTlp> received_;  // the PHY's receive buffer
    size_t position_ = 0;           // dwords of the front that were taken
    bool shown_ = false;            // the beat at `position_` is in the inputs
    HostTlp taken_;
    unsigned completion_bytes_ = 0, completion_peak_ = 0;
};

}  // namespace litepcie
