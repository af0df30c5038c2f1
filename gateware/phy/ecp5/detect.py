#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Receiver detection of one SerDes channel."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

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
