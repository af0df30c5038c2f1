#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""From TLPs to the descriptors that UltraScale's hard blocks take."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import has_data
from litepcie_soc.phy.gapless import GaplessTLPs
from litepcie_soc.phy.headers import FourDwordHeaders
from litepcie_soc.phy.ultrascale.axi import axi_layout, check_adapter, dwords

# Helpers ------------------------------------------------------------------------------------------

def fill(beat, source, descriptor):
    """Statements: `beat` of a TLP to `source`, the dwords of `descriptor` in the place of its header."""
    length = 32*len(descriptor)
    return [
        beat.connect(source, keep={"valid", "ready", "first", "last"}),
        source.dat.eq(beat.dat),
        If(beat.first, source.dat[:length].eq(Cat(*descriptor))),
        source.keep.eq(beat.be[::4]),
    ]


def ends(beat, bits):
    """Dword in which the TLP ends, if it ends in this beat."""
    last = Signal(bits)
    return last, [If(enable, last.eq(n)) for n, enable in enumerate(beat.be[::4])]

# Requester Request --------------------------------------------------------------------------------

class RequesterRequest(LiteXModule):
    """Memory requests of the card; a beat a cycle, each when all of it is here, in the clock of the hard block.

    Descriptor of four dwords: PG213, "Requester Request Descriptor Formats", memory requests. Requester and completer
    ID are the block's own business in an endpoint (bit 120, Requester ID Enable, is 0). A header of three dwords is
    made one of four first: this takes a beat more if the last one was full.

    Each write carries sequence number 2**(bits - 1), each read 0. What comes back of it, `pcie_rq_seq_num`, tells that
    no completion can pass the request any more: see "Maintaining Transaction Order" (PG156, PG213).

    Parameters
    ----------
    data_width : int, bits.
    plus       : bool, UltraScale+.

    Attributes
    ----------
    sink   : stream of `phy_layout`, **in**: MRd, MWr with three or four header dwords.
    cut    : Signal(), **in**, with a last beat: it ends a TLP that was cut short, which is dropped.
    source : stream of `axi_layout` ("rq"), **out**.
    """
    def __init__(self, data_width, plus):
        check_adapter(data_width)
        self.gapless = gapless = GaplessTLPs(data_width)
        self.headers = headers = FourDwordHeaders(data_width)
        self.pipe    = pipe    = stream.PipeValid(axi_layout("rq", data_width, plus))
        self.sink    = gapless.sink
        self.cut     = gapless.cut
        self.source  = pipe.source

        # # #

        beat               = headers.source
        dw0, dw1, dw2, dw3 = dwords(beat.dat)
        write              = has_data(dw0)
        poisoned           = dw0[14]
        self.comb += [
            gapless.source.connect(headers.sink),
            *fill(beat, pipe.sink, [
                dw3,    # Address, low; bits 1:0 (Address Type) are 0 in it.
                dw2,
                Cat(dw0[:10], dw0[:10] == 0, write, Constant(0, 3), poisoned, dw1[16:]),    # Memory write: 0001.
                Cat(dw1[8:16], Constant(0, 17), dw0[20:23], dw0[12:14], dw0[18], Constant(0, 1)),
            ]),
            If(beat.first, *self.sideband(pipe.sink.user, beat, dw1, write, plus)),
        ]
        if data_width == 512:
            final, statements = ends(beat, 4)
            self.comb += [*statements, pipe.sink.user[26].eq(beat.last), pipe.sink.user[28:32].eq(final)]

    @staticmethod
    def sideband(user, beat, dw1, write, plus):
        """Of the first beat: byte enables and sequence number (of four bits on UltraScale, else six)."""
        first_be, last_be = dw1[0:4], dw1[4:8]
        if len(beat.dat) == 512:    # first_be[0], last_be[0], is_sop[0] (at dword 0), seq_num0.
            return [user[0:4].eq(first_be), user[8:12].eq(last_be), user[20].eq(1), user[66].eq(write)]
        return [user[0:4].eq(first_be), user[4:8].eq(last_be), user[61 if plus else 27].eq(write)]

# Completer Completion -----------------------------------------------------------------------------

class CompleterCompletion(LiteXModule):
    """Completions of the card; a beat a cycle, each when all of it is here, in the clock of the hard block.

    Descriptor of three dwords: PG213, "Completer Completion Descriptor Format". The block puts bus and device of the
    completer in (bit 88, Completer ID Enable, is 0 in an endpoint); its function is bits 79:72.

    Parameters
    ----------
    data_width : int, bits.
    plus       : bool, UltraScale+.

    Attributes
    ----------
    sink   : stream of `phy_layout`, **in**: Cpl, CplD, CplLk, CplDLk.
    cut    : Signal(), **in**, with a last beat: it ends a TLP that was cut short, which is dropped.
    source : stream of `axi_layout` ("cc"), **out**.
    """
    def __init__(self, data_width, plus):
        check_adapter(data_width)
        self.gapless = gapless = GaplessTLPs(data_width)
        self.pipe    = pipe    = stream.PipeValid(axi_layout("cc", data_width, plus))
        self.sink    = gapless.sink
        self.cut     = gapless.cut
        self.source  = pipe.source

        # # #

        beat          = gapless.source
        dw0, dw1, dw2 = dwords(beat.dat, 3)
        count         = Signal(11)
        locked        = dw0[24]
        poisoned      = dw0[14]
        self.comb += [
            If(has_data(dw0), count.eq(Cat(dw0[:10], dw0[:10] == 0))),
            *fill(beat, pipe.sink, [
                Cat(dw2[0:7], Constant(0, 9), dw1[0:12], dw1[0:12] == 0, locked, Constant(0, 2)),   # 0 bytes: 4096.
                Cat(count, dw1[13:16], poisoned, Constant(0, 1), dw2[16:]),
                Cat(dw2[8:16], dw1[16:32], Constant(0, 1), dw0[20:23], dw0[12:14], dw0[18], Constant(0, 1)),
            ]),
        ]
        if data_width == 512:       # is_sop[0] (at dword 0), is_eop[0] and where.
            final, statements = ends(beat, 4)
            user = pipe.sink.user
            self.comb += [*statements, user[0].eq(beat.first), user[6].eq(beat.last), user[8:12].eq(final)]
