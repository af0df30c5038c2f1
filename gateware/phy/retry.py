#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Repeated link training, for hosts with which the first one fails after a cold boot."""

from types import SimpleNamespace

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

# A training that succeeds takes less: a receiver that is there is found in 12 ms, and Polling.Active ends after 24 ms
# (PCIe 4.0 4.2.6.1, 4.2.6.2.1).
TRAINING_S = 100e-3
RESET_S    = 1e-3


class LinkRetry(LiteXModule):
    """Resets a hard block whose link has been down for TRAINING_S, for RESET_S, until the link is up.

    The slot's reset begins the time again. The block has no other way to begin a training anew.

    Parameters
    ----------
    sys_clk_freq : Hz of `sys`.

    Attributes
    ----------
    slot_rst_n : Signal(), **in**, asynchronous, PERST#, active low.
    link_up    : Signal(), **in**, the link is up.
    rst_n      : Signal(), **out**, reset of the block, active low: PERST#, or a retry.
    """
    def __init__(self, sys_clk_freq):
        self.slot_rst_n = Signal()
        self.link_up    = Signal()
        self.rst_n      = Signal()

        # # #

        training, reset = int(TRAINING_S*sys_clk_freq), int(RESET_S*sys_clk_freq)
        released = Signal()
        retry    = Signal(reset_less=True)
        left     = Signal(max=training, reset=training - 1)
        self.specials += MultiReg(self.slot_rst_n, released)
        self.comb     += self.rst_n.eq(self.slot_rst_n & ~retry)
        self.sync     += [
            left.eq(left - 1),
            If(~released | (self.link_up & ~retry),
                retry.eq(0),
                left.eq(training - 1),
            ).Elif(left == 0,
                retry.eq(~retry),
                left.eq(Mux(retry, training - 1, reset - 1)),
            ),
        ]


def with_reset(pads, rst_n):
    """Returns pads of a link, a Record, with another reset."""
    return SimpleNamespace(**{name: getattr(pads, name) for name, *_ in pads.layout} | {"rst_n": rst_n})
