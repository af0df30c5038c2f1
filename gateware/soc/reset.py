#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Returns the function to its state after power-on when the link goes down or the host resets the function."""

from migen import *

from litex.gen import *

# Constants ----------------------------------------------------------------------------------------

# Cycles for writes of the host to pass from the PHY to a register: 16 beats of a crossing hold 256 dwords at most.
SETTLE_CYCLES = 4096

# Function Reset -----------------------------------------------------------------------------------


class FunctionReset(LiteXModule):
    """Resets all engines and registers after a function level reset, a hot reset or a loss of the link.

    A hot reset and every other loss of the link look alike here: ``link_up`` is deasserted (PCIe 4.0 2.9.1, 6.6.1).
    The transaction layer abandons its outstanding reads, so no step waits for a completion of the host. The sequence
    repeats while the link is down or the reset lasts, and once after that. A function level reset lasts SETTLE_CYCLES
    at least: register writes that the PHY received before it have come through by then, and are cleared too.

    Attributes
    ----------
    link_up        : Signal(), **in**; the link is up.
    function_reset : Signal(), **in**; a function level reset waits for ``done``.
    busy           : Signal(), **in**; an engine is in reset, or a request of the card is live.
    reset          : Signal(), **out**; one cycle, resets every engine. ``busy`` is high from the cycle after it.
    active         : Signal(), **out**; a reset is in progress: registers return to their initial values, no request is
        sent, and outstanding reads end at once.
    done           : Signal(), **out**; one cycle, the function level reset is complete (PCIe 4.0 6.6.2).
    """
    def __init__(self):
        self.link_up        = Signal()
        self.function_reset = Signal()
        self.busy           = Signal()
        self.reset          = Signal()
        self.active         = Signal()
        self.done           = Signal()

        # # #

        cause = Signal()
        last  = Signal()  # The cause was gone when this pass began.
        asked = Signal()  # The function level reset was asked for when this pass began.
        lasted  = Signal(bits_for(SETTLE_CYCLES))  # Cycles of the function level reset.
        settled = Signal()
        self.comb += [
            cause.eq(~self.link_up | self.function_reset),
            settled.eq(lasted == SETTLE_CYCLES),
        ]
        self.sync += If(~self.function_reset,
            lasted.eq(0)
        ).Elif(~settled,
            lasted.eq(lasted + 1)
        )
        self.fsm = fsm = FSM(reset_state="IDLE")
        self.comb += self.active.eq(~fsm.ongoing("IDLE"))
        fsm.act("IDLE",
            If(cause, NextState("RESET"))
        )
        fsm.act("RESET",
            self.reset.eq(1),
            NextValue(last,  ~cause),
            NextValue(asked, self.function_reset),
            NextState("BEGUN")
        )
        fsm.act("BEGUN",  # ``busy`` is valid from the next cycle on.
            NextState("WAIT")
        )
        fsm.act("WAIT",
            If(~self.busy,
                self.done.eq(asked & self.function_reset & settled),
                If(last & ~cause, NextState("IDLE")).Else(NextState("RESET"))
            )
        )
