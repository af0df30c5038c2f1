// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"
#include "link/link_direction.h"
#include "referee/tlp_checker.h"
#include "tlp/tlp.h"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <vector>

namespace litepcie {

// Assembles the card's beats into TLPs, and checks the rules of the stream. It throws Violation if one is broken:
// - valid stays high, and the beat unchanged, until the beat is accepted. Bytes that are not enabled may change.
// - `first` marks the first beat of a TLP and no other.
// - All bytes are enabled up to the end of the TLP, none after it.
class StreamChecker {
  public:
    // A Violation begins with `name`. If the stream's payload is `little_endian`, tlp() has it big-endian.
    explicit StreamChecker(unsigned dwords, const char *name = "stream to the PHY", bool little_endian = false)
        : dwords_(dwords), name_(name), little_endian_(little_endian) {}

    // Checks what the card shows in this cycle; it is accepted if `valid` and `ready`.
    void observe(bool valid, bool ready, const Beat &beat);
    // Goes on after a Violation that observe() threw.
    void resume(bool valid, bool ready, const Beat &beat);
    // Number of dwords of the beat that belong to the TLP. Throws Violation if the byte enables are wrong.
    unsigned dwords_of(const Beat &beat) const;
    // Adds an accepted beat; true if it was the last of its TLP.
    bool take(const Beat &beat);
    const Tlp &tlp() const { return tlp_; }
    bool inside() const { return inside_; }
    void reset();

  private:
    [[noreturn]] void fail(const char *rule, const Beat &beat) const;

    unsigned dwords_;
    const char *name_;
    bool little_endian_;
    bool inside_ = false;
    bool held_ = false;  // the previous cycle showed a beat that was not accepted
    Beat shown_{};
    Tlp tlp_;
};

// Limits a stream of the card to the rate of the hard block's interface, which may have another clock and another
// width. The time that a beat takes to cross the clocks is part of the host's latency.
class BlockSide {
  public:
    // A beat of the block carries parts of `part` bytes, none of two TLPs in one part: all of the beat, or a segment
    // with the straddle option. `ahead` beats may leave at once after a pause.
    BlockSide(const CardInfo &card, unsigned part, unsigned ahead)
        : part_bytes_(part), width_bytes_(card.block_width / 8), clock_(card.block_clock_hz),
          card_clock_(card.clock_hz), most_(clock_ + ahead * card_clock_), left_(most_) {}

    // Once in each clock cycle of the card.
    void clock() { left_ = std::min(left_ + clock_, most_); }
    bool ready() const { return left_ > 0 || !width_bytes_; }
    // `bytes` bytes of a TLP leave. The next ones wait until the interface had the time for them.
    void take(unsigned bytes) {
        if (width_bytes_)
            left_ -= (bytes + part_bytes_ - 1) / part_bytes_ * part_bytes_ * card_clock_ / width_bytes_;
    }

  private:
    // Times are in units that make a cycle of the card `clock_` long, and one of the block `card_clock_`.
    int64_t part_bytes_, width_bytes_;
    int64_t clock_, card_clock_;
    int64_t most_, left_;
};

// What the card sends to the host: a TLP, or an MSI, which is a posted write on the link.
struct CardItem {
    Tlp tlp;
    bool interrupt = false;
    uint8_t vector = 0;
    bool discarded = false;  // the root port only counts its credits

    TlpClass credit_class() const { return interrupt ? TlpClass::Posted : tlp.credit_class(); }
    unsigned data_credits() const { return interrupt ? 1 : tlp.data_credits(); }
};

// The transmit side of the card's PHY, with one stream, or one for requests and one for completions. It accepts beats
// while at most kBeats of them wait for the wire. A TLP without credit stops its stream.
//
// TLPs leave in the order of their last beats, with one exception. A completion that ends while the card is sending a
// posted write leaves after that write, as no completion may pass a posted write (PCIe 4.0 2.4).
class CardTransmit {
  public:
    static constexpr unsigned kBeats = 4;
    static constexpr unsigned kCrossingBeats = 16;  // that a crossing to the hard block stores

    CardTransmit(const CardInfo &card, LinkDirection &link, ReplayQueue<CardItem> &wire);

    // drive() sets the card's inputs for the next clock edge. clock() accepts the beats and the MSI that the card
    // shows; `interrupt_bytes` is the size of the memory write that an MSI is on the link.
    void drive(uint64_t cycle, CardInputs &inputs);
    void clock(uint64_t cycle, const CardInputs &inputs, const CardOutputs &outputs, unsigned interrupt_bytes);

