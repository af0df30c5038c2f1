#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Builds the TLPs of memory requests to the host."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import (
    ADDRESS_BITS, FMT_TYPE_MRD_32, FMT_TYPE_MRD_64, FMT_TYPE_MWR_32, FMT_TYPE_MWR_64, LENGTH_BITS, TAG_BITS,
    check_data_width, phy_layout,
)
from litepcie_soc.tlp.parser import memory_order

# Layout -------------------------------------------------------------------------------------------

ATTRIBUTE_BITS = 2  # Attr[1:0] (PCIe 4.0 2.2.6.3).
ATTRIBUTE_RO   = 2  # Relaxed Ordering.
ATTRIBUTE_NS   = 1  # No Snoop.

PORT_BITS = 5  # Bits of a write port's number: a layer can have 32 write ports; seven channels need three each.

def sent_layout():
    """A read that was sent, or `dropped` instead, or `refused`: its end is known already."""
    return [("valid", 1), ("dropped", 1), ("refused", 1), ("tag", TAG_BITS), ("generation", 1)]


def request_layout(data_width):
    """A request to send: a write with its payload in the lanes of the TLP, or a read, which has one beat."""
    return stream.EndpointDescription(
        payload_layout = [("dat", data_width)],
        param_layout   = [
            ("address", ADDRESS_BITS),
            ("length",  LENGTH_BITS),
            ("read",    1),
            ("tag",     TAG_BITS),
            ("generation", 1),       # Of the tag of a read.
            ("attributes", ATTRIBUTE_BITS),
            ("port",    PORT_BITS),  # Write port that is told when a write was sent.
        ],
    )

# Header Fields ------------------------------------------------------------------------------------

class HeaderFields(LiteXModule):
    """Length in dwords and byte enables of a request (PCIe 4.0 2.2.5, 2.2.7); combinatorial.

    Attributes
    ----------
    address  : Signal(2), **in**, host byte address within its dword.
    length   : Signal(13), **in**, length in bytes, 1..4096.
    dwords   : Signal(11), **out**, length in dwords, 1..1024.
    first_be : Signal(4), **out**, byte enables of the first dword.
    last_be  : Signal(4), **out**, byte enables of the last dword; 0 if there is only one.
    """
    def __init__(self):
        self.address  = Signal(2)
        self.length   = Signal(LENGTH_BITS)
        self.dwords   = Signal(11)
        self.first_be = Signal(4)
        self.last_be  = Signal(4)

        # # #

        final   = Signal(LENGTH_BITS + 1)  # Offset of the last byte from the first dword.
        from_be = Signal(4)
        upto_be = Signal(4)
        self.comb += [
            final.eq(self.address + self.length - 1),
            self.dwords.eq(final[2:] + 1),
            from_be.eq(0b1111 << self.address),
            Case(final[:2], {n: upto_be.eq(2**(n + 1) - 1) for n in range(4)}),
            If(final[2:] == 0,
                self.first_be.eq(from_be & upto_be),
                self.last_be.eq(0),
            ).Else(
                self.first_be.eq(from_be),
                self.last_be.eq(upto_be),
            ),
        ]

# Request Builder ----------------------------------------------------------------------------------

