#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Link training and status state machine of an upstream port with one lane at 2.5 GT/s (PCIe 2.1 4.2.6)."""

from dataclasses import dataclass
from enum import IntEnum

from migen import *

from litex.gen import *

from litepcie_soc.endpoint.physical.ordered_sets import (
    SEND, SEND_DATA, SEND_EIOS, SEND_NOTHING, SEND_TS1, SEND_TS2, TS_LAYOUT,
)
from litepcie_soc.endpoint.serdes.interface import PAD

# Times --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limit:
    """A time in microseconds, with its section in PCIe 2.1."""
    microseconds : float
    section      : str

    def cycles(self, clk_freq):
        return round(self.microseconds*clk_freq/1e6)


TIMES = {
    "detect_quiet"          : Limit(12_000, "4.2.6.1.1"),  # Without energy on the lane.
    "detect_active"         : Limit(12_000, "4.2.6.1.2"),  # For the result of a detection.
    "polling_active"        : Limit(24_000, "4.2.6.2.1"),
    "polling_configuration" : Limit(48_000, "4.2.6.2.3"),
    "linkwidth_start"       : Limit(24_000, "4.2.6.3.1.2"),
    "linkwidth_accept"      : Limit(2_000,  "4.2.6.3.2.2"),
    "lanenum"               : Limit(2_000,  "4.2.6.3.3.2"),
    "complete"              : Limit(2_000,  "4.2.6.3.5.2"),
    "config_idle"           : Limit(2_000,  "4.2.6.3.6"),
    "recovery_lock"         : Limit(24_000, "4.2.6.4.1"),
    "recovery_config"       : Limit(48_000, "4.2.6.4.3"),
    "recovery_idle"         : Limit(2_000,  "4.2.6.4.4"),
    "hot_reset"             : Limit(2_000,  "4.2.6.11"),   # Without a training set that asks for it.
    "loopback_exit"         : Limit(2_000,  "4.2.6.10.3"),
    "l1"                    : Limit(2_000,  "5.3.2.1"),    # No limit there; until the partner's lane is idle, too.
    "l2"                    : Limit(2_000,  "5.3.3.2.1"),  # The same.
    "silence"               : Limit(128,    "4.2.4.3"),    # Without SKP sets: electrical idle is inferred.
}

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

# States -------------------------------------------------------------------------------------------
# States of link training, what is sent in each, and where the link is up (PCIe 2.1 4.2.6).


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

# Timers -------------------------------------------------------------------------------------------
# Times of the LTSSM: how long a state may last, and for how long the partner was silent.


class StateTimers(LiteXModule):
    """Counts the times of `TIMES`.

    Parameters
    ----------
    clk_freq : Hz of ``sys``, the domain of all signals.

    Attributes
    ----------
    entering : 1, **in**; a pulse: the time of ``next`` begins.
    next     : STATE_BITS, **in**; a state.
    again    : 1, **in**; a pulse: the time of Hot Reset begins anew.
    alive    : 1, **in**; the partner is there.
    expired  : 1, **out**; the time of the state is over. States without a time do not use it.
    silent   : 1, **out**; there was no ``alive`` for 128 us.
    timer, silence : what is left of both.
    """
    def __init__(self, clk_freq):
        limits        = {name: limit.cycles(clk_freq) for name, limit in TIMES.items()}
        self.entering = Signal()
        self.next     = Signal(STATE_BITS)
        self.again    = Signal()
        self.alive    = Signal()
        self.expired  = Signal()
        self.silent   = Signal(reset=1)
        self.timer    = timer   = Signal(max=max(limits.values()) + 1)
        self.silence  = silence = Signal(max=limits["silence"] + 1)

        # # #

        times = {state: limits[state.name.lower()] for state in State if state.name.lower() in limits}
        self.sync += [
            If(self.entering,
                Case(self.next, {state: timer.eq(time) for state, time in times.items()}),
            ).Elif(self.again,
                timer.eq(times[State.HOT_RESET]),
            ).Elif(timer != 0,
                timer.eq(timer - 1),
            ),
            self.expired.eq((timer == 0) & ~self.entering & ~self.again),
            self.silent.eq(silence == 0),
            If(self.alive,
                silence.eq(limits["silence"]),
                self.silent.eq(0),
            ).Elif(silence != 0,
                silence.eq(silence - 1),
            ),
        ]

