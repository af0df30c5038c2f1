#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""States of link training, what is sent in each, and where the link is up (PCIe 2.1 4.2.6)."""

from enum import IntEnum

from litepcie_soc.phy.soft.set_transmitter import SEND_DATA, SEND_EIOS, SEND_NOTHING, SEND_TS1, SEND_TS2

# States -------------------------------------------------------------------------------------------


class State(IntEnum):
    """Encodings of `LTSSM.state`, in the order in which a link comes up; names as in the specification, shorter."""
    DETECT_QUIET          = 0
    DETECT_ACTIVE         = 1
    POLLING_ACTIVE        = 2
    POLLING_COMPLIANCE    = 3
    POLLING_CONFIGURATION = 4
    LINKWIDTH_START       = 5
    LINKWIDTH_ACCEPT      = 6
    LANENUM               = 7
    COMPLETE              = 8
    CONFIG_IDLE           = 9
    L0                    = 10
    RECOVERY_LOCK         = 11
    RECOVERY_CONFIG       = 12
    RECOVERY_IDLE         = 13
    HOT_RESET             = 14
    DISABLED              = 15
    LOOPBACK_ACTIVE       = 16  # With Loopback.Entry: two TS1 show that symbols are received, so it lasts for no time.
    LOOPBACK_EXIT         = 17
    L1                    = 18
    L2                    = 19  # L2/L3 Ready.


# Of `LTSSM.state`, in the registers and in the log: room for more states than there are.
STATE_BITS = 5

# What each state sends, unless it says more below.
SENDS = {
    **dict.fromkeys((State.POLLING_ACTIVE, State.LINKWIDTH_START, State.LINKWIDTH_ACCEPT, State.LANENUM,
        State.RECOVERY_LOCK, State.HOT_RESET, State.DISABLED), SEND_TS1),
    **dict.fromkeys((State.POLLING_CONFIGURATION, State.COMPLETE, State.RECOVERY_CONFIG), SEND_TS2),
    **dict.fromkeys((State.CONFIG_IDLE, State.L0, State.RECOVERY_IDLE), SEND_DATA),
    **dict.fromkeys((State.L1, State.L2), SEND_EIOS),
    **dict.fromkeys((State.DETECT_QUIET, State.DETECT_ACTIVE, State.LOOPBACK_EXIT), SEND_NOTHING),
    # `CompliancePattern` and `Loopback` take the place of the ordered sets.
    **dict.fromkeys((State.POLLING_COMPLIANCE, State.LOOPBACK_ACTIVE), SEND_NOTHING),
}
# States that assert LinkUp, and those that take it away.
UP   = State.CONFIG_IDLE, State.L0, State.RECOVERY_LOCK, State.RECOVERY_CONFIG, State.RECOVERY_IDLE, State.L1, State.L2
DOWN = (State.DETECT_QUIET, State.DETECT_ACTIVE, State.POLLING_ACTIVE, State.POLLING_COMPLIANCE,
    State.POLLING_CONFIGURATION, State.HOT_RESET, State.DISABLED, State.LOOPBACK_ACTIVE, State.LOOPBACK_EXIT)
