# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""The logic of NAME, in simulation and on the board: change it."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream
from litex.soc.interconnect.csr import CSRStatus, CSRStorage

from litepcie_soc.stream_dma.port import port_layout
from litepcie_soc.stream_dma.stream import Stream

# What the card has for the logic: parameters of add_litepcie. user_bus: the host reaches the registers of the SoC.
CARD = {"streams": [Stream("words", from_host=True, to_host=True, width=32)], "user_bus": True}


class Core(LiteXModule):
    """Adds a number to each word of 32 bits of a stream.

    Attributes
    ----------
    sink   : Endpoint(``data``: 32, ``be``), **in**, from the host.
    source : Endpoint(``data``: 32, ``be``), **out**, to the host.
    """
    def __init__(self):
        self.sink   = stream.Endpoint(port_layout(32))
        self.source = stream.Endpoint(port_layout(32))
        self.offset = CSRStorage(32, reset=1, description="Number that is added to each word.")
        self.words  = CSRStatus(32, description="Words that went through, modulo 2^32.")

        # # #

        self.comb += [
            self.sink.connect(self.source, omit={"data"}),
            self.source.data.eq(self.sink.data + self.offset.storage),
        ]
        self.sync += If(self.sink.valid & self.sink.ready, self.words.status.eq(self.words.status + 1))


def add_core(soc):
    """Adds the logic to a board, whose card has CARD."""
    soc.core  = core = Core()
    words     = soc.streams["words"]
    soc.comb += words.source.connect(core.sink), core.source.connect(words.sink)
