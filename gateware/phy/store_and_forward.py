#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Store-and-forward buffer for hard blocks that accept no gap inside a TLP."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import HEADER_4DW, phy_layout

# Store And Forward --------------------------------------------------------------------------------

MAX_PAYLOAD = 512  # Bytes: the largest Max_Payload_Size that LitePCIe's PHYs advertise.


class StoreAndForward(LiteXModule):
    """Stores each TLP completely before it forwards the first beat, so that `valid` stays asserted within a TLP.

    UltraScale's hard blocks treat a gap inside a TLP as an error and nullify the TLP (PG156, PG213: "Requester Memory
    Write Operation", and the section on completions). Truncated TLPs are dropped. The buffer holds two TLPs of the
    largest size, so it transfers one beat per cycle: while one TLP leaves, the next one can enter.

    Parameters
    ----------
    data_width : int, bits.

    Attributes
    ----------
    sink   : stream of `phy_layout`, **in**; TLPs with up to MAX_PAYLOAD bytes of payload.
    cut    : Signal(), **in**, the last beat on `sink` ends a truncated TLP.
    source : stream of `phy_layout`, **out**.
    """
    def __init__(self, data_width):
        beats       = -(-(HEADER_4DW + MAX_PAYLOAD)*8//data_width)
        depth       = 1 << log2_int(2*beats, need_pow2=False)
        self.fifo   = fifo   = stream.SyncFIFO(phy_layout(data_width), depth, buffered=True)
        # One entry for each completely stored TLP.
        self.stored = stored = stream.SyncFIFO([("cut", 1)], depth, buffered=True)
        self.sink   = sink   = fifo.sink
        self.cut    = Signal()
        self.source = source = stream.Endpoint(phy_layout(data_width))

        # # #

        tlp = stored.source
        self.comb += [
            stored.sink.valid.eq(sink.valid & sink.ready & sink.last),
            stored.sink.cut.eq(self.cut),
            fifo.source.connect(source),
            If(~tlp.valid | tlp.cut,
                source.valid.eq(0),
                fifo.source.ready.eq(tlp.valid),
            ),
            tlp.ready.eq(fifo.source.valid & fifo.source.ready & fifo.source.last),
        ]
