#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What a training set says to the LTSSM, a cycle after it came: the comparisons are not part of its longest paths."""

from migen import *

from litex.gen import *

from litepcie_soc.phy.soft.set_receiver import TS_LAYOUT
from litepcie_soc.phy.soft.symbols import PAD
from litepcie_soc.phy.soft.training_times import FEW, IN_A_ROW

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