# Received Sets ------------------------------------------------------------------------------------
# What a training set says to the LTSSM, a cycle after it came: the comparisons are not part of its longest paths.

NO_NUMBER = 0x100 | PAD
LANE      = 0


class SetView(LiteXModule):
    """Registers `SetReceiver`'s results, compared with what the LTSSM wants.

    Attributes
    ----------
    ts, ts2, inverted, fields, in_a_row : **in**; of `SetReceiver`.
    link    : 9, **in**; number of the link.
    forget  : 1, **in**; the state changes: a set that comes in this cycle belongs to the state that ends.
    came    : 1, **out**; a pulse: a training set. All below is that of the last set.
    few, many : 1, **out**; pulses: FEW or IN_A_ROW sets are the same, the last one just came.
    is_ts2  : 1, **out**.
    wrong   : 1, **out**; its identifiers are inverted.
    control : 8, **out**; its Training Control.
    no_link, no_lane     : 1, **out**; it has no number of link or lane (PAD).
    same_link, same_lane : 1, **out**; it has ours.
    """
    def __init__(self):
        self.ts        = Signal()
        self.ts2       = Signal()
        self.inverted  = Signal()
        self.fields    = fields = Record(TS_LAYOUT)
        self.in_a_row  = Signal(4)
        self.link      = Signal(9)
        self.forget    = Signal()
        self.came      = Signal()
        self.few       = Signal()
        self.many      = Signal()
        self.is_ts2    = Signal()
        self.wrong     = Signal()
        self.control   = Signal(len(fields.control))
        self.no_link   = Signal()
        self.no_lane   = Signal()
        self.same_link = Signal()
        self.same_lane = Signal()

        # # #

        came       = self.ts & ~self.forget
        self.sync += [
            self.came.eq(came),
            self.few.eq(came & (self.in_a_row >= FEW)),
            self.many.eq(came & (self.in_a_row >= IN_A_ROW)),
            self.is_ts2.eq(self.ts2),
            self.wrong.eq(self.inverted),
            self.control.eq(fields.control),
            self.no_link.eq(fields.link == NO_NUMBER),
            self.no_lane.eq(fields.lane == NO_NUMBER),
            self.same_link.eq(fields.link == self.link),
            self.same_lane.eq(fields.lane == LANE),
        ]

# LTSSM --------------------------------------------------------------------------------------------

# Cycles until symbols of the other polarity are all that arrives.
POLARITY_CYCLES = 256
# Cycles in Detect.Quiet in which energy may be an echo of our own detection: 1 us.
DEAF_CYCLES     = 128


