// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/framing.h"

#include <functional>
#include <random>

namespace litepcie::lane {

// States of link training (PCIe 2.1 4.2.6), as far as a downstream port with one lane at 2.5 GT/s has them.
enum class LinkState {
    DetectQuiet,
    DetectActive,
    PollingActive,
    PollingConfiguration,
    LinkwidthStart,
    LanenumWait,  // with Configuration.Linkwidth.Accept and Lanenum.Accept, which last for no time here
    Complete,
    ConfigurationIdle,
    L0,
    RecoveryLock,
    RecoveryConfiguration,
    RecoveryIdle,
    L1,
    L2,  // L2/L3 Ready
    HotReset,
    Disabled,
    LoopbackEntry,  // as the master
    LoopbackActive,
    LoopbackExit,
};
constexpr unsigned kLinkStates = unsigned(LinkState::LoopbackExit) + 1;

// What is known of a state: its name in the specification, the microseconds after which it ends, or 0, and the state
// that follows then.
struct LinkStateInfo {
    const char *name;
    uint32_t microseconds;
    LinkState otherwise;
};
const LinkStateInfo &info(LinkState state);

// Where the card asks the link to sleep (PCIe 2.1 5.3.2): L1, or L2 after PME_Turn_Off.
enum class Sleep { None, L1, L2 };

// Counts of PCIe 2.1 4.2.6.
constexpr unsigned kPollingSets = 1024;  // TS1 sent before Polling.Active may end
constexpr unsigned kInARow = 8;          // sets or symbols received, for most changes of state
constexpr unsigned kFew = 2;             // sets received, for link and lane numbers, and for Loopback
constexpr unsigned kSentAfter = 16;      // sent since the first one was received
constexpr unsigned kIdleRetries = 255;   // from Recovery.Idle to Recovery.RcvrLock
constexpr uint64_t kDetection = 4 * kSymbolsPerMicrosecond;
constexpr uint64_t kMostSilence = 128 * kSymbolsPerMicrosecond;  // in L0 (PCIe 2.1 4.2.4.3)

struct TrainingOptions {
    uint8_t link_number = 1;
    uint8_t n_fts = 32;
    uint8_t rates = 2;  // bits 1, 2 and 3: 2.5, 5 and 8 GT/s
    bool scrambling = true;
    bool present = true;       // a receiver is detected at the other end
    unsigned slowness = 0;     // most symbols by which the port is late in each state
    uint64_t quiet_since = 0;  // symbols that Detect.Quiet has lasted at the begin
};

// Link training and status state machine of a downstream port (PCIe 2.1 4.2.6). Called once per symbol.
class Training {
  public:
    enum class Send { Silence, Sets, IdleSet, Data, Loopback };

    Training(const TrainingOptions &options, uint64_t seed);

    // Time passes by one symbol; `silent`: the lane is in electrical idle.
    void advance(bool silent);
    // A symbol completed something.
    void received(Received what, Receiver &receiver);
    // What was asked for has been sent: a training set, or an EIOS.
    void sent_set(bool idle_set);
    void sent_idle();
    // An UpdateFC came.
    void alive() { silence_ = 0; }
    // Whether the link may sleep, as the card has asked for, and whether TLPs wait, for which it is to be awake.
    void power(Sleep agreed, bool waiting) { sleep_ = agreed, wake_ = waiting; }

    Send send() const;
    TrainingSet set() const;
    LinkState state() const { return state_; }
    bool active() const { return state_ == LinkState::L0; }
    bool asleep() const { return state_ == LinkState::L1 || state_ == LinkState::L2; }
    // LinkUp of the specification.
    bool link_up() const { return state_ >= LinkState::ConfigurationIdle && state_ <= LinkState::L2; }
    bool scrambling_off() const { return no_scrambling_; }

    // What the host asks of the port. A link that is disabled begins anew by enable(), one in L2 by any of the others.
    // Loopback is entered from Recovery or from Configuration, and ends by end_loopback().
    void retrain() { retrain_ = true; }
    void hot_reset() { hot_reset_ = true; }
    void disable() { disable_ = true; }
    void enable() { disable_ = false; }
    void loopback() { loopback_ = true; }
    void end_loopback() { loopback_ = false; }

    // Told of each change of state.
    std::function<void(LinkState)> entered = [](LinkState) {};

  private:
    void go(LinkState state);
    void enter(LinkState state);
    void expire();
    void training_set(const TrainingSet &set, Receiver &receiver);
    void in_configuration(const TrainingSet &set, unsigned alike);
    void in_recovery(const TrainingSet &set, unsigned alike);
    void rest(bool silent);
    void idle(unsigned in_a_row);
    bool sending_idle() const { return state_ == LinkState::ConfigurationIdle || state_ == LinkState::RecoveryIdle; }

    TrainingOptions options_;
    std::minstd_rand random_;
    LinkState state_ = LinkState::DetectQuiet, next_ = LinkState::DetectQuiet;
    unsigned pause_ = 0;  // symbols until `next_`
    uint64_t timer_ = 0, limit_ = 0, silence_ = 0;
    unsigned sent_ = 0;
    bool counting_ = false;  // since the first set, or the first idle, that counts
    bool enough_ = false;    // received
    bool any_set_ = false, idle_set_sent_ = false, no_scrambling_ = false;
    unsigned retries_ = 0;
    bool retrain_ = false, hot_reset_ = false, disable_ = false, loopback_ = false;
    Sleep sleep_ = Sleep::None;
    bool wake_ = false, was_silent_ = false;  // in L1 and L2: the card's lane has become idle
};

}  // namespace litepcie::lane
