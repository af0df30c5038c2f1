#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What an engine counts: its progress, and the performance counters of AN 456."""

from migen import *

from litex.gen import *

from litepcie_soc.common import REASON_NONE
from litepcie_soc.dma.descriptor import done_layout

# Progress -----------------------------------------------------------------------------------------


class Progress(LiteXModule):
    """Counts what is complete, in order, and nothing behind the first failure.

    Attributes
    ----------
    done        : Record(done_layout), in, sys.
    completed   : 32, out, sys, slots of the ring.
    descriptors : 32, out, sys, descriptors, those of tables too.
    bytes       : 64, out, sys, bytes landed without a gap, those of an unfinished descriptor too.
    part        : 24, out, sys, bytes of the unfinished descriptor.
    reason      : 4, out, sys, of the first failure; nothing counts behind it.
    interrupt   : 1, out, sys, one cycle: a descriptor with INTERRUPT becomes complete.
    """
    def __init__(self):
        self.done        = done = Record(done_layout())
        self.completed   = Signal(32)
        self.descriptors = Signal(32)
        self.bytes       = Signal(64)
        self.part        = Signal(24)
        self.reason      = Signal(4)
        self.interrupt   = Signal()

        # # #

        counts = Signal()
        good   = Signal()
        self.comb += [
            counts.eq(done.valid & (self.reason == REASON_NONE)),
            good.eq(counts & done.last & (done.reason == REASON_NONE)),
            self.interrupt.eq(good & done.interrupt),
        ]
        self.sync += [
            If(counts,
                self.reason.eq(done.reason),
                self.bytes.eq(self.bytes + done.bytes),
                self.part.eq(self.part + done.bytes)
            ),
            If(good,
                self.part.eq(0),
                self.descriptors.eq(self.descriptors + 1),
                self.completed.eq(self.completed + done.slot_last)
            )
        ]

# Counters -----------------------------------------------------------------------------------------


class Counters(LiteXModule):
    """Cycles from the doorbell to the last byte, and what those that moved nothing waited for.

    ``active`` is the sum of the cycles that moved data and of the four ``wait`` counters. A cycle
    for which the engine names no reason waited for a descriptor.

    Attributes
    ----------
    run             : 1, in, sys, there is work.
    moved, wait_tag_now, wait_link_now, wait_data_now : 1, in, sys, at most one.
    tlp             : 1, in, sys, a request or write of data was sent.
    active          : 64, out, sys, cycles.
    tlps, wait_descriptor, wait_tag, wait_link, wait_data : 32, out, sys.
    """
    def __init__(self):
        self.run             = Signal()
        self.moved           = Signal()
        self.wait_tag_now    = Signal()
        self.wait_link_now   = Signal()
        self.wait_data_now   = Signal()
        self.tlp             = Signal()
        self.active          = Signal(64)
        self.tlps            = Signal(32)
        self.wait_descriptor = Signal(32)
        self.wait_tag        = Signal(32)
        self.wait_link       = Signal(32)
        self.wait_data       = Signal(32)

        # # #

        self.sync += [
            If(self.tlp, self.tlps.eq(self.tlps + 1)),
            If(self.run,
                self.active.eq(self.active + 1),
                If(self.moved,
                ).Elif(self.wait_tag_now,
                    self.wait_tag.eq(self.wait_tag + 1)
                ).Elif(self.wait_link_now,
                    self.wait_link.eq(self.wait_link + 1)
                ).Elif(self.wait_data_now,
                    self.wait_data.eq(self.wait_data + 1)
                ).Else(
                    self.wait_descriptor.eq(self.wait_descriptor + 1)
                )
            )
        ]