class LTSSM(LiteXModule):
    """Trains the link, keeps it, and begins anew after whatever the partner does.

    A lane number other than 0 is answered by 0. Link Control 2 cannot ask for Compliance, as the link has one speed.

    Parameters
    ----------
    clk_freq : Hz of ``sys``, the domain of all signals; times are `TIMES`.

    Attributes
    ----------
    ready      : 1, **in**; the SerDes sends.
    rx_idle    : 1, **in**; electrical idle is seen.
    detect     : 1, **out**; a pulse begins receiver detection.
    detect_done, detect_present : 1, **in**; its result.
    polarity   : 1, **out**; the received lane is inverted.
    rx_align   : 1, **out**; no ordered set came for 128 us: the SerDes searches the comma.
    ts, ts2, inverted, received, in_a_row, idle, skp, eios : **in**; of `SetReceiver`, whose ``fields`` are
                 ``received``.
    clear      : 1, **out**; for it.
    ts_sent, eios_sent, idle_sent : 1, **in**; of `SetTransmitter`.
    send, sent_fields : 3, TS_LAYOUT, **out**; for it.
    alive      : 1, **in**; a pulse: an update of flow control was received.
    retrain    : 1, **in**; somebody wants Recovery: the data link layer, or symbols were lost.
    extended : 1, **in**; Extended Synch: 1024 training sets are sent in Recovery.RcvrLock.
    sleep      : 2, **in**; from L0 to L1 or to L2, see `PowerManagement`.
    wake       : 1, **in**; from L1 to Recovery.
    hold       : 1, **in**; of the image for bring-up: to Polling.Active at once, and no way out of it.
    link_up    : 1, **out**; LinkUp.
    asleep     : 1, **out**; L1 or L2.
    active     : 1, **out**; L0: packets are sent.
    listen     : 1, **out**; packets may come.
    hot_reset  : 1, **out**; a pulse: everything above is to be reset.
    no_scrambling : 1, **out**; the partner has asked for it.
    compliance, modified : 1, **out**; the compliance pattern is sent, or the modified one.
    loopback   : 1, **out**; what is received is sent.
    state      : STATE_BITS, **out**; one of `State`.
    """
    def __init__(self, clk_freq=125e6):
        self.ready    = Signal()
        self.rx_idle  = Signal()
        self.detect   = Signal()
        self.detect_done    = Signal()
        self.detect_present = Signal()
        self.polarity = Signal()
        self.rx_align = Signal()
        self.ts       = Signal()
        self.ts2      = Signal()
        self.inverted = Signal()
        self.received = Record(TS_LAYOUT)
        self.in_a_row = Signal(4)
        self.idle     = Signal(4)
        self.skp      = Signal()
        self.eios     = Signal()
        self.clear    = Signal()
        self.ts_sent  = Signal()
        self.eios_sent = Signal()
        self.idle_sent = Signal()
        self.send     = Signal(max=len(SEND))
        self.sent_fields = Record(TS_LAYOUT)
        self.alive    = Signal()
        self.retrain  = Signal()
        self.extended = Signal()
        self.sleep    = Signal(2)
        self.wake     = Signal()
        self.hold     = Signal()
        self.link_up  = Signal()
        self.asleep   = Signal()
        self.active   = Signal()
        self.listen   = Signal()
        self.hot_reset = Signal()
        self.no_scrambling = Signal()
        self.compliance = Signal()
        self.modified = Signal()
        self.loopback = Signal()
        self.state    = Signal(STATE_BITS)

        # # #

        self.clk_freq = clk_freq
        # What follows from this cycle; then, from a register, in the last cycle of a state: it ends, and the next one.
        self.moves    = Signal()
        self.wanted   = Signal(STATE_BITS)
        self.entering = Signal()
        self.next     = Signal(STATE_BITS)
        self.expired  = Signal()   # The time of the state is over.
        self.view     = view = SetView()
        self.sent     = Signal(max=POLLING_TS1 + 1)  # Since the state was entered, or since the first one that counts.
        self.link     = Signal(9, reset=NO_NUMBER)
        self.comb += [
            self.clear.eq(self.entering),
            [getattr(view, name).eq(getattr(self, name)) for name in ("ts", "ts2", "inverted", "in_a_row", "link")],
            view.fields.eq(self.received),
            view.forget.eq(self.entering),
            self.active.eq(self.state == State.L0),
            self.asleep.eq((self.state == State.L1) | (self.state == State.L2)),
            self.listen.eq(self.send == SEND_DATA),
            self.compliance.eq(self.state == State.POLLING_COMPLIANCE),
            self.loopback.eq(self.state == State.LOOPBACK_ACTIVE),
        ]
        self.sync += [
            # The longest paths of the endpoint end here, so nothing else follows in the same cycle.
            self.entering.eq(self.moves & ~self.entering),
            self.next.eq(self.wanted),
            If(self.entering,
                self.state.eq(self.next),
                # It stays as it is in the other states of Configuration.
                Case(self.next, {state: self.link_up.eq(up)
                    for up, states in enumerate((DOWN, UP)) for state in states}),
            ),
        ]
        self.add_timers()
        self.add_counts()
        self.add_transitions()
        self.add_sending()

    def add_timers(self):
        """The time of a state, and the silence of the partner."""
        view   = self.view
        signal = Signal()  # Counts in states whose partner may send anything.
        self.timers  = timers = StateTimers(self.clk_freq)
        self.timer   = timers.timer
        self.silence = timers.silence
        self.sync   += signal.eq((self.compliance | self.loopback) & ~self.rx_idle)
        self.comb   += [
            timers.entering.eq(self.entering),
            timers.next.eq(self.next),
            timers.again.eq((self.state == State.HOT_RESET) & view.came & view.control[HOT_RESET]),
            timers.alive.eq(view.came | self.skp | self.alive | signal),
            self.expired.eq(timers.expired),
            self.rx_align.eq(timers.silent),
        ]

    def add_counts(self):
        """What was sent, and what came before."""
        counting   = Signal()  # The first one that counts was received.
        self.after = Signal()  # SENT_AFTER were sent since then. Like ``polled`` a cycle late, for short paths.
        self.polled = Signal() # POLLING_TS1 were sent in this state.
        self.energy = Signal() # The lane was not idle in this state.
        self.any_ts = Signal() # A training set came in this state.
        begins     = Signal()
        polls      = Reduce("OR", [self.state == state
            for state in (State.POLLING_ACTIVE, State.RECOVERY_LOCK, State.DISABLED)])
        idles      = (self.state == State.CONFIG_IDLE) | (self.state == State.RECOVERY_IDLE)
        self.comb += [
            begins.eq(Mux(idles, self.idle != 0, self.view.came & self.view.is_ts2)),
        ]
        self.sync += [
            self.after.eq(counting & (self.sent >= SENT_AFTER)),
            self.polled.eq(self.sent == POLLING_TS1),
            If(begins, counting.eq(1)),
            If(self.sent < POLLING_TS1,
                If(self.ts_sent & (polls | counting),
                    self.sent.eq(self.sent + 1),
                ).Elif(self.idle_sent & idles & counting,
                    self.sent.eq(self.sent + 2),
                ),
            ),
            If(~self.rx_idle, self.energy.eq(1)),
            If(self.view.came, self.any_ts.eq(1)),
            If(self.entering,
                counting.eq(0),
                self.after.eq(0),
                self.polled.eq(0),
                self.sent.eq(0),
                self.energy.eq(0),
                self.any_ts.eq(0),
            ),
        ]

    def add_transitions(self):
        """``wanted``, from what is received."""
        view      = self.view
        few, many = view.few, view.many
        no_link   = view.no_link
        no_lane   = view.no_lane
        blank     = no_link & no_lane
        ours      = view.same_link & view.same_lane
        idles     = (self.state == State.CONFIG_IDLE) | (self.state == State.RECOVERY_IDLE)
        # What was wanted came in this state. The partner may have gone on since then, before we have sent enough.
        enough    = Signal()
        again     = Signal()                     # Config.Idle has gone to Recovery before.
        retries   = Signal(max=IDLE_RETRIES + 1)
        deaf      = Signal(max=DEAF_CYCLES + 1, reset=DEAF_CYCLES)
        heard     = Signal()                     # Energy that is no echo.
        settling  = Signal(max=POLARITY_CYCLES + 1)
        flip      = Signal()
        refusals  = Signal(max=REFUSALS + 1)     # Detections without a receiver. The result may be wrong.
        saw_idle  = Signal()
        tested    = Signal()                     # The partner has asked for the modified compliance pattern.
        leaves    = Signal()                     # In L1 and L2: somebody wakes the link, or the partner is not idle.
        self.quiet = Signal()                    # In Disabled, L1 and L2: EIOS was sent.
        asked     = [few & ~view.is_ts2 & view.control[bit] for bit in (HOT_RESET, DISABLE, LOOPBACK)]

        def go(state):
            return self.moves.eq(1), self.wanted.eq(state)
        settled = settling == 0
        self.comb += [
            flip.eq((self.state == State.POLLING_ACTIVE) & few & view.wrong & settled),
            Case(self.state, {
                State.DETECT_QUIET: If(self.ready & (self.expired | heard),
                    go(State.DETECT_ACTIVE)),
                State.DETECT_ACTIVE: If(self.detect_done & ~self.detect,
                    If(self.detect_present | (refusals == REFUSALS), go(State.POLLING_ACTIVE)
                    ).Else(go(State.DETECT_QUIET))
                ).Elif(self.expired, go(State.DETECT_QUIET)),
                State.POLLING_ACTIVE: If(many & settled & ~view.wrong & blank & self.polled
                        & (view.is_ts2 | ~view.control[COMPLIANCE] | view.control[LOOPBACK]),
                    go(State.POLLING_CONFIGURATION)
                ).Elif(self.expired,
                    If(self.energy & ~tested | ~self.detect_present, go(State.DETECT_QUIET)
                    ).Else(go(State.POLLING_COMPLIANCE))
                ),
                # The modified pattern has no end but one of our own: the partner is gone.
                State.POLLING_COMPLIANCE: If(self.modified,
                    If(self.rx_align, go(State.DETECT_QUIET))
                ).Elif(self.energy | view.came, go(State.POLLING_ACTIVE)),
                State.POLLING_CONFIGURATION: If(enough & self.after, go(State.LINKWIDTH_START)
                ).Elif(self.expired, go(State.DETECT_QUIET)),
                State.LINKWIDTH_START: If(asked[1], go(State.DISABLED)
                ).Elif(asked[2], go(State.LOOPBACK_ACTIVE)
                ).Elif(few & ~view.is_ts2 & ~no_link & no_lane, go(State.LINKWIDTH_ACCEPT)
                ).Elif(self.expired, go(State.DETECT_QUIET)),
                State.LINKWIDTH_ACCEPT: If(few & ~view.is_ts2 & view.same_link & ~no_lane,
                    go(State.LANENUM)
                ).Elif(self.expired | (few & ~view.is_ts2 & blank), go(State.DETECT_QUIET)),
                State.LANENUM: If(few & view.is_ts2 & ours, go(State.COMPLETE)
                ).Elif(self.expired | (few & ~view.is_ts2 & blank), go(State.DETECT_QUIET)),
                State.COMPLETE: If(enough & self.after, go(State.CONFIG_IDLE)
                ).Elif(self.expired, go(State.DETECT_QUIET)),
                State.CONFIG_IDLE: If(enough & self.after, go(State.L0)
                ).Elif(self.expired, If(again, go(State.DETECT_QUIET)).Else(go(State.RECOVERY_LOCK))),
                State.L0: If(view.came | self.retrain | self.rx_align, go(State.RECOVERY_LOCK)
                ).Elif(self.sleep[TO_L1], go(State.L1)
                ).Elif(self.sleep[TO_L2], go(State.L2)),
                State.RECOVERY_LOCK: If(many & ours & (self.polled | ~self.extended), go(State.RECOVERY_CONFIG)
                ).Elif(self.expired, If(self.any_ts, go(State.LINKWIDTH_START)).Else(go(State.DETECT_QUIET))),
                State.RECOVERY_CONFIG: If(enough & self.after, go(State.RECOVERY_IDLE)
                ).Elif(many & ~view.is_ts2 & no_lane, go(State.LINKWIDTH_START)
                ).Elif(self.expired, go(State.DETECT_QUIET)),
                State.RECOVERY_IDLE: If(enough & self.after, go(State.L0)
                ).Elif(asked[0], go(State.HOT_RESET)
                ).Elif(asked[1], go(State.DISABLED)
                ).Elif(asked[2], go(State.LOOPBACK_ACTIVE)
                ).Elif(few & no_lane, go(State.LINKWIDTH_START)
                ).Elif(self.expired,
                    If(retries == IDLE_RETRIES, go(State.DETECT_QUIET)).Else(go(State.RECOVERY_LOCK))
                ),
                State.HOT_RESET: If(self.expired, go(State.DETECT_QUIET)),
                State.DISABLED: If(saw_idle & (~self.rx_idle | (view.came & ~view.control[DISABLE])),
                    go(State.DETECT_QUIET)),
                State.LOOPBACK_ACTIVE: If(self.eios | self.rx_align, go(State.LOOPBACK_EXIT)),
                State.LOOPBACK_EXIT: If(self.expired, go(State.DETECT_QUIET)),
                State.L1: If(leaves | view.came, go(State.RECOVERY_LOCK)),
                State.L2: If(leaves & saw_idle, go(State.DETECT_QUIET)
                ).Elif(leaves | view.came, go(State.RECOVERY_LOCK)),
            }),
            # The transmitter must stay idle until a detection ends.
            If(self.hold,
                self.moves.eq(self.ready & (self.state != State.POLLING_ACTIVE)
                    & ((self.state != State.DETECT_ACTIVE) | self.detect_done & ~self.detect | self.expired)),
                self.wanted.eq(State.POLLING_ACTIVE),
            ),
        ]
        self.sync += [
            If(idles,
                If(self.idle >= IN_A_ROW, enough.eq(1)),
            ).Elif(many & view.is_ts2 & Mux(self.state == State.POLLING_CONFIGURATION, blank, ours),
                enough.eq(1),
            ),
            If(self.entering, enough.eq(0)),
            If((self.state == State.POLLING_ACTIVE) & many & ~view.wrong & blank & ~view.is_ts2
                    & view.control[COMPLIANCE] & ~view.control[LOOPBACK],
                tested.eq(1),
            ),
            If(self.entering,
                tested.eq(0),
                self.modified.eq(tested),
            ),
            leaves.eq(~self.entering & Mux(saw_idle, ~self.rx_idle | (self.wake & (deaf == 0)), self.expired)),
            self.detect.eq(self.entering & (self.next == State.DETECT_ACTIVE)),
            self.hot_reset.eq(self.entering & (self.next == State.HOT_RESET)),
            If(self.state == State.POLLING_ACTIVE,
                refusals.eq(0),
            ).Elif((self.state == State.DETECT_QUIET) & heard,
                refusals.eq(REFUSALS),  # Somebody sends.
            ).Elif((self.state == State.DETECT_ACTIVE) & self.entering & (refusals != REFUSALS),
                refusals.eq(refusals + 1),
            ),
            heard.eq(~self.rx_idle & (deaf == 0) & ~self.entering),
            If(deaf != 0, deaf.eq(deaf - 1)),
            If(self.entering, deaf.eq(DEAF_CYCLES)),
            If(settling != 0, settling.eq(settling - 1)),
            If(flip,
                self.polarity.eq(~self.polarity),
                settling.eq(POLARITY_CYCLES),
            ),
            If(self.entering & (self.next == State.LINKWIDTH_ACCEPT), self.link.eq(self.received.link)),
            If(self.entering & (self.next == State.LINKWIDTH_START), again.eq(0)),
            If((self.state == State.CONFIG_IDLE) & self.entering & (self.next == State.RECOVERY_LOCK), again.eq(1)),
            If((self.state == State.RECOVERY_IDLE) & self.entering & (self.next == State.RECOVERY_LOCK),
                retries.eq(retries + 1)),
            If(self.state == State.L0, again.eq(0), retries.eq(0)),
            If((self.state == State.COMPLETE) & view.came & view.is_ts2 & ours,
                self.no_scrambling.eq(view.control[NO_SCRAMBLING])),
            # Disabled (after 16 training sets), L1 and L2: EIOS, and the wait for the partner.
            If((self.state != State.DISABLED) & ~self.asleep,
                self.quiet.eq(0),
                saw_idle.eq(0),
            ).Else(
                If(self.eios_sent, self.quiet.eq(1)),
                If(self.quiet & self.rx_idle, saw_idle.eq(1)),
            ),
            If(self.state == State.DETECT_QUIET,
                self.link.eq(NO_NUMBER),
                self.no_scrambling.eq(0),
                again.eq(0),
                retries.eq(0),
            ),
        ]

    def add_sending(self):
        """What is sent."""
        fields  = self.sent_fields
        blank   = (State.POLLING_ACTIVE, State.POLLING_CONFIGURATION, State.LINKWIDTH_START)
        numbers = Signal()  # The lane has its number.
        self.comb += [
            Case(self.state, {state: self.send.eq(what) for state, what in SENDS.items()}),
            If(self.asleep | ((self.state == State.DISABLED) & (self.sent >= DISABLE_TS1)),
                self.send.eq(Mux(self.quiet | self.eios_sent, SEND_NOTHING, SEND_EIOS))),
            numbers.eq(~Reduce("OR", [self.state == state for state in (*blank, State.LINKWIDTH_ACCEPT)])),
            fields.link.eq(self.link),
            If(Reduce("OR", [self.state == state for state in blank]), fields.link.eq(NO_NUMBER)),
            fields.lane.eq(Mux(numbers & (self.link != NO_NUMBER), LANE, NO_NUMBER)),
            fields.n_fts.eq(N_FTS),
            fields.rate.eq(RATE_2G5),
            fields.control[HOT_RESET].eq(self.state == State.HOT_RESET),
            fields.control[DISABLE].eq(self.state == State.DISABLED),
        ]
