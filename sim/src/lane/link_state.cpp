// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "lane/link_state.h"

namespace litepcie::lane {

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

}  // namespace litepcie::lane
