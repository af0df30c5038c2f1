#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Records what the SerDes gives, around a trigger, before anything interprets it."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litepcie_soc.phy.soft.lane_layout import CAPTURE_BEFORE, CAPTURE_WORDS, HALF_BITS, TRIGGERS
from litepcie_soc.phy.soft.symbols import COM

# Capture ------------------------------------------------------------------------------------------


class BusCapture(LiteXModule):
    """Records CAPTURE_WORDS words of a receive bus, of which CAPTURE_BEFORE are from before the trigger.

    The clock of the bus may stand still: then nothing is recorded until it runs. ``trigger`` and ``value`` may change
    while a recording waits.

    Parameters
    ----------
    bus   : 24, pcie_rx_free; halves of 12 bits: data, K, and three bits of status.
    flags : 8 at most, asynchronous; recorded above the bus.

    Attributes
    ----------
    arm     : 1, **in**, asynchronous; a change begins a recording. To be kept until
    done    : 1, **out**, pcie_rx_free; has the same value: the recording is complete.
    trigger : 2, **in**, asynchronous; place in TRIGGERS.
    value   : 5, **in**, asynchronous; the status that is waited for.
    state   : 1, **in**, asynchronous; the LTSSM is in the state that is waited for.
    first   : **out**, pcie_rx_free; place of the oldest word.
    memory  : ``Memory``, with the words.
    """
    def __init__(self, bus, flags):
        self.arm     = Signal()
        self.done    = Signal(reset_less=True)
        self.trigger = Signal(2)
        self.value   = Signal(5)
        self.state   = Signal()
        self.first   = Signal(max=CAPTURE_WORDS, reset_less=True)
        self.memory  = memory = Memory(32, CAPTURE_WORDS, name="capture")

        # # #

        write          = memory.get_port(write_capable=True, clock_domain="pcie_rx_free")
        self.specials += write
        arm, trigger, value, state, seen = Signal(), Signal(2), Signal(5), Signal(), Signal(len(flags))
        self.specials += [MultiReg(outer, inner, "pcie_rx_free") for outer, inner in ((self.arm, arm),
            (self.trigger, trigger), (self.value, value), (self.state, state), (flags, seen))]
        word    = Signal(32, reset_less=True)
        hit     = Signal(reset_less=True)
        halves  = [word[half*HALF_BITS:(half + 1)*HALF_BITS] for half in range(2)]
        finds   = {
            "now":    1,
            "comma":  Reduce("OR", [half[:9] == (1 << 8 | COM) for half in halves]),
            "state":  state,
            "status": Reduce("OR", [half[9:] == value[:3] for half in halves]),
        }
        running = Signal(reset_less=True)
        before  = Signal(max=CAPTURE_BEFORE + 1, reset_less=True)
        left    = Signal(max=CAPTURE_WORDS, reset_less=True)
        found   = Signal(reset_less=True)
        kept    = Signal(32, reset_less=True)
        self.comb += [write.adr.eq(self.first), write.dat_w.eq(kept), write.we.eq(running)]
        self.sync.pcie_rx_free += [
            word.eq(Cat(bus, seen)),
            kept.eq(word),
            Case(trigger, {n: hit.eq(finds[name]) for n, name in enumerate(TRIGGERS)}),
            If(~running,
                before.eq(CAPTURE_BEFORE),
                left.eq(CAPTURE_WORDS - CAPTURE_BEFORE - 1),
                found.eq(0),
                running.eq(arm != self.done),
            ).Else(
                self.first.eq(self.first + 1),
                If(before != 0, before.eq(before - 1)).Elif(hit, found.eq(1)),
                If(found | (hit & (before == 0)),
                    left.eq(left - 1),
                    If(left == 0, running.eq(0), self.done.eq(arm)),
                ),
            ),
        ]
