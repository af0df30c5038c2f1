#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The registers of a SerDes block (Lattice's SerDes Client Interface), which change its words at run time."""

from migen import *

from litex.gen import *

# Cycles of ``sys`` that address and data are stable before, in and after the strobe. The block needs a few ns of each.
PHASE_CYCLES = 8

# Access -------------------------------------------------------------------------------------------


class SerDesRegisters(LiteXModule):
    """Reads or writes one register of 8 bits at a time.

    Attributes
    ----------
    start   : 1, **in**; a pulse begins an access. Ignored while ``busy``.
    write   : 1, **in**; the access writes.
    common  : 1, **in**; a register of both channels instead of one of this channel.
    address : 6, **in**. Like ``write``, ``common`` and ``data`` taken at the start.
    data    : 8, **in**; what is written.
    busy    : 1, **out**.
    result  : 8, **out**; what was read last.
    sel_common, sel_channel : 1, **out**; for ``D_SCIENAUX`` and ``D_SCISELAUX``, for ``CH_SCIEN`` and ``CH_SCISEL``.
    rd, wrn : 1, **out**; for ``D_SCIRD`` and ``D_SCIWSTN``, from registers.
    block_address, wdata : 6, 8, **out**; for ``D_SCIADDR`` and ``D_SCIWDATA``.
    rdata   : 8, **in**, asynchronous; from ``D_SCIRDATA``.
    """
    def __init__(self):
        self.start   = Signal()
        self.write   = Signal()
        self.common  = Signal()
        self.address = Signal(6)
        self.data    = Signal(8)
        self.busy    = Signal()
        self.result  = Signal(8)
        self.sel_common    = Signal()
        self.sel_channel   = Signal()
        self.rd      = Signal()
        self.wrn     = Signal(reset=1)
        self.block_address = Signal(6)
        self.wdata   = Signal(8)
        self.rdata   = Signal(8)

        # # #

        writes, left = Signal(), Signal(max=3*PHASE_CYCLES)
        strobe       = (left >= PHASE_CYCLES) & (left < 2*PHASE_CYCLES)
        self.comb   += self.busy.eq(self.sel_common | self.sel_channel)
        self.sync   += [
            self.wrn.eq(~(self.busy & writes & strobe)),
            self.rd.eq(self.busy & ~writes & (left >= PHASE_CYCLES)),
            If(self.busy,
                left.eq(left - 1),
                If(~writes & (left == PHASE_CYCLES), self.result.eq(self.rdata)),
                If(left == 0, self.sel_common.eq(0), self.sel_channel.eq(0)),
            ).Elif(self.start,
                left.eq(3*PHASE_CYCLES - 1),
                writes.eq(self.write),
                self.sel_common.eq(self.common),
                self.sel_channel.eq(~self.common),
                self.block_address.eq(self.address),
                self.wdata.eq(self.data),
            ),
        ]
