#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The end of bus mastering, after which no request of before leaves: the two ends of a marker between the TLPs."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.interconnect import stream

# Cycles after which the endpoint goes on without the marker: 8 ms, less than hosts wait for a completion. Only a
# client of the transaction layer that stops in the middle of a write makes it wait that long, or a host that takes no
# posted request all this time, which gets no completion then either.
LIMIT_BITS = 20

# Bits of ``dat`` of a beat without enabled bytes: a marker of the stop instead of an MSI, and its number.
IS_STOP, NUMBER = 0, 1

# Endpoint -----------------------------------------------------------------------------------------


class BusMasterStop(LiteXModule):
    """Asks for a marker when bus mastering ends. It follows the last request that the transaction layer counts as sent.

    Attributes
    ----------
    master  : 1, **in**; the function may send requests.
    came    : 1, **in**; a pulse: the marker has come,
    number  : 1, **in**; with this number. One of an earlier stop, which was not waited for, has the other number.
    inside  : 1, **in**; an MSI is being sent.
    holds   : 1, **out**; a request that a configuration write forbids may still come, for at most 2**limit_bits cycles.
    asks    : 1, **out**; bus mastering is off, and the marker has not come.
    asked   : 1, **out**; number of the marker that is wanted, steady while ``asks`` is asserted.
    stopped : 1, **out**; bus mastering is off, and every request of before is in the queues.
    """
    def __init__(self, limit_bits=LIMIT_BITS):
        self.master  = Signal()
        self.came    = Signal()
        self.number  = Signal()
        self.inside  = Signal()
        self.holds   = Signal()
        self.asks    = Signal()
        self.asked   = Signal()
        self.stopped = Signal()

        # # #

        settled = Signal(reset=1)
        waited  = Signal(limit_bits + 1)
        self.comb += [
            self.asks.eq(~self.master & ~settled),
            self.stopped.eq(~self.master & settled),
            self.holds.eq((self.asks | self.inside) & ~waited[-1]),
        ]
        self.sync += [
            If(self.holds, waited.eq(waited + 1)),
            If(~self.asks & ~self.inside, waited.eq(0)),
            If(self.master, settled.eq(0)),
            If(self.asks & ((self.came & (self.number == self.asked)) | waited[-1]),
                settled.eq(1),
                self.asked.eq(~self.asked),
            ),
        ]

# Transaction Layer --------------------------------------------------------------------------------


class StopMarker(LiteXModule):
    """Sends the marker, in ``sys``.

    Between two stops a configuration write is answered and another one comes, in which time ``asks`` is seen to fall.

    Attributes
    ----------
    asks, asked : 1, **in**, ``pcie``; of `BusMasterStop`.
    stopped : 1, **in**; no request has begun, and none begins while bus mastering is off.
    link_up : 1, **in**; without it, what was sent is lost.
    source  : stream of ``number``, **out**; the marker.
    """
    def __init__(self):
        self.asks    = Signal()
        self.asked   = Signal()
        self.stopped = Signal()
        self.link_up = Signal()
        self.source  = source = stream.Endpoint([("number", 1)])

        # # #

        asks, sent = Signal(), Signal()
        self.specials += [
            MultiReg(self.asks, asks),
            MultiReg(self.asked, source.number),
        ]
        self.comb += source.valid.eq(asks & self.stopped & ~sent)
        self.sync += [
            If(source.valid & source.ready, sent.eq(1)),
            If(~asks | ~self.link_up, sent.eq(0)),
        ]
