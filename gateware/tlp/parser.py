#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""From raw TLP beats to header fields and payload."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import check_data_width, has_4_dwords, has_data, phy_layout

# Helpers ------------------------------------------------------------------------------------------

def tlp_layout(data_width):
    """A parsed TLP: header dwords as parameters (dw3 means nothing with three), payload beats.

    A beat with `cut` has nothing of its TLP, it only ends it: the link went.
    """
    return stream.EndpointDescription(
        payload_layout = [("dat", data_width), ("cut", 1)],
        param_layout   = [("dw0", 32), ("dw1", 32), ("dw2", 32), ("dw3", 32)],
    )


def memory_order(dat, endianness):
    """Payload of the PHY with byte 0 of each dword in its bits 7:0, and back."""
    if endianness == "little":
        return dat
    swapped = []
    for dword in range(len(dat)//32):
        swapped += [dat[32*dword + 8*byte:32*dword + 8*byte + 8] for byte in reversed(range(4))]
    return Cat(*swapped)

# Parser -------------------------------------------------------------------------------------------

class Parser(LiteXModule):
    """Takes the header off; a beat a cycle, latency 1.

    Beats that are header only are dropped; the first beat of `source` is the one with the first payload dword, its
    lanes below that one carry leftovers of the header. A TLP without payload is one beat. What stands behind the
    payload (TLP digest) is dropped. The PHY is trusted that a TLP is as long as its header says: one that is
    not is malformed, and the PHY's to drop (PCIe 4.0 2.3).

    Parameters
    ----------
    data_width : int, bits.
    endianness : "big" or "little", of the PHY's payload dwords.

    Attributes
    ----------
    sink   : stream of `phy_layout`, **in**, `sys`; `be` is not looked at, the header's length is.
    cut    : Signal(), **in**, with a last beat of it: nothing in the beat is of the TLP, which is dropped if none of it
        went out yet.
    source : stream of `tlp_layout`, **out**, `sys`; payload in memory byte order.
    """
    def __init__(self, data_width, endianness):
        check_data_width(data_width)
        self.sink   = sink   = stream.Endpoint(phy_layout(data_width))
        self.source = source = stream.Endpoint(tlp_layout(data_width))
        self.cut    = Signal()

        # # #

        dwords  = data_width//32
        dw0     = Signal(32)
        left    = Signal(12)  # Dwords of the TLP behind the beat before.
        last    = Signal()
        open    = Signal()    # In a TLP of which beats are still wanted.
        second  = Signal()    # This is the TLP's second beat.
        opened  = Signal()    # A beat of this TLP went out.
        payload = Signal()    # This beat holds payload.
        wanted  = Signal()
        take    = Signal()

        # Position in the TLP ----------------------------------------------------------------------
        self.comb += [
            sink.ready.eq(~source.valid | source.ready),
            take.eq(sink.valid & sink.ready),
            dw0.eq(Mux(sink.first, sink.dat[:32], source.dw0)),
            last.eq(sink.last | Mux(sink.first, self.ends_at_once(dw0, dwords), left <= dwords)),
            wanted.eq((sink.first | open) & (payload | last) & (opened | ~self.cut)),
        ]
        if dwords == 2:
            self.comb += payload.eq(~sink.first & ~(second & has_4_dwords(dw0)))
        elif dwords == 4:
            self.comb += payload.eq(~(sink.first & has_4_dwords(dw0)))
        else:
            self.comb += payload.eq(1)

        length = Cat(dw0[:10], dw0[:10] == 0)
        behind = Mux(has_4_dwords(dw0), Constant(4 - dwords, (12, True)), Constant(3 - dwords, (12, True)))
        self.sync += If(take,
            second.eq(sink.first),
            open.eq((sink.first | open) & ~last),
            opened.eq(wanted | (opened & ~sink.first)),
            If(~sink.first,
                left.eq(left - dwords)
            ).Else(
                left.eq(Mux(has_data(dw0), length, 0) + behind)
            ),
        )

        # Output -----------------------------------------------------------------------------------
        self.sync += If(sink.ready,
            source.valid.eq(sink.valid & wanted),
            source.first.eq(sink.first | ~opened),
            source.last.eq(last),
            source.dat.eq(memory_order(sink.dat, endianness)),
            source.cut.eq(self.cut),
        )
        self.sync += If(take, *self.load_header(sink, source, second, dwords))

    @staticmethod
    def ends_at_once(dw0, dwords):
        """The TLP ends with its first beat."""
        if dwords == 2:
            return 0
        def fits(room):
            return ~has_data(dw0) | ((dw0[:10] <= room) & (dw0[:10] != 0)) if room > 0 else ~has_data(dw0)
        return Mux(has_4_dwords(dw0), fits(dwords - 4), fits(dwords - 3))

    @staticmethod
    def load_header(sink, source, second, dwords):
        if dwords == 2:
            return [
                If(sink.first, source.dw0.eq(sink.dat[:32]), source.dw1.eq(sink.dat[32:])),
                If(second & ~sink.first, source.dw2.eq(sink.dat[:32]), source.dw3.eq(sink.dat[32:])),
            ]
        return [If(sink.first,
            *[getattr(source, f"dw{n}").eq(sink.dat[32*n:32*n + 32]) for n in range(4)]
        )]