class RequestBuilder(LiteXModule):
    """Adds the header to requests; one beat per cycle, no idle beat between TLPs, latency 2.

    Headers have three dwords below 4 GiB and four above (PCIe 4.0 2.2.4.1). Requests are dropped while bus mastering is
    off or the link is down.

    The `ready` of the sink comes from a register. The PHY's `ready` would otherwise pass through the arbiter to all
    clients within one cycle.

    Parameters
    ----------
    data_width : int, bits.
    endianness : "big" or "little", byte order of the PHY's payload dwords.

    Attributes
    ----------
    sink      : stream of `request_layout`, **in**.
    source    : stream of `phy_layout`, **out**.
    requester : Signal(16), **in**, bus, device and function number of the card.
    enable    : Signal(), **in**, requests may be sent: bus mastering is on and the link is up.
    closed    : Signal(), **in**, no read may be sent.
    link_up   : Signal(), **in**, the link is up.
    allowed   : Signal(2), **in**, Attr[1:0] that the host permits (Device Control, PCIe 4.0 7.5.3.4); others are sent
        as 0.
    stopped   : Signal(), **out**, no TLP has begun, and none begins while `enable` is deasserted.
    sent      : Signal(32), **out**, one bit per write port: in the previous cycle the PHY accepted the last beat of a
        write of that port, or the write was dropped.
    dropped   : Signal(), **out**, valid with `sent`: the write was dropped.
    read_sent : Record of `sent_layout`, **out**, in the previous cycle the PHY accepted the last beat of a read, or the
        read was dropped.
    """
    def __init__(self, data_width, endianness):
        check_data_width(data_width)
        self.sink      = sink   = stream.Endpoint(request_layout(data_width))
        self.source    = source = stream.Endpoint(phy_layout(data_width))
        self.requester = Signal(16)
        self.enable    = Signal()
        self.closed    = Signal()
        self.link_up   = Signal()
        self.allowed   = Signal(ATTRIBUTE_BITS)
        self.stopped   = Signal()
        self.sent      = Signal(2**PORT_BITS)
        self.dropped   = Signal()
        self.read_sent = Record(sent_layout())

        # # #

        beat_dwords = data_width//32

        # Accept: one register stage for the beats of the arbiter, and one for their `ready` -------
        # Between the two stages `four` is calculated, so that it is registered before the header is built.
        layout = request_layout(data_width)
        self.accept = accept = stream.PipeValid(layout)
        self.hold   = hold   = stream.PipeReady(stream.EndpointDescription(
            payload_layout = layout.payload_layout,
            param_layout   = layout.param_layout + [("four", 1)],
        ))
        self.comb += [
            sink.connect(accept.sink),
            accept.source.connect(hold.sink),
            hold.sink.four.eq(accept.source.address[32:] != 0),
        ]
        taken = hold.source

        # Header -----------------------------------------------------------------------------------
        self.fields = fields = HeaderFields()
        four = taken.four
        self.comb += [
            fields.address.eq(taken.address[:2]),
            fields.length.eq(taken.length),
        ]
        tlp = stream.Endpoint(stream.EndpointDescription(
            payload_layout = [("dat", data_width)],
            param_layout   = [
                ("dw0", 32), ("dw1", 32), ("dw2", 32), ("dw3", 32),
                ("four", 1), ("read", 1), ("generation", 1), ("port", PORT_BITS), ("end", log2_int(beat_dwords)),
            ],
        ))
        dwords = Signal(11)
        self.comb += [
            taken.ready.eq(~tlp.valid | tlp.ready),
            dwords.eq(Mux(taken.read, 0, fields.dwords)),
        ]
        self.sync += If(taken.ready,
            tlp.valid.eq(taken.valid),
            tlp.first.eq(taken.first),
            tlp.last.eq(taken.last),
            tlp.dat.eq(taken.dat),
            If(taken.valid & taken.first,
                tlp.dw0.eq(Cat(fields.dwords[:10], Constant(0, 2), taken.attributes & self.allowed, Constant(0, 10),
                    self.fmt_type(taken.read, four))),
                tlp.dw1.eq(Cat(fields.first_be, fields.last_be, taken.tag, self.requester)),
                If(four,
                    tlp.dw2.eq(taken.address[32:]),
                    tlp.dw3.eq(Cat(Constant(0, 2), taken.address[2:32])),
                ).Else(
                    tlp.dw2.eq(Cat(Constant(0, 2), taken.address[2:32])),
                ),
                tlp.four.eq(four),
                tlp.read.eq(taken.read),
                tlp.generation.eq(taken.generation),
                tlp.port.eq(taken.port),
                tlp.end.eq(dwords + 2 + four),
            ),
        )

        # Output: header beats, then payload -------------------------------------------------------
        index   = Signal(2)  # Number of the output beat within the TLP's header and first payload beat.
        consume = Signal()   # The beat of `tlp` is accepted with this output beat.
        drop    = Signal()
        advance = Signal()
        def beat_of(three, four):
            return Mux(tlp.four, four//beat_dwords, three//beat_dwords)
        self.comb += [
            consume.eq(~tlp.first | (index == Mux(tlp.read, beat_of(2, 3), beat_of(3, 4)))),
            advance.eq(source.ready | drop),
            tlp.ready.eq(advance & consume),
            source.valid.eq(tlp.valid & ~drop),
            source.first.eq(tlp.first & (index == 0)),
            source.last.eq(tlp.last & consume),
            source.dat.eq(memory_order(tlp.dat, endianness)),
            If(tlp.first, *self.overlay(source.dat, index, tlp, beat_dwords)),
            *[source.be[4*n:4*n + 4].eq(Mux(source.last & (n > tlp.end), 0x0, 0xf))
                for n in range(beat_dwords)],
        ]
        self.sync += [
            If(tlp.valid & advance,
                If(consume, index.eq(0)).Else(index.eq(index + 1))
            ),
            self.dropped.eq(drop),
            self.sent.eq(0),
            If(tlp.valid & advance & source.last & ~tlp.read,
                self.sent.eq(1 << tlp.port),
            ),
            self.read_sent.valid.eq(tlp.valid & advance & source.last & tlp.read),
            self.read_sent.dropped.eq(drop),
            self.read_sent.tag.eq(tlp.dw1[8:16]),
            self.read_sent.generation.eq(tlp.generation),
        ]

        # Drop -------------------------------------------------------------------------------------
        # The decision is made when the first beat of a TLP is offered. After that, only a loss of the link truncates
        # the TLP, because the PHY may never accept the rest.
        offered  = Signal()
        dropping = Signal()
        inside   = Signal()  # A TLP has been offered, and has not ended.
        self.comb += drop.eq(~self.link_up |
            Mux(source.first & ~offered, ~self.enable | (tlp.read & self.closed), dropping))
        self.sync += [
            offered.eq(tlp.valid & ~advance),
            If(tlp.valid | ~self.link_up, dropping.eq(drop)),
            If(source.valid, inside.eq(~(source.ready & source.last))),
            If(~self.link_up, inside.eq(0)),
        ]
        self.comb += self.stopped.eq(~self.enable & ~source.valid & ~inside)

    @staticmethod
    def fmt_type(read, four):
        return Mux(read,
            Mux(four, Constant(FMT_TYPE_MRD_64, 8), Constant(FMT_TYPE_MRD_32, 8)),
            Mux(four, Constant(FMT_TYPE_MWR_64, 8), Constant(FMT_TYPE_MWR_32, 8)))

    @staticmethod
    def overlay(dat, index, tlp, beat_dwords):
        """Statements that put the header dwords of beat `index` into its lanes."""
        for n, dword in enumerate([tlp.dw0, tlp.dw1, tlp.dw2, tlp.dw3]):
            beat, lane = divmod(n, beat_dwords)
            present    = (index == beat) & (tlp.four if n == 3 else 1)
            yield If(present, dat[32*lane:32*lane + 32].eq(dword))
