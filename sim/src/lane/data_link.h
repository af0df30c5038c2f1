// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/packet.h"
#include "lane/training.h"
#include "link/flow_control.h"
#include "tlp/tlp.h"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

namespace litepcie::lane {

// The credits that the partner gives: what may be sent (PCIe 2.1 2.6.1.2, transmitter).
class CreditLimits {
  public:
    // The values of the initialization, where 0 is infinite. They may come again.
    void record(unsigned tlp_class, unsigned headers, unsigned data) {
        pools_[tlp_class] = {Pool{headers, 0, headers == 0}, Pool{data, 0, data == 0}};
        recorded_ |= 1u << tlp_class;
    }
    void update(unsigned tlp_class, unsigned headers, unsigned data) {
        pools_[tlp_class][0].limit = headers;
        pools_[tlp_class][1].limit = data;
    }
    bool finite(unsigned tlp_class) const { return !pools_[tlp_class][0].infinite || !pools_[tlp_class][1].infinite; }
    bool recorded() const { return recorded_ == (1u << kTlpClasses) - 1; }
    bool allow(const Tlp &tlp) const {
        const auto &pools = pools_[unsigned(tlp.credit_class())];
        return pools[0].allows(1, 0xff) && pools[1].allows(tlp.data_credits(), 0xfff);
    }
    void consume(const Tlp &tlp) {
        auto &pools = pools_[unsigned(tlp.credit_class())];
        pools[0].consumed++;
        pools[1].consumed += tlp.data_credits();
    }

  private:
    struct Pool {
        unsigned limit = 0, consumed = 0;
        bool infinite = false;
        bool allows(unsigned need, unsigned mask) const {
            return infinite || ((limit - consumed - need) & mask) <= mask / 2;
        }
    };
    std::array<std::array<Pool, 2>, kTlpClasses> pools_{};
    unsigned recorded_ = 0;
};

// The credits that the partner gets: what it may send, and when it is told of more (receiver).
class CreditGrants {
  public:
    explicit CreditGrants(const Credits &advertised)
        : advertised_(advertised), allocated_(advertised), announced_(advertised) {}

    bool infinite(unsigned tlp_class) const { return !advertised_.finite(tlp_class); }
    // Fields of InitFC and UpdateFC.
    unsigned headers(unsigned tlp_class) const { return field(advertised_.header, allocated_.header, tlp_class); }
    unsigned data(unsigned tlp_class) const { return field(advertised_.data, allocated_.data, tlp_class); }
    // A TLP came. False if the partner had no credits for it.
    bool receive(const Tlp &tlp) {
        const unsigned i = unsigned(tlp.credit_class());
        received_.header[i]++;
        received_.data[i] += tlp.data_credits();
        return within(advertised_.header[i], received_.header[i], allocated_.header[i]) &&
               within(advertised_.data[i], received_.data[i], allocated_.data[i]);
    }
    // The room of a TLP is free again.
    void release(const Tlp &tlp) {
        const unsigned i = unsigned(tlp.credit_class());
        allocated_.header[i]++;
        allocated_.data[i] += tlp.data_credits();
    }
    // An UpdateFC tells the partner of all that is free.
    void announce(unsigned i) {
        announced_.header[i] = allocated_.header[i];
        announced_.data[i] = allocated_.data[i];
    }
    // Whether the partner may lack credits for one more TLP with up to `mps` bytes (PCIe 2.1 2.6.1.2).
    bool scarce(unsigned i, unsigned mps) const {
        const int64_t data = TlpClass(i) == TlpClass::NonPosted ? 1 : mps / kCreditBytes;
        return announced_.header[i] - received_.header[i] < 1 || announced_.data[i] - received_.data[i] < data;
    }
    // Whether half of the room is free again, and the partner does not know.
    bool half(unsigned i) const {
        return 2 * (allocated_.header[i] - announced_.header[i]) >= advertised_.header[i] ||
               2 * (allocated_.data[i] - announced_.data[i]) >= advertised_.data[i];
    }
    void reset() {
        allocated_ = announced_ = advertised_;
        received_ = {};
    }

  private:
    using Pools = std::array<int64_t, kTlpClasses>;
    static unsigned field(const Pools &advertised, const Pools &allocated, unsigned i) {
        return advertised[i] < Credits::kInfinite ? unsigned(allocated[i]) : 0;
    }
    static bool within(int64_t advertised, int64_t received, int64_t allocated) {
        return advertised >= Credits::kInfinite || received <= allocated;
    }

