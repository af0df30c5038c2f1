#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Errors of the transaction layer and the header of their TLP, from `sys` to the endpoint in gateware."""

from migen import *
from migen.genlib.cdc import PulseSynchronizer

from litex.gen import *

from litepcie_soc.phy.errors import HEADER_BITS, REPORTED_ERRORS, error_record

# Those of a TLP, whose header comes with them.
WITH_HEADER = "unexpected_completion", "poisoned", "completer_abort"

# Error Crossing -----------------------------------------------------------------------------------


class ErrorCrossing(LiteXModule):
    """Transfers errors together, and no further ones until they have arrived: those wait, without their header.

    Attributes
    ----------
    sink    : Record of `error_record`, **in**, ``sys``; strobes.
    source  : Record of `error_record`, **out**, ``pcie``; strobes.
    arrived : 1, **out**, ``pcie``; a strobe: with errors.
    unknown : 1, **out**, ``pcie``; with ``arrived``: there is no header.
    """
    def __init__(self):
        self.sink    = sink   = error_record()
        self.source  = source = error_record()
        self.arrived = Signal()
        self.unknown = Signal()

        # # #

        names   = list(REPORTED_ERRORS)
        strobes = Cat(*[getattr(sink, name) for name in names])
        waiting = Signal(len(names))
        busy    = Signal()
        send    = Signal()
        # Stable until they have arrived.
        sent    = Signal(len(names))
        header  = Signal(HEADER_BITS, reset_less=True)
        unknown = Signal()
        mine    = Cat(*[getattr(sink, name) for name in WITH_HEADER])
        self.there = there = PulseSynchronizer("sys_link", "pcie_link")
        self.back  = back  = PulseSynchronizer("pcie_link", "sys_link")
        self.comb += [
            send.eq(~busy & ((strobes | waiting) != 0)),
            there.i.eq(send),
            back.i.eq(there.o),
            self.arrived.eq(there.o),
            self.unknown.eq(unknown),
            source.header.eq(header),
            [getattr(source, name).eq(there.o & sent[n]) for n, name in enumerate(names)],
        ]
        self.sync.sys_link += [
            waiting.eq(Mux(send, 0, waiting | strobes)),
            If(back.o, busy.eq(0)),
            If(send,
                busy.eq(1),
                sent.eq(strobes | waiting),
                header.eq(sink.header),
                # Not of the ones that have waited, and of one only.
                unknown.eq((waiting != 0) | ((mine != 1) & (mine != 2) & (mine != 4))),
            ),
        ]
