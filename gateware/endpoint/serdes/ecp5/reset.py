#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Reset sequence and receiver detection of one SerDes channel. Both run on ``sys``: the clocks of the SerDes stop or
wander.

The order matters: a part that is reset before its clock is stable passes wrong data without a flag.
"""

from dataclasses import dataclass

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

# Waits --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Waits:
    """Waits of the reset sequence in cycles of ``sys``; the defaults are for 100 MHz.

    pulse    : length of each reset.
    pll      : until the transmit PLL must be locked.
    unlocked : with a signal but without lock, until the CDR is reset.
    locked   : with signal and lock, until the PCS is reset.
    silent   : with lock, until the PCS is reset although there is no signal.
    settle   : after the reset of the PCS, until its data are good.
    align    : search of the comma without success, until the PCS is reset again.
    debounce : without a change of loss of signal or loss of lock.
    """
    pulse:    int = 4
    pll:      int = 500000
    unlocked: int = 460000
    locked:   int = 256000
    silent:   int = 1200000
    settle:   int = 3000
    align:    int = 200000
    debounce: int = 15

    @classmethod
    def at(cls, sys_clk_freq, divisor=1):
        """Returns the waits for a clock; ``divisor`` makes the long ones shorter for simulation."""
        default = cls()
        scaled  = {name: max(32, round(getattr(default, name) * sys_clk_freq / 100e6 / divisor))
            for name in ("pll", "unlocked", "locked", "silent", "settle", "align")}
        return cls(pulse=max(4, round(4 * sys_clk_freq / 100e6)), **scaled)

# Helpers ------------------------------------------------------------------------------------------


class Debounce(LiteXModule):
    """Passes an asynchronous signal on after it was stable for ``cycles`` cycles of ``sys``.

    Attributes
    ----------
    o : 1, **out**; starts with 1.
    """
    def __init__(self, i, cycles):
        self.o = Signal(reset=1)

        # # #

        now, same      = Signal(), Signal(max=cycles + 1)
        self.specials += MultiReg(i, now, reset=1)
        self.sync     += [
            If(now == self.o,
                same.eq(0),
            ).Elif(same == cycles - 1,
                same.eq(0),
                self.o.eq(now),
            ).Else(
                same.eq(same + 1),
            )
        ]


class Wait(LiteXModule):
    """Counts cycles in which ``run`` is set without a break.

    Attributes
    ----------
    run  : 1, **in**.
    done : 1, **out**; ``run`` was set for ``cycles`` cycles.
    """
    def __init__(self, cycles):
        self.run  = Signal()
        self.done = Signal()

        # # #

        count      = Signal(max=cycles + 1)
        self.sync += [
            self.done.eq(self.run & (count == cycles - 1)),
            If(~self.run | self.done, count.eq(0)).Elif(count != cycles - 1, count.eq(count + 1)),
        ]

# Transmitter --------------------------------------------------------------------------------------


class TransmitReset(LiteXModule):
    """Resets the transmit PLL until it locks, then the PCS of the transmitter.

    After each failure, the PLL tries the other ratio to the reference clock, which may have 100 or 200 MHz.

    Parameters
    ----------
    waits : ``Waits``.
    rate  : value of ``rate`` to begin with.

    Attributes
    ----------
    locked    : 1, **in**; the PLL is locked (``lock.py``).
    rate      : 1, **out**; for ``FFC_RATE_MODE_TX`` and ``_RX``.
    pll_reset : 1, **out**; for ``D_FFC_TRST``.
    pcs_reset : 1, **out**; for ``FFC_LANE_TX_RST``.
    ready     : 1, **out**; the transmitter sends what it is given.
    """
    def __init__(self, waits, rate=0):
        self.locked    = Signal()
        self.rate      = Signal(reset=rate)
        self.pll_reset = Signal()
        self.pcs_reset = Signal()
        self.ready     = Signal()

        # # #

        self.pulse = pulse = Wait(waits.pulse)
        self.pll   = pll   = Wait(waits.pll)
        self.fsm   = fsm   = FSM(reset_state="PLL")
        pll_reset, pcs_reset, ready = Signal(), Signal(), Signal()

        fsm.act("PLL",
            pll_reset.eq(1),
            pulse.run.eq(~pulse.done),
            If(pulse.done, NextState("LOCK")),
        )
        fsm.act("LOCK",
            pll.run.eq(1),
            If(pll.done, If(self.locked, NextState("PCS")).Else(NextState("PLL"), NextValue(self.rate, ~self.rate))),
        )
        fsm.act("PCS",
            pcs_reset.eq(1),
            pulse.run.eq(~pulse.done),
            If(pulse.done, NextState("READY")),
        )
        fsm.act("READY",
            ready.eq(1),
            If(~self.locked, NextState("PLL")),
        )
        # Registers, because the block takes resets asynchronously.
        self.sync += [self.pll_reset.eq(pll_reset), self.pcs_reset.eq(pcs_reset), self.ready.eq(ready)]

# Receiver -----------------------------------------------------------------------------------------


class ReceiveReset(LiteXModule):
    """Resets the CDR while it does not lock to a signal; after it is locked, the PCS of the receiver, which is last.

    Loss of signal delays the receiver by 12 ms at most, and never ends it: a board has shown this bit set while data
    were good and the CDR locked. So the receiver can be ready while nobody sends; its symbols are noise then.

    Parameters
    ----------
    waits : ``Waits``.

    Attributes
    ----------
    enable    : 1, **in**; the transmitter is ready.
    los       : 1, **in**, asynchronous; loss of signal.
    lol       : 1, **in**, asynchronous; loss of lock.
    align     : 1, **in**; the link still searches its first ordered set.
    cdr_reset : 1, **out**; for ``FFC_RRST``.
    pcs_reset : 1, **out**; for ``FFC_LANE_RX_RST``.
    idle      : 1, **out**; no signal.
    ready     : 1, **out**; the received clock is stable and received data are good.
    """
    def __init__(self, waits):
        self.enable    = Signal()
        self.los       = Signal()
        self.lol       = Signal()
        self.align     = Signal()
        self.cdr_reset = Signal()
        self.pcs_reset = Signal()
        self.idle      = Signal(reset=1)
        self.ready     = Signal()

        # # #

        self.no_signal = no_signal = Debounce(self.los, waits.debounce)
        self.no_lock   = no_lock   = Debounce(self.lol, waits.debounce)
        self.pulse     = pulse     = Wait(waits.pulse)
        self.unlocked  = unlocked  = Wait(waits.unlocked)
        self.locked    = locked    = Wait(waits.locked)
        self.silent    = silent    = Wait(waits.silent)
        self.settle    = settle    = Wait(waits.settle)
        self.search    = search    = Wait(waits.align)
        self.fsm       = fsm       = ResetInserter()(FSM(reset_state="CDR"))
        cdr_reset, pcs_reset, ready = Signal(), Signal(), Signal()

        self.comb += fsm.reset.eq(~self.enable)
        fsm.act("CDR",
            cdr_reset.eq(self.enable),
            pulse.run.eq(self.enable & ~pulse.done),
            If(pulse.done, NextState("LOCK")),
        )
        fsm.act("LOCK",
            unlocked.run.eq(~no_signal.o & no_lock.o),
            locked.run.eq(~no_signal.o & ~no_lock.o),
            silent.run.eq(~no_lock.o),
            If(unlocked.done, NextState("CDR")).Elif(locked.done | silent.done, NextState("PCS")),
        )
        fsm.act("PCS",
            pcs_reset.eq(1),
            pulse.run.eq(~pulse.done),
            If(pulse.done, NextState("SETTLE")),
        )
        fsm.act("SETTLE",
            settle.run.eq(1),
            If(no_lock.o, NextState("LOCK")).Elif(settle.done, NextState("READY")),
        )
        fsm.act("READY",
            ready.eq(1),
            search.run.eq(self.align),
            If(no_lock.o, NextState("LOCK")).Elif(search.done, NextState("PCS")),
        )
        self.sync += [
            self.cdr_reset.eq(cdr_reset),
            self.pcs_reset.eq(pcs_reset),
            self.ready.eq(ready & ~no_lock.o & self.enable),
            self.idle.eq(no_signal.o),
        ]

# Receiver Detection -------------------------------------------------------------------------------
# Receiver detection of one SerDes channel.

# Cycles of ``pcie``.
ENABLE_CYCLES = 125     # 1 us of electrical idle with the detector enabled; the block needs 120 ns.
PULSE_CYCLES  = 3       # The block needs 4 symbols.
SAMPLE_CYCLES = 8       # From DONE to a stable result.
LIMIT_CYCLES  = 125000  # 1 ms; the block takes 8 us.


class ReceiverDetect(LiteXModule):
    """Looks for a receiver at the other end of the transmitter, which must be in electrical idle meanwhile.

    If the block does not answer within 1 ms, the result is "present", as a missing answer must not keep a good partner
    away. ``missing`` counts these cases.

    Parameters
    ----------
    absent : the block is not asked; the result is always "present".
    limit  : cycles until the block must answer.

    Attributes
    ----------
    start          : 1, **in**, pcie; a pulse.
    ignore         : 1, **in**, asynchronous; the result is "present", whatever the block says.
    done           : 1, **out**, pcie; the result is valid, until the next start.
    present        : 1, **out**, pcie; the result.
    missing        : 8, **out**, pcie; number of detections without an answer, stays at 255.
    ended          : 1, **out**, pcie; changes when a detection ends. Then, until the next one ends:
    answered       : 1, **out**, pcie; the block has answered (DONE).
    connected      : 1, **out**, pcie; what it has answered (CON).
    detect, pulse  : 1, **out**, pcie; for ``FFC_PCIE_DET_EN`` and ``FFC_PCIE_CT``.
    answer, result : 1, **in**, asynchronous; from ``FFS_PCIE_DONE`` and ``FFS_PCIE_CON``.

    PCIe 2.1 4.3.1.8.
    """
    def __init__(self, absent=False, limit=LIMIT_CYCLES):
        self.start   = Signal()
        self.ignore  = Signal()
        self.done    = Signal()
        self.present = Signal()
        self.missing = Signal(8)
        self.ended   = Signal(reset_less=True)
        self.answered  = Signal()
        self.connected = Signal()
        self.detect  = Signal()
        self.pulse   = Signal()
        self.answer  = Signal()
        self.result  = Signal()

        # # #

        if absent:
            self.comb      += self.missing.eq(0)
            self.sync.pcie += If(self.start, self.done.eq(1), self.present.eq(1))
            return

        answer, result, ignore = Signal(), Signal(), Signal()
        self.specials += [MultiReg(outer, inner, "pcie")
            for outer, inner in ((self.answer, answer), (self.result, result), (self.ignore, ignore))]
        left     = Signal(max=limit)
        self.fsm = fsm = ClockDomainsRenamer("pcie")(FSM(reset_state="IDLE"))
        fsm.act("IDLE",
            NextValue(self.detect, 0),
            If(self.start,
                NextValue(self.done, 0),
                NextValue(self.detect, 1),
                NextValue(left, ENABLE_CYCLES),
                NextState("ENABLE"),
            ),
        )
        fsm.act("ENABLE",
            NextValue(left, left - 1),
            If(left == 0,
                NextValue(self.pulse, 1),
                NextValue(left, PULSE_CYCLES - 1),
                NextState("PULSE"),
            ),
        )
        fsm.act("PULSE",
            NextValue(left, left - 1),
            If(left == 0,
                NextValue(self.pulse, 0),
                NextValue(left, limit - 1),
                NextState("ANSWER"),
            ),
        )
        fsm.act("ANSWER",
            NextValue(left, left - 1),
            If(answer,
                NextValue(left, SAMPLE_CYCLES),
                NextState("SAMPLE"),
            ).Elif(left == 0,
                If(self.missing != 255, NextValue(self.missing, self.missing + 1)),
                NextValue(self.present, 1),
                NextValue(self.answered, 0),
                NextValue(self.connected, 0),
                NextValue(self.ended, ~self.ended),
                NextValue(self.done, 1),
                NextState("IDLE"),
            ),
        )
        fsm.act("SAMPLE",
            NextValue(left, left - 1),
            If(left == 0,
                NextValue(self.present, result | ignore),
                NextValue(self.answered, 1),
                NextValue(self.connected, result),
                NextValue(self.ended, ~self.ended),
                NextValue(self.done, 1),
                NextState("IDLE"),
            ),
        )
