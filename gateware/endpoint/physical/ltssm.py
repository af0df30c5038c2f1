#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Link training and status state machine of an upstream port with one lane at 2.5 GT/s (PCIe 2.1 4.2.6).

`states.py` has a paragraph for each state; here is what the states share.
"""

from migen import *

from litex.gen import *

from litepcie_soc.endpoint.physical.ordered_sets import SEND, SEND_DATA, SEND_EIOS, SEND_NOTHING, TS_LAYOUT
from litepcie_soc.endpoint.physical.states import (
    COMPLIANCE, DISABLE, DISABLE_TS1, FEW, HOT_RESET, IDLE_RETRIES, IN_A_ROW, LOOPBACK, N_FTS, NO_SCRAMBLING,
    POLLING_TS1, RATE_2G5, REFUSALS, SENT_AFTER, STATE_BITS, STATES, TIMES, State,
)
from litepcie_soc.endpoint.serdes.interface import PAD

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
                Case(self.next, {state: self.link_up.eq(one.up) for state, one in STATES.items()
                    if one.up is not None}),
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
        polls      = Reduce("OR", [self.state == state for state, one in STATES.items() if one.polls])
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
        many      = view.many
        self.blank = blank = view.no_link & view.no_lane
        self.ours  = ours  = view.same_link & view.same_lane
        idles     = (self.state == State.CONFIG_IDLE) | (self.state == State.RECOVERY_IDLE)
        # What was wanted came in this state. The partner may have gone on since then, before we have sent enough.
        self.enough   = enough   = Signal()
        self.again    = again    = Signal()  # Config.Idle has gone to Recovery before.
        self.retries  = retries  = Signal(max=IDLE_RETRIES + 1)
        deaf          = Signal(max=DEAF_CYCLES + 1, reset=DEAF_CYCLES)
        self.heard    = heard    = Signal()  # Energy that is no echo.
        settling      = Signal(max=POLARITY_CYCLES + 1)
        flip          = Signal()
        self.refusals = refusals = Signal(max=REFUSALS + 1)  # Detections without a receiver. The result may be wrong.
        self.saw_idle = saw_idle = Signal()
        self.tested   = tested   = Signal()  # The partner has asked for the modified compliance pattern.
        self.leaves   = leaves   = Signal()  # In L1 and L2: somebody wakes the link, or the partner is not idle.
        self.quiet    = Signal()             # In Disabled, L1 and L2: EIOS was sent.
        self.asked    = {bit: view.few & ~view.is_ts2 & view.control[bit] for bit in (HOT_RESET, DISABLE, LOOPBACK)}
        self.settled  = settled  = settling == 0
        self.comb += [
            flip.eq((self.state == State.POLLING_ACTIVE) & view.few & view.wrong & settled),
            Case(self.state, {state: one.goes(self) for state, one in STATES.items()}),
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

    def go(self, state):
        """The statements by which `states.py` leaves a state."""
        return self.moves.eq(1), self.wanted.eq(state)

    def add_sending(self):
        """What is sent."""
        fields  = self.sent_fields
        blank   = [state for state, one in STATES.items() if one.numbers == 0]
        numbers = Signal()  # The lane has its number.
        self.comb += [
            Case(self.state, {state: self.send.eq(one.sends) for state, one in STATES.items()}),
            If(self.asleep | ((self.state == State.DISABLED) & (self.sent >= DISABLE_TS1)),
                self.send.eq(Mux(self.quiet | self.eios_sent, SEND_NOTHING, SEND_EIOS))),
            numbers.eq(~Reduce("OR", [self.state == state for state, one in STATES.items() if one.numbers < 2])),
            fields.link.eq(self.link),
            If(Reduce("OR", [self.state == state for state in blank]), fields.link.eq(NO_NUMBER)),
            fields.lane.eq(Mux(numbers & (self.link != NO_NUMBER), LANE, NO_NUMBER)),
            fields.n_fts.eq(N_FTS),
            fields.rate.eq(RATE_2G5),
            fields.control[HOT_RESET].eq(self.state == State.HOT_RESET),
            fields.control[DISABLE].eq(self.state == State.DISABLED),
        ]
