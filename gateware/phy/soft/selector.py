#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The DLLP to be sent next."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.phy.soft.dllp import ACK, NAK, UPDATE

# What a DLLP is for, in the order of priority. TLPs come before the last one.
REASONS = FOR_NAK, FOR_ACK, FOR_INIT, FOR_UPDATE, FOR_POWER = range(5)

# Selector ----------------------------------------------------------------------------------------


class DLLPSelector(LiteXModule):
    """Composes the DLLP that is to be sent next, in three steps.

    Until a DLLP is taken, a more important one replaces it, and its contents are renewed in every cycle.

    Attributes
    ----------
    requests : 5, **in**; one bit for each of REASONS.
    kind     : 2, **in**; of the initialization of flow control.
    credits  : 2, **in**; of the initialization of flow control.
    update   : 2, **in**; credits of the update of flow control.
    chosen   : 2, **out**; credits whose limits are wanted.
    header_fc, data_fc : 8 and 12, **in**; the limits, in the cycle after ``chosen``.
    newest   : 12, **in**; number of the last good TLP.
    power    : 32, **in**; DLLP of power management.
    source   : stream of ``dword`` (32) and ``late`` (TLPs come before it), **out**.
    sent     : 5, **out**; a pulse for the reason of the DLLP that is taken from ``source``.
    """
    def __init__(self):
        self.requests  = Signal(len(REASONS))
        self.kind      = Signal(2)
        self.credits   = Signal(2)
        self.update    = Signal(2)
        self.chosen    = Signal(2)
        self.header_fc = Signal(8)
        self.data_fc   = Signal(12)
        self.newest    = Signal(12)
        self.power     = Signal(32)
        self.source    = source = stream.Endpoint([("dword", 32), ("late", 1)])
        self.sent      = Signal(len(REASONS))

        # # #

        reasons = [Signal(len(REASONS), name=f"reason{step}") for step in range(3)]
        kinds   = [Signal(2, name=f"kind{step}") for step in range(2)]
        credits = Signal(2)
        taken   = Signal()
        first   = Cat(*[self.requests[n] & (self.requests[:n] == 0) if n else self.requests[0] for n in REASONS])
        self.comb += [
            taken.eq(source.valid & source.ready),
            source.valid.eq(reasons[2] != 0),
            source.late.eq(reasons[2][FOR_POWER]),
            If(taken, self.sent.eq(reasons[2])),
        ]
        self.sync += [
            reasons[0].eq(first),
            kinds[0].eq(self.kind),
            self.chosen.eq(self.credits),
            If(~self.requests[FOR_INIT],
                kinds[0].eq(UPDATE),
                self.chosen.eq(self.update),
            ),
            # The limits are looked up.
            reasons[1].eq(reasons[0]),
            kinds[1].eq(kinds[0]),
            credits.eq(self.chosen),
            # The DLLP is composed.
            reasons[2].eq(reasons[1]),
            source.dword.eq(Cat(self.data_fc, C(0, 2), self.header_fc, C(0, 6), credits, kinds[1])),
            If(reasons[1][FOR_NAK], source.dword.eq(Cat(self.newest, C(0, 12), C(NAK, 8)))),
            If(reasons[1][FOR_ACK], source.dword.eq(Cat(self.newest, C(0, 12), C(ACK, 8)))),
            If(reasons[1][FOR_POWER], source.dword.eq(self.power)),
            # What is on its way was asked for by the same request.
            If(taken, *[reason.eq(0) for reason in reasons]),
        ]
