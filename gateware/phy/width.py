#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Converts packets to half or twice the data width.

The layouts have `dat` and its enables: `be` (one bit per byte) or `keep` (one bit per dword). They may have `user`, of
the same width on both sides, which travels with the first half. The modules are written in `sys`; ClockDomainsRenamer
moves them where they are needed.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import check_data_width

# Helpers ------------------------------------------------------------------------------------------


def check_widths(wide, narrow):
    """Raises ValueError unless `wide` (bits) is equal to `narrow` or twice that."""
    check_data_width(wide)
    check_data_width(narrow)
    if wide not in (narrow, 2*narrow):
        raise ValueError(f"data_width {wide} is not supported with pcie_data_width {narrow}; choose {narrow} or "
            f"{2*narrow}")


def enables(endpoint):
    """The enables of the data: `be` or `keep`."""
    return endpoint.be if hasattr(endpoint, "be") else endpoint.keep

# Narrower -----------------------------------------------------------------------------------------

class Narrower(LiteXModule):
    """Splits each beat into its two halves, and skips an upper half that is not enabled.

    The path is combinatorial and transfers one half per cycle.

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

        half    = len(source.dat)
        enabled = enables(sink)
        count   = len(enabled)//2
        second  = Signal()  # The upper half is on `source`.
        done    = Signal()  # No other half follows of this beat.
        self.comb += [
            done.eq(second | ~enabled[count]),
            source.valid.eq(sink.valid),
            source.first.eq(sink.first & ~second),
            source.last.eq(sink.last & done),
            source.dat.eq(Mux(second, sink.dat[half:], sink.dat[:half])),
            enables(source).eq(Mux(second, enabled[count:], enabled[:count])),
            sink.ready.eq(source.ready & done),
        ]
        if hasattr(sink, "user"):
            self.comb += If(~second, source.user.eq(sink.user))
        self.sync += If(source.valid & source.ready, second.eq(~done))

# Wider --------------------------------------------------------------------------------------------

class Wider(LiteXModule):
    """Joins pairs of beats into beats of twice the width.

    A packet always begins in the lower half; a packet that ends there leaves without an upper half. The module stores
    the first beat of a pair; the path of the second beat is combinatorial. It accepts one beat per cycle.

    Parameters
    ----------
    narrow, wide : layouts of the sink and of the source.

    Attributes
    ----------
    sink   : stream of `narrow`, **in**.
    source : stream of `wide`, **out**; `dat` is undefined where it is not enabled.
    """
    def __init__(self, narrow, wide):
        self.sink   = sink   = stream.Endpoint(narrow)
        self.source = source = stream.Endpoint(wide)

        # # #

        enabled = enables(sink)
        kept    = stream.Endpoint(narrow)
        second  = Signal()  # `kept` holds the first beat of a pair.
        goes    = Signal()  # The beat on `sink` leaves at once: it completes a pair, or ends its packet.
        self.comb += [
            goes.eq(second | sink.last),
            source.valid.eq(sink.valid & goes),
            source.first.eq(Mux(second, kept.first, sink.first)),
            source.last.eq(sink.last),
            source.dat.eq(Cat(Mux(second, kept.dat, sink.dat), sink.dat)),
            enables(source).eq(Mux(second, Cat(Replicate(1, len(enabled)), enabled), enabled)),
            sink.ready.eq(source.ready | ~goes),
        ]
        self.sync += [
            If(sink.valid & sink.ready, second.eq(~goes)),
            If(~second, kept.dat.eq(sink.dat), kept.first.eq(sink.first)),
        ]
        if hasattr(sink, "user"):
            self.comb += source.user.eq(Mux(second, kept.user, sink.user))
            self.sync += If(~second, kept.user.eq(sink.user))
