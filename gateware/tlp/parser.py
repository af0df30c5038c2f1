#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Separates raw TLP beats into header and payload."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import check_data_width, has_4_dwords, has_data, phy_layout

# Helpers ------------------------------------------------------------------------------------------

def tlp_layout(data_width):
    """A parsed TLP: header dwords as parameters (`dw3` is undefined if the header has three), and beats of payload.

    A last beat with `cut` holds no data of the TLP: it was added to end a TLP that a loss of the link truncated.
    """
    return stream.EndpointDescription(
        payload_layout = [("dat", data_width), ("cut", 1)],
        param_layout   = [("dw0", 32), ("dw1", 32), ("dw2", 32), ("dw3", 32)],
    )


def memory_order(dat, endianness):
    """Payload dwords of the PHY in memory order (byte 0 in bits 7:0); also the conversion from memory order."""
    if endianness == "little":
        return dat
    swapped = []
    for dword in range(len(dat)//32):
        swapped += [dat[32*dword + 8*byte:32*dword + 8*byte + 8] for byte in reversed(range(4))]
    return Cat(*swapped)

# Parser -------------------------------------------------------------------------------------------

class Parser(LiteXModule):
    """Removes the header; one beat per cycle, latency 1.

    Beats that hold only header dwords are dropped. The first beat on `source` is the one that holds the first payload
    dword; its lower lanes still hold header dwords. A TLP without payload has one beat. Dwords after the payload (the
    TLP digest) are dropped.

    The parser relies on the PHY to deliver each TLP in the length that its header says. A TLP of another length is
    malformed, and the PHY has to drop it (PCIe 4.0 2.3).

    Parameters
    ----------
    data_width : int, bits.
    endianness : "big" or "little", byte order of the PHY's payload dwords.

    Attributes
    ----------
    sink   : stream of `phy_layout`, **in**; `be` is ignored, since the header holds the length.
    cut    : Signal(), **in**, the last beat on `sink` was added to end a truncated TLP. The TLP is dropped if no beat
        of it has left `source` yet.
    source : stream of `tlp_layout`, **out**; payload in memory byte order.
    """
    def __init__(self, data_width, endianness):
        check_data_width(data_width)
        self.sink   = sink   = stream.Endpoint(phy_layout(data_width))
        self.source = source = stream.Endpoint(tlp_layout(data_width))
        self.cut    = Signal()

        # # #

        dwords  = data_width//32
        dw0     = Signal(32)
        left    = Signal(12)  # Dwords of the TLP after the previous beat.
        last    = Signal()    # This beat holds the end of the TLP.
        open    = Signal()    # The TLP has more payload after the previous beat.
        second  = Signal()    # This is the second beat of the TLP.
        opened  = Signal()    # A beat of this TLP left `source`.
        payload = Signal()    # This beat holds payload.
        wanted  = Signal()    # This beat goes to `source`.
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

        head   = sink.dat[:32]
        length = Cat(head[:10], head[:10] == 0)
        # Dwords of the header after the first beat; negative if payload follows in the first beat.
        header = Mux(has_4_dwords(head), Constant(4 - dwords, (12, True)), Constant(3 - dwords, (12, True)))
        self.sync += If(take,
            second.eq(sink.first),
            open.eq((sink.first | open) & ~last),
            opened.eq(wanted | (opened & ~sink.first)),
            # One adder for both, with a multiplexer in front of each input.
            left.eq(Mux(sink.first, Mux(has_data(head), length, 0), left) +
                Mux(sink.first, header, Constant(-dwords, (12, True)))),
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
        """The TLP ends in its first beat."""
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