    Credits advertised_, allocated_, announced_, received_{};
};

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

struct DataLinkOptions {
    Credits credits = kRootPortCredits;  // that the card gets
    unsigned mps = 128;                  // for the limits of time; see set_mps()
    UpdateFc update_fc = UpdateFc::Guideline;
    std::optional<unsigned> update_delay;  // symbols from a freed credit to its UpdateFC, whatever the policy says
    unsigned power_limit = 0;              // the slot's, sent when flow control is initialized (6.9); 0: it is not
    bool sleeps = true;                    // the port lets the link sleep when the card asks for it
    bool greedy = false;                   // sends TLPs for which the card has given no credits
};

struct DataLinkCounts {
    uint64_t sent = 0, received = 0;  // TLPs, each once
    uint64_t acks = 0, naks_sent = 0, naks_received = 0, replays = 0, timeouts = 0, updates = 0;
    uint64_t acks_received = 0, updates_received = 0;
    uint64_t bad_tlps = 0, bad_dllps = 0, nullified = 0, duplicates = 0;
    uint64_t late_updates = 0;                    // of the card: 45 us without one, for a type that has a limit
    uint64_t sleep_requests = 0, sleep_acks = 0;  // PM_Enter_L1 and PM_Enter_L23, PM_Request_Ack
    uint64_t protocol_errors = 0;                 // wrong numbers in ACK or NAK, TLPs without credits
};

// Data link layer of the root port (PCIe 2.1 chapter 3): initialization of flow control, credits, ACK and NAK, replay.
class DataLink {
  public:
    explicit DataLink(const DataLinkOptions &options);
    // Of the link's software: the limits of time depend on Max_Payload_Size.
    void set_mps(unsigned mps);

    // Of the physical layer, per symbol: LinkUp, and whether packets may be sent.
    void advance(bool link_up, bool active);
    void receive(const Packet &packet);
    // The next packet to send, or nullptr. Valid until the next call.
    const Packet *next();
    // Falls when the physical layer left L0.
    bool wants_retrain() const { return wants_retrain_; }
    // The card has asked for this, and everything that was sent is acknowledged: it is told so until its lane is idle.
    Sleep agreed() const { return retry_.empty() ? asked_ : Sleep::None; }
    bool update_seen() { return std::exchange(update_seen_, false); }

    // Of the transaction layer. A TLP that was received keeps its credits until release().
    void send(Tlp tlp) { queues_[unsigned(tlp.credit_class())].push_back({std::move(tlp), pushed_++}); }
    // Whether a TLP of this class would be among the next that are sent.
    bool room(TlpClass tlp_class) const { return queues_[unsigned(tlp_class)].size() < 2; }
    bool receive(Tlp &tlp);
    void release(const Tlp &tlp);
    bool up() const { return state_ == State::Up; }
    // Nothing waits, and everything that was sent is acknowledged.
    bool quiet() const { return retry_.empty() && !waiting() && received_.empty(); }

    // TLPs wait, and the link is to be awake for them.
    bool waiting() const;

    const DataLinkCounts &counts() const { return counts_; }

  private:
    enum class State { Down, Init1, Init2, Up };
    struct Queued {
        Tlp tlp;
        uint64_t number;
    };

    void reset();
    void receive_tlp(const Packet &packet);
    void receive_dllp(const Dllp &dllp);
    void receive_ack(unsigned sequence, bool nak);
    void come_up();
    void replay();
    bool next_dllp(Dllp &dllp);
    bool next_init(Dllp &dllp);
    bool next_update(Dllp &dllp);
    const Packet *next_tlp();
    std::deque<Queued> *next_queue();
    bool too_late(unsigned waited);

    DataLinkOptions options_;
    unsigned ack_limit_ = 0, replay_limit_ = 0;  // symbols
    State state_ = State::Down;
    DataLinkCounts counts_;

    // Flow control.
    CreditLimits limits_;
    CreditGrants grants_;
    unsigned init_turn_ = 0, init_timer_ = 0;
    bool confirmed_ = false, update_seen_ = false;
    struct Update {
        unsigned since = 0;   // symbols since the last UpdateFC
        bool wanted = false;  // a credit was freed
        unsigned waits = 0;   // symbols since then
    };
    std::array<Update, kTlpClasses> updates_;
    std::array<unsigned, kTlpClasses> heard_{};  // symbols of L0 since the card's last UpdateFC

    // Receive.
    unsigned expected_ = 0;  // NEXT_RCV_SEQ
    bool nak_scheduled_ = false, nak_due_ = false, ack_wanted_ = false, ack_now_ = false;
    unsigned ack_timer_ = 0;
    std::deque<Tlp> received_;

    // Send.
    std::array<std::deque<Queued>, kTlpClasses> queues_;
    uint64_t pushed_ = 0;
    RetryBuffer retry_;
    unsigned replay_timer_ = 0, replays_ = 0;
    bool wants_retrain_ = false;
    Sleep asked_ = Sleep::None;  // no new TLP is sent then
    Packet dllp_;
};

}  // namespace litepcie::lane
