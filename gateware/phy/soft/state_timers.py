#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Times of the LTSSM: how long a state may last, and for how long the partner was silent."""

from migen import *

from litex.gen import *

from litepcie_soc.phy.soft.ltssm_states import STATE_BITS, State
from litepcie_soc.phy.soft.training_times import TIMES


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
