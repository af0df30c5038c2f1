#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Packets from one data width to another: of twice the bits, or half.

Layouts have `dat`; `be` (a bit a byte) or `keep` (a bit a dword), which says what of it there is; and `user`, if
anything, of the same width on both sides, which goes with the first half. Everything here is in `sys`, to be renamed.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import check_data_width

# Helpers ------------------------------------------------------------------------------------------


def check_widths(wide, narrow):
    """Raises ValueError unless TLPs of `wide` bits a beat can be carried over to `narrow` and back."""
    check_data_width(wide)
    check_data_width(narrow)
    if wide not in (narrow, 2*narrow):
        raise ValueError(f"data_width must be {narrow} or {2*narrow} at a pcie_data_width of {narrow}, not {wide}")


def enables(endpoint):
    """What says which part of the data there is."""
    return endpoint.be if hasattr(endpoint, "be") else endpoint.keep

# Narrower -----------------------------------------------------------------------------------------

class Narrower(LiteXModule):
    """Each beat as its two halves, the second only if there is something in it; combinatorial, a half a cycle.

    Parameters
    ----------
    wide, narrow : layouts of the sink and of the source.

    Attributes
    ----------
    sink   : stream of `wide`, **in**.
    source : stream of `narrow`, **out**.
    """
    def __init__(self, wide, narrow):
        self.sink   = sink   = stream.Endpoint(wide)
        self.source = source = stream.Endpoint(narrow)

        # # #

        half   = len(source.dat)
        there  = enables(sink)
        count  = len(there)//2
        second = Signal()  # It is the turn of the second half.
        done   = Signal()  # And of nothing behind this one.
        self.comb += [
            done.eq(second | ~there[count]),
            source.valid.eq(sink.valid),
            source.first.eq(sink.first & ~second),
            source.last.eq(sink.last & done),
            source.dat.eq(Mux(second, sink.dat[half:], sink.dat[:half])),
            enables(source).eq(Mux(second, there[count:], there[:count])),
            sink.ready.eq(source.ready & done),
        ]
        if hasattr(sink, "user"):
            self.comb += If(~second, source.user.eq(sink.user))
        self.sync += If(source.valid & source.ready, second.eq(~done))

# Wider --------------------------------------------------------------------------------------------

class Wider(LiteXModule):
    """Two beats as one; a packet begins in the first of two, and one that ends there goes alone. A beat a cycle.

    Combinatorial; a beat that is the first of two is kept.

    Parameters
    ----------
    narrow, wide : layouts of the sink and of the source.

    Attributes
    ----------
    sink   : stream of `narrow`, **in**.
    source : stream of `wide`, **out**; `dat` means nothing where it is not enabled.
    """
    def __init__(self, narrow, wide):
        self.sink   = sink   = stream.Endpoint(narrow)
        self.source = source = stream.Endpoint(wide)

        # # #

        there  = enables(sink)
        kept   = stream.Endpoint(narrow)
        second = Signal()  # The first of two is kept.
        goes   = Signal()
        self.comb += [
            goes.eq(second | sink.last),
            source.valid.eq(sink.valid & goes),
            source.first.eq(Mux(second, kept.first, sink.first)),
            source.last.eq(sink.last),
            source.dat.eq(Cat(Mux(second, kept.dat, sink.dat), sink.dat)),
            enables(source).eq(Mux(second, Cat(Replicate(1, len(there)), there), there)),
            sink.ready.eq(source.ready | ~goes),
        ]
        self.sync += [
            If(sink.valid & sink.ready, second.eq(~goes)),
            If(~second, kept.dat.eq(sink.dat), kept.first.eq(sink.first)),
        ]
        if hasattr(sink, "user"):
            self.comb += source.user.eq(Mux(second, kept.user, sink.user))
            self.sync += If(~second, kept.user.eq(sink.user))
