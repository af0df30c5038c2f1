#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""TLPs for a hard block that does not wait for the rest of one."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import HEADER_4DW, phy_layout

# Gapless TLPs -------------------------------------------------------------------------------------

MAX_PAYLOAD = 512  # Bytes, the most that LitePCIe's PHYs say they can.


class GaplessTLPs(LiteXModule):
    """Keeps each TLP until it is here to its end: `valid` does not fall in its middle. One that was cut is dropped.

    UltraScale's hard blocks take a gap for an error and nullify the TLP (PG156, PG213: "Requester Memory Write
    Operation", and the same of completions). A beat a cycle: while one leaves, the next can come.

    Parameters
    ----------
    data_width : int, bits.

    Attributes
    ----------
    sink   : stream of `phy_layout`, **in**; TLPs with up to MAX_PAYLOAD bytes of data.
    cut    : Signal(), **in**, with a last beat: it ends a TLP that was cut short.
    source : stream of `phy_layout`, **out**.
    """
    def __init__(self, data_width):
        beats       = -(-(HEADER_4DW + MAX_PAYLOAD)*8//data_width)
        depth       = 1 << log2_int(2*beats, need_pow2=False)
        self.fifo   = fifo   = stream.SyncFIFO(phy_layout(data_width), depth, buffered=True)
        self.ends   = ends   = stream.SyncFIFO([("cut", 1)], depth, buffered=True)  # Of the TLPs that are here to it.
        self.sink   = sink   = fifo.sink
        self.cut    = Signal()
        self.source = source = stream.Endpoint(phy_layout(data_width))

        # # #

        end = ends.source
        self.comb += [
            ends.sink.valid.eq(sink.valid & sink.ready & sink.last),
            ends.sink.cut.eq(self.cut),
            fifo.source.connect(source),
            If(~end.valid | end.cut,
                source.valid.eq(0),
                fifo.source.ready.eq(end.valid),
            ),
            end.ready.eq(fifo.source.valid & fifo.source.ready & fifo.source.last),
        ]
