// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/training.h"

namespace litepcie::lane {

// States --------------------------------------------------------------------------------------------------------------

const LinkStateInfo &info(LinkState state) {
    static constexpr LinkState kDetect = LinkState::DetectQuiet;
    static constexpr LinkStateInfo kInfo[kLinkStates] = {
        {"Detect.Quiet", 12000, LinkState::DetectActive},
        {"Detect.Active", 0, kDetect},
        {"Polling.Active", 24000, kDetect},
        {"Polling.Configuration", 48000, kDetect},
        {"Configuration.Linkwidth.Start", 24000, kDetect},
        {"Configuration.Lanenum.Wait", 2000, kDetect},
        {"Configuration.Complete", 2000, kDetect},
        {"Configuration.Idle", 2000, LinkState::RecoveryLock},
        {"L0", 0, kDetect},
        {"Recovery.RcvrLock", 24000, kDetect},
        {"Recovery.RcvrCfg", 48000, kDetect},
        {"Recovery.Idle", 2000, LinkState::RecoveryLock},
        {"L1", 0, kDetect},
        {"L2", 0, kDetect},
        {"Hot Reset", 2000, kDetect},
        {"Disabled", 0, kDetect},
        {"Loopback.Entry", 99000, LinkState::LoopbackExit},
        {"Loopback.Active", 0, kDetect},
        {"Loopback.Exit", 2000, kDetect},
    };
    return kInfo[unsigned(state)];
}

// State Machine -------------------------------------------------------------------------------------------------------

Training::Training(const TrainingOptions &options, uint64_t seed) : options_(options), random_(seed) {
    enter(LinkState::DetectQuiet);
    timer_ = options.quiet_since;
}

// Change of State -----------------------------------------------------------------------------------------------------

// The first change that is due counts, after a pause.
void Training::go(LinkState state) {
    if (next_ != state_)
        return;
    next_ = state;
    pause_ = options_.slowness ? random_() % (options_.slowness + 1) : 0;
}

void Training::enter(LinkState state) {
    const LinkState before = state_;
    state_ = next_ = state;
    timer_ = silence_ = 0;
    limit_ = info(state).microseconds * kSymbolsPerMicrosecond;
    if (state == LinkState::DetectActive)
        limit_ = kDetection;
    sent_ = 0;
    counting_ = enough_ = any_set_ = idle_set_sent_ = was_silent_ = false;
    if (state == LinkState::L0)
        retries_ = 0;
    if (state == LinkState::DetectQuiet)
        hot_reset_ = retrain_ = no_scrambling_ = false, retries_ = 0;
    if (before != state)
        entered(state);
}

void Training::advance(bool silent) {
    timer_++;
    silence_++;
    if (next_ != state_) {
        if (pause_-- == 0)
            enter(next_);
        return;
    }
    if (limit_ && timer_ >= limit_)
        expire();
    else if (state_ == LinkState::DetectQuiet && !silent)
        go(LinkState::DetectActive);
    else if (state_ == LinkState::L0 && (retrain_ || hot_reset_ || disable_ || loopback_ || silence_ > kMostSilence))
        retrain_ = false, go(LinkState::RecoveryLock);
    else if (state_ == LinkState::L0 && sleep_ != Sleep::None && silent)
        go(sleep_ == Sleep::L1 ? LinkState::L1 : LinkState::L2);
    else if (asleep())
        rest(silent);
    else if (state_ == LinkState::Disabled && !disable_)
        go(LinkState::DetectQuiet);
    else if (state_ == LinkState::LinkwidthStart && loopback_)
        go(LinkState::LoopbackEntry);
    else if ((state_ == LinkState::LoopbackEntry || state_ == LinkState::LoopbackActive) && !loopback_)
        go(LinkState::LoopbackExit);
}

// In L1 and L2, until the card or the host wakes the link. L2 ends in Detect (PCIe 2.1 5.3.2.3).
void Training::rest(bool silent) {
    was_silent_ |= silent;
    const bool asked = retrain_ || hot_reset_ || disable_ || loopback_;
    if (!idle_set_sent_ || (!(was_silent_ && !silent) && !asked && !(wake_ && state_ == LinkState::L1)))
        return;
    retrain_ = false;
    go(state_ == LinkState::L1 ? LinkState::RecoveryLock : LinkState::DetectQuiet);
}

// The time of the state is over.
void Training::expire() {
    if (state_ == LinkState::DetectActive)
        enter(options_.present ? LinkState::PollingActive : LinkState::DetectQuiet);
    else if (state_ == LinkState::RecoveryLock && any_set_)
        enter(LinkState::LinkwidthStart);
    else if (sending_idle() && retries_++ >= (state_ == LinkState::RecoveryIdle ? kIdleRetries : 1))
        enter(LinkState::DetectQuiet);
    else
        enter(info(state_).otherwise);
}

// Receive -------------------------------------------------------------------------------------------------------------

void Training::received(Received what, Receiver &receiver) {
    if (what == Received::TrainingSet) {
        silence_ = 0;
        training_set(receiver.training_set(), receiver);
    } else if (what == Received::SkipSet) {
        silence_ = 0;
    } else if (what == Received::LogicalIdle && sending_idle()) {
        idle(receiver.idle());
    }
}

void Training::training_set(const TrainingSet &set, Receiver &receiver) {
    const unsigned alike = receiver.alike();
    any_set_ = true;
    counting_ |= set.second && !sending_idle();
    if (state_ == LinkState::PollingActive) {
        if (set.inverted && alike >= kFew) {
            receiver.invert = !receiver.invert;
            receiver.forget();
        } else if (!set.inverted && alike >= kInARow && set.blank() && sent_ >= kPollingSets &&
                   (set.second || !(set.control & set.kCompliance) || set.control & set.kLoopback)) {
            go(LinkState::PollingConfiguration);
        }
    } else if (state_ == LinkState::PollingConfiguration) {
        enough_ |= set.second && set.blank() && alike >= kInARow;
    } else if (state_ >= LinkState::LinkwidthStart && state_ <= LinkState::Complete) {
        in_configuration(set, alike);
    } else if (state_ >= LinkState::ConfigurationIdle && state_ <= LinkState::L2) {
        in_recovery(set, alike);
    } else if (state_ == LinkState::LoopbackEntry && alike >= kFew && !set.second && set.control & set.kLoopback) {
        go(LinkState::LoopbackActive);
    }
}

void Training::in_configuration(const TrainingSet &set, unsigned alike) {
    const Symbol link = options_.link_number;
    if (state_ == LinkState::LinkwidthStart) {
        if (alike >= kFew && !set.second && set.link == link && set.lane == kPad)
            go(LinkState::LanenumWait);
    } else if (alike >= kFew && !set.second && set.blank()) {
        go(LinkState::DetectQuiet);
    } else if (state_ == LinkState::LanenumWait) {
        if (alike >= kFew && set.numbered(link))
            go(LinkState::Complete);
    } else if (alike >= kInARow && set.second && set.numbered(link)) {
        enough_ = true;
        no_scrambling_ = !options_.scrambling || set.control & set.kNoScrambling;
    }
}

void Training::in_recovery(const TrainingSet &set, unsigned alike) {
    const bool ours = set.numbered(options_.link_number), no_lane = !set.second && set.lane == kPad;
    switch (state_) {
    case LinkState::L0:
    case LinkState::L1:
    case LinkState::L2: go(LinkState::RecoveryLock); break;
    case LinkState::RecoveryLock:
        if (ours && alike >= kInARow)
            go(LinkState::RecoveryConfiguration);
        break;
    case LinkState::RecoveryConfiguration:
        if (ours && set.second && alike >= kInARow)
            enough_ = true;
        else if (no_lane && alike >= kInARow)
            go(LinkState::LinkwidthStart);
        break;
    case LinkState::RecoveryIdle:
        if (no_lane && alike >= kFew)
            go(LinkState::LinkwidthStart);
        break;
    default: break;
    }
}

void Training::idle(unsigned in_a_row) {
    counting_ = true;
    enough_ |= in_a_row >= kInARow;
}

// Send ----------------------------------------------------------------------------------------------------------------

Training::Send Training::send() const {
    switch (state_) {
    case LinkState::DetectQuiet:
    case LinkState::DetectActive: return Send::Silence;
    case LinkState::Disabled: return idle_set_sent_ ? Send::Silence : sent_ >= kSentAfter ? Send::IdleSet : Send::Sets;
    case LinkState::LoopbackActive: return Send::Loopback;
    case LinkState::L1:
    case LinkState::L2:
    case LinkState::LoopbackExit: return idle_set_sent_ ? Send::Silence : Send::IdleSet;
    case LinkState::ConfigurationIdle:
    case LinkState::L0:
    case LinkState::RecoveryIdle: return Send::Data;
    default: return Send::Sets;
    }
}

TrainingSet Training::set() const {
    TrainingSet set;
    set.n_fts = options_.n_fts;
    set.rates = options_.rates;
    if (state_ >= LinkState::LinkwidthStart)
        set.link = options_.link_number;
    if (state_ >= LinkState::LanenumWait)
        set.lane = 0;
    set.second = state_ == LinkState::PollingConfiguration || state_ == LinkState::Complete ||
                 state_ == LinkState::RecoveryConfiguration;
    set.control = state_ == LinkState::HotReset        ? set.kHotReset
                  : state_ == LinkState::Disabled      ? set.kDisable
                  : state_ == LinkState::LoopbackEntry ? set.kLoopback
                                                       : 0;
    if (!options_.scrambling)
        set.control |= set.kNoScrambling;
    return set;
}

void Training::sent_set(bool idle_set) {
    if ((state_ == LinkState::Disabled && sent_ >= kSentAfter) ||
        ((asleep() || state_ == LinkState::LoopbackExit) && idle_set))
        idle_set_sent_ = true;
    if (state_ == LinkState::PollingActive || state_ == LinkState::Disabled || counting_)
        sent_++;
    if (!enough_ || sent_ < kSentAfter)
        return;
    if (state_ == LinkState::PollingConfiguration)
        go(LinkState::LinkwidthStart);
    else if (state_ == LinkState::Complete)
        go(LinkState::ConfigurationIdle);
    else if (state_ == LinkState::RecoveryConfiguration)
        go(hot_reset_  ? LinkState::HotReset
           : disable_  ? LinkState::Disabled
           : loopback_ ? LinkState::LoopbackEntry
                       : LinkState::RecoveryIdle);
}

void Training::sent_idle() {
    sent_ += counting_;
    if (sending_idle() && enough_ && sent_ >= kSentAfter)
        go(LinkState::L0);
}

}  // namespace litepcie::lane