    // Called with each TLP when its last beat is accepted. The TLP may still wait for credit. False: the root port
    // discards the TLP.
    std::function<bool(const Tlp &)> on_accept;
    // Called while a Violation is handled after which the stream can go on.
    std::function<void(const Violation &)> on_broken = [](const Violation &) { throw; };
    // Called with each MSI that is accepted.
    std::function<void(uint8_t vector)> on_interrupt;

    // Whether no TLP is partly on the wire. A TLP that waits for credit has not begun.
    bool between_tlps() const;
    bool idle() const;
    void reset();

  private:
    struct Channel {
        StreamChecker stream;
        BlockSide block;
        bool credit_wait = false;  // the current TLP waits for credit
        bool discarded = false;    // of the current TLP, once it is accepted
        TlpClass tlp_class = TlpClass::Posted;
        unsigned data = 0;  // data credits of the current TLP

        bool open() const { return stream.inside() || credit_wait; }
    };

    void wait_for_credit(uint64_t cycle, Channel &channel);
    void begin(Channel &channel);
    void observe(StreamChecker &stream, bool valid, bool ready, const Beat &beat);
    void take_beat(uint64_t cycle, Channel &channel, const Beat &beat);
    void end(uint64_t cycle, Channel &channel);
    void take_interrupt(uint64_t cycle, uint8_t vector, unsigned bytes);
    Channel &requests() { return channels_.front(); }

    const unsigned beat_bytes_;
    LinkDirection &link_;
    ReplayQueue<CardItem> &wire_;
    std::vector<Channel> channels_;
    std::deque<CardItem> held_;  // completions that leave after the posted write that the card is sending
};

// The receive side of the card's PHY. It buffers whole TLPs from the host and presents them beat by beat to the card:
// on one stream, or on one for requests and one for completions. A completion is presented only after the card has
// accepted all posted writes that arrived before it, unless it has the Relaxed Ordering attribute (PCIe 4.0 2.4; PG213,
// "Receive Transaction Ordering").
class CardReceive {
  public:
    // `link` is the direction of the TLPs, `back` the direction of the DLLPs that answer them.
    CardReceive(const CardInfo &card, LinkDirection &link, LinkDirection &back);

    // Puts a TLP into the PHY's buffer. Throws Violation if completions overflow it, in number or in data: the card
    // requested more than it can accept, and a real hard block would lose completions. Stray completions do not count,
    // as they are the host's fault.
    void arrive(HostTlp tlp);

    // drive() sets the card's inputs for the next clock edge; clock() removes the beats accepted at that edge.
    void drive(CardInputs &inputs);
    void clock(const CardInputs &inputs, const CardOutputs &outputs);

    // The BAR that a request is for; empty: the card has only one.
    std::function<unsigned(const Tlp &)> bar_of;
    // Called when the card accepts the first beat of a TLP, and the last one.
    std::function<void(const HostTlp &)> on_begin, on_end;

    bool empty() const;
    // The most completions, and the most of their data in bytes, that were held at once.
    const CompletionSpace &completion_peak() const { return peak_; }
    void reset();

  private:
    struct Waiting {
        HostTlp tlp;
        uint64_t posted_before;  // number of posted writes that arrived before it
    };
    struct Channel {
        explicit Channel(const BlockSide &side) : block(side) {}
        BlockSide block;
        std::deque<Waiting> waiting;
        size_t in_fabric = 0;  // the first TLPs of `waiting`, which are in the buffer in the fabric
        size_t position = 0;   // dwords of the first TLP that the card has accepted
        bool shown = false;    // the inputs already hold the beat at `position`
    };

    // Bytes of the beat that is next on a channel.
    unsigned beat_bytes(const Channel &channel) const;
    // Beats that a completion takes in the buffer in the fabric.
    unsigned fabric_beats(const HostTlp &tlp) const;
    // Moves completions from the hard block into the buffer in the fabric.
    void fill_fabric(Channel &channel);
    bool may_pass(const Waiting &waiting) const;
    void show_beat(const Channel &channel, RxInput &rx) const;
    void beat_taken(Channel &channel);
    // Frees the buffer space of a TLP and returns its credit.
    void release(const HostTlp &tlp);

    const unsigned dwords_;
    const bool little_endian_;
    const CompletionSpace space_;
    const unsigned fabric_bytes_, fabric_space_;  // bytes of a beat of the buffer in the fabric, and its beats
    unsigned fabric_held_ = 0;                    // beats
    LinkDirection &link_, &back_;
    std::vector<Channel> channels_;
    uint64_t posted_arrived_ = 0, posted_taken_ = 0;
    CompletionSpace held_{}, peak_{};
};

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
