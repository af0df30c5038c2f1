#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The states of link training, each in one paragraph (PCIe 2.1 4.2.6): section, time, what is sent, and where it goes.

What all states share, such as counters and timers, is in `ltssm.py`.
"""

from dataclasses import dataclass
from enum import IntEnum

from migen import *

from litepcie_soc.endpoint.physical.ordered_sets import SEND_DATA, SEND_EIOS, SEND_NOTHING, SEND_TS1, SEND_TS2

# Encoding -----------------------------------------------------------------------------------------


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

# Bits of `LTSSM.sleep`.
TO_L1, TO_L2 = range(2)

# Counts -------------------------------------------------------------------------------------------

POLLING_TS1  = 1024  # Sent before Polling.Active may end (4.2.6.2.1).
IN_A_ROW     = 8     # Received, for most changes of state.
FEW          = 2     # Received, for link and lane numbers, hot reset, disable and loopback.
SENT_AFTER   = 16    # Sent since the first one was received (TS2, symbols of logical idle).
DISABLE_TS1  = 16    # Sent in Disabled: 16 to 32 (4.2.6.9).
REFUSALS     = 8     # Detections without a receiver, after which one counts as found. Not of the specification.
IDLE_RETRIES = 255   # From Recovery.Idle to Recovery.RcvrLock (4.2.6.4.4).

# Bits of the control symbol of a training set (table 4-2), and of its rate symbol.
HOT_RESET, DISABLE, LOOPBACK, NO_SCRAMBLING, COMPLIANCE = range(5)
RATE_2G5  = 0x02
N_FTS     = 0xff  # Never used: L0s is not advertised.

# Description --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limit:
    """A time in microseconds, with its section in PCIe 2.1."""
    microseconds : float
    section      : str

    def cycles(self, clk_freq):
        return round(self.microseconds*clk_freq/1e6)


@dataclass(frozen=True)
class Description:
    """What is fixed of a state.

    section : in PCIe 2.1.
    sends   : one of SEND, unless `LTSSM.add_sending` says more.
    goes    : function of the `LTSSM` that returns the state's transitions.
    limit   : microseconds until ``expired``, or None.
    up      : the state asserts LinkUp, takes it away, or (None) leaves it.
    numbers : what the training sets that are sent have: 0 PAD, 1 the number of the link, 2 that of the lane, too.
    polls   : what is sent counts from the begin of the state, and not only after the first TS2 that came.
    """
    section : str
    sends   : int
    goes    : object
    limit   : int  = None
    up      : bool = None
    numbers : int  = 2
    polls   : bool = False


STATES = {}


def state(which, section, sends, limit=None, **more):
    """Enters the function below into STATES."""
    def enter(goes):
        STATES[which] = Description(section, sends, goes, limit, **more)
        return goes
    return enter

# Detect and Polling -------------------------------------------------------------------------------


@state(State.DETECT_QUIET, "4.2.6.1.1", SEND_NOTHING, 12_000, up=False)
def detect_quiet(lt):
    """12 ms without energy on the lane. Energy ends it, unless it is an echo of our own detection."""
    return If(lt.ready & (lt.expired | lt.heard), lt.go(State.DETECT_ACTIVE))


@state(State.DETECT_ACTIVE, "4.2.6.1.2", SEND_NOTHING, 12_000, up=False)
def detect_active(lt):
    """The SerDes looks for a receiver. After REFUSALS results without one, it counts as found."""
    return If(lt.detect_done & ~lt.detect,
        If(lt.detect_present | (lt.refusals == REFUSALS), lt.go(State.POLLING_ACTIVE)
        ).Else(lt.go(State.DETECT_QUIET))
    ).Elif(lt.expired, lt.go(State.DETECT_QUIET))


@state(State.POLLING_ACTIVE, "4.2.6.2.1", SEND_TS1, 24_000, up=False, numbers=0, polls=True)
def polling_active(lt):
    """POLLING_TS1 sent, and IN_A_ROW sets received with PAD. The polarity of the lane is found here."""
    view = lt.view
    return If(view.many & lt.settled & ~view.wrong & lt.blank & lt.polled
            & (view.is_ts2 | ~view.control[COMPLIANCE] | view.control[LOOPBACK]),
        lt.go(State.POLLING_CONFIGURATION)
    ).Elif(lt.expired,
        If(lt.energy & ~lt.tested | ~lt.detect_present, lt.go(State.DETECT_QUIET)
        ).Else(lt.go(State.POLLING_COMPLIANCE))
    )


@state(State.POLLING_COMPLIANCE, "4.2.6.2.2", SEND_NOTHING, up=False)
def polling_compliance(lt):
    """`CompliancePattern` is sent, until the partner sends. The modified pattern ends when the partner is gone."""
    return If(lt.modified,
        If(lt.rx_align, lt.go(State.DETECT_QUIET))
    ).Elif(lt.energy | lt.view.came, lt.go(State.POLLING_ACTIVE))


@state(State.POLLING_CONFIGURATION, "4.2.6.2.3", SEND_TS2, 48_000, up=False, numbers=0)
def polling_configuration(lt):
    """IN_A_ROW TS2 received with PAD, and SENT_AFTER sent since the first one."""
    return If(lt.enough & lt.after, lt.go(State.LINKWIDTH_START)
    ).Elif(lt.expired, lt.go(State.DETECT_QUIET))

# Configuration ------------------------------------------------------------------------------------


@state(State.LINKWIDTH_START, "4.2.6.3.1.2", SEND_TS1, 24_000, numbers=0)
def linkwidth_start(lt):
    """FEW TS1 received that name the link, or that ask for Disabled or Loopback."""
    view = lt.view
    return If(lt.asked[DISABLE], lt.go(State.DISABLED)
    ).Elif(lt.asked[LOOPBACK], lt.go(State.LOOPBACK_ACTIVE)
    ).Elif(view.few & ~view.is_ts2 & ~view.no_link & view.no_lane, lt.go(State.LINKWIDTH_ACCEPT)
    ).Elif(lt.expired, lt.go(State.DETECT_QUIET))


@state(State.LINKWIDTH_ACCEPT, "4.2.6.3.2.2", SEND_TS1, 2_000, numbers=1)
def linkwidth_accept(lt):
    """FEW TS1 received with that link, and with a number for the lane."""
    view = lt.view
    return If(view.few & ~view.is_ts2 & view.same_link & ~view.no_lane,
        lt.go(State.LANENUM)
    ).Elif(lt.expired | (view.few & ~view.is_ts2 & lt.blank), lt.go(State.DETECT_QUIET))


@state(State.LANENUM, "4.2.6.3.3.2", SEND_TS1, 2_000)
def lanenum(lt):
    """FEW TS2 received with both numbers as they are sent."""
    view = lt.view
    return If(view.few & view.is_ts2 & lt.ours, lt.go(State.COMPLETE)
    ).Elif(lt.expired | (view.few & ~view.is_ts2 & lt.blank), lt.go(State.DETECT_QUIET))


@state(State.COMPLETE, "4.2.6.3.5.2", SEND_TS2, 2_000)
def complete(lt):
    """IN_A_ROW TS2 received with both numbers, and SENT_AFTER sent since the first one."""
    return If(lt.enough & lt.after, lt.go(State.CONFIG_IDLE)
    ).Elif(lt.expired, lt.go(State.DETECT_QUIET))


@state(State.CONFIG_IDLE, "4.2.6.3.6", SEND_DATA, 2_000, up=True)
def config_idle(lt):
    """IN_A_ROW symbols of logical idle received, and SENT_AFTER sent since then. The second time-out gives up."""
    return If(lt.enough & lt.after, lt.go(State.L0)
    ).Elif(lt.expired, If(lt.again, lt.go(State.DETECT_QUIET)).Else(lt.go(State.RECOVERY_LOCK)))

# L0 and Recovery ----------------------------------------------------------------------------------


@state(State.L0, "4.2.6.5", SEND_DATA, up=True)
def l0(lt):
    """Packets, until a training set comes, somebody wants Recovery, or the lane is silent for too long."""
    return If(lt.view.came | lt.retrain | lt.rx_align, lt.go(State.RECOVERY_LOCK)
    ).Elif(lt.sleep[TO_L1], lt.go(State.L1)
    ).Elif(lt.sleep[TO_L2], lt.go(State.L2))


@state(State.RECOVERY_LOCK, "4.2.6.4.1", SEND_TS1, 24_000, up=True, polls=True)
def recovery_lock(lt):
    """IN_A_ROW sets received with both numbers, and with Extended Synch POLLING_TS1 sent."""
    return If(lt.view.many & lt.ours & (lt.polled | ~lt.extended), lt.go(State.RECOVERY_CONFIG)
    ).Elif(lt.expired, If(lt.any_ts, lt.go(State.LINKWIDTH_START)).Else(lt.go(State.DETECT_QUIET)))


@state(State.RECOVERY_CONFIG, "4.2.6.4.3", SEND_TS2, 48_000, up=True)
def recovery_config(lt):
    """IN_A_ROW TS2 received with both numbers, and SENT_AFTER sent since the first one."""
    view = lt.view
    return If(lt.enough & lt.after, lt.go(State.RECOVERY_IDLE)
    ).Elif(view.many & ~view.is_ts2 & view.no_lane, lt.go(State.LINKWIDTH_START)
    ).Elif(lt.expired, lt.go(State.DETECT_QUIET))


@state(State.RECOVERY_IDLE, "4.2.6.4.4", SEND_DATA, 2_000, up=True)
def recovery_idle(lt):
    """As Config.Idle, or what FEW TS1 ask for. IDLE_RETRIES time-outs lead to Recovery.RcvrLock."""
    return If(lt.enough & lt.after, lt.go(State.L0)
    ).Elif(lt.asked[HOT_RESET], lt.go(State.HOT_RESET)
    ).Elif(lt.asked[DISABLE], lt.go(State.DISABLED)
    ).Elif(lt.asked[LOOPBACK], lt.go(State.LOOPBACK_ACTIVE)
    ).Elif(lt.view.few & lt.view.no_lane, lt.go(State.LINKWIDTH_START)
    ).Elif(lt.expired,
        If(lt.retries == IDLE_RETRIES, lt.go(State.DETECT_QUIET)).Else(lt.go(State.RECOVERY_LOCK))
    )

# What the Partner Asks For ------------------------------------------------------------------------


@state(State.HOT_RESET, "4.2.6.11", SEND_TS1, 2_000, up=False)
def hot_reset(lt):
    """Until 2 ms have passed without a training set that asks for it."""
    return If(lt.expired, lt.go(State.DETECT_QUIET))


@state(State.DISABLED, "4.2.6.9", SEND_TS1, up=False, polls=True)
def disabled(lt):
    """DISABLE_TS1 are sent, then EIOS and nothing, until the idle partner sends again."""
    return If(lt.saw_idle & (~lt.rx_idle | (lt.view.came & ~lt.view.control[DISABLE])), lt.go(State.DETECT_QUIET))


@state(State.LOOPBACK_ACTIVE, "4.2.6.10.2", SEND_NOTHING, up=False)
def loopback_active(lt):
    """`Loopback` sends what is received, until EIOS or silence."""
    return If(lt.eios | lt.rx_align, lt.go(State.LOOPBACK_EXIT))


@state(State.LOOPBACK_EXIT, "4.2.6.10.3", SEND_NOTHING, 2_000, up=False)
def loopback_exit(lt):
    """Electrical idle for 2 ms."""
    return If(lt.expired, lt.go(State.DETECT_QUIET))

# Sleep --------------------------------------------------------------------------------------------


@state(State.L1, "5.3.2.1", SEND_EIOS, 2_000, up=True)
def l1(lt):
    """One EIOS, then nothing. The specification has no limit: after 2 ms the partner's lane has to be idle, too."""
    return If(lt.leaves | lt.view.came, lt.go(State.RECOVERY_LOCK))


@state(State.L2, "5.3.3.2.1", SEND_EIOS, 2_000, up=True)
def l2(lt):
    """As L1, but the partner that sends again begins with Detect."""
    return If(lt.leaves & lt.saw_idle, lt.go(State.DETECT_QUIET)
    ).Elif(lt.leaves | lt.view.came, lt.go(State.RECOVERY_LOCK))

# Times --------------------------------------------------------------------------------------------

TIMES = {
    **{which.name.lower(): Limit(one.limit, one.section) for which, one in STATES.items() if one.limit},
    "silence": Limit(128, "4.2.4.3"),  # Without SKP sets: electrical idle is inferred.
}
