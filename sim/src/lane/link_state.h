// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/symbols.h"

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

}  // namespace litepcie::lane
