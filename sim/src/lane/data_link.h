// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/credit_counter.h"
#include "lane/dllp.h"
#include "lane/link_state.h"
#include "lane/retry_buffer.h"

#include <deque>
#include <optional>
#include <utility>

namespace litepcie::lane {

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
