#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Converts the descriptors of UltraScale's hard blocks to TLP headers, for TLPs of the host.

The modules are written in `sys`; the PHY moves them to `pcie`, the clock of the hard block, with ClockDomainsRenamer.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import TYPE_COMPLETION, TYPE_MESSAGE_4_3, phy_layout
from litepcie_soc.phy.ultrascale.axi import axi_layout, check_adapter, dwords

# Helpers ------------------------------------------------------------------------------------------

def replace_descriptor(beat, source, header):
    """Statements that send `beat` of the hard block to `source`, with the dwords of `header` for its descriptor."""
    return [
        beat.connect(source, keep={"valid", "ready", "last"}),
        source.dat.eq(beat.dat),
        If(source.first, source.dat[:32*len(header)].eq(Cat(*header))),
        source.be.eq(Cat(*[Replicate(keep, 4) for keep in beat.keep])),
    ]

# Completer Request --------------------------------------------------------------------------------

# Request type of the descriptor: (type of the header, has data); PG213, "Transaction Types".
REQUEST_TYPES = {
    0b0000: (0b00000, 0), 0b0001: (0b00000, 1),                        # Memory.
    0b0010: (0b00010, 0), 0b0011: (0b00010, 1),                        # I/O.
    0b0100: (0b01100, 1), 0b0101: (0b01101, 1), 0b0110: (0b01110, 1),  # FetchAdd, Swap, CAS.
    0b0111: (0b00001, 0),                                              # Locked read.
    0b1000: (0b00100, 0), 0b1010: (0b00100, 1),                        # Configuration, type 0,
    0b1001: (0b00101, 0), 0b1011: (0b00101, 1),                        # type 1.
}
MEMORY_WRITE = 0b0001


class CompleterRequest(LiteXModule):
    """Converts requests of the host; one beat per cycle, latency 1.

    The descriptor of four dwords (PG213, "Completer Request Descriptor Formats") becomes a header of four dwords for
    every address and type, so the payload need not be shifted. Of a message only the type is kept, because the
    completer ignores messages.

    Poisoned requests do not arrive, and the descriptor has no bit for them. UltraScale+ delivers poisoned writes only
    if the attribute AXISTEN_IF_CQ_EN_POISONED_MEM_WR is set; PG156 does not describe what UltraScale does with them.

    `discontinue` is ignored. It signals a parity error of the block's own RAM in the last beat, when the rest of the
    TLP has already left this module (PG213); the block itself reports the error to the host.

    Parameters
    ----------
    data_width : int, bits.
    plus       : bool, UltraScale+.

    Attributes
    ----------
    sink   : stream of `axi_layout("cq")`, **in**, `pcie`; `first` is ignored.
    source : stream of `phy_layout`, **out**, `pcie`.
    posted : Signal(), **out**, `pcie`, a memory write begins on `sink`.
    """
    def __init__(self, data_width, plus):
        check_adapter(data_width)
        self.posted = Signal()
        self.pipe   = pipe   = stream.PipeValid(axi_layout("cq", data_width, plus))
        self.sink   = pipe.sink
        self.source = source = stream.Endpoint(phy_layout(data_width))

        # # #

        beat               = pipe.source
        ds0, ds1, ds2, ds3 = dwords(beat.dat)
        type  = Signal(5)
        data  = Signal()
        count = ds2[:11]
        first_be, last_be = beat.user[0:4], beat.user[8:12] if data_width == 512 else beat.user[4:8]
        inside   = Signal()
        begun    = Signal()     # The first beat of a request came on `sink`, its last beat did not yet.
        accepted = self.sink.valid & self.sink.ready
        self.sync += If(accepted, begun.eq(~self.sink.last))
        self.comb += [
            self.posted.eq(accepted & ~begun & (dwords(self.sink.dat)[2][11:15] == MEMORY_WRITE)),
            Case(ds2[11:15], {
                **{request: [type.eq(kind), data.eq(has)] for request, (kind, has) in REQUEST_TYPES.items()},
                "default": [type.eq(TYPE_MESSAGE_4_3 << 3), data.eq(count != 0)],
            }),
            source.first.eq(~inside),
            *replace_descriptor(beat, source, [
                Cat(ds2[:10], Constant(0, 2), ds3[28:30], Constant(0, 4), ds3[30], Constant(0, 1), ds3[25:28],
                    Constant(0, 1), type, Constant(1, 1), data, Constant(0, 1)),
                Cat(first_be, last_be, ds3[0:8], ds2[16:32]),
                ds1,
                Cat(Constant(0, 2), ds0[2:]),   # Without the Address Type.
            ]),
        ]
        self.sync += If(source.valid & source.ready, inside.eq(~source.last))

# Bits of the lower address that can be compared: those on which public designs rely, or all.
LOWER_ADDRESS_BITS = (2, 7)

# Requester Completion -----------------------------------------------------------------------------

class RequesterCompletion(LiteXModule):
    """Converts completions of the host; one beat per cycle, latency 1.

    The descriptor of three dwords (PG213, "Requester Completion Descriptor Format") becomes the header that the
    completion had on the link. `CompletionCheck` can then find errors as with every other PHY.

    The guide calls the lower address "first byte referenced by the request". On the link, each completion of a split
    read has its own seven-bit lower address. Public designs in use (`dma_if_pcie_us_rd.v` of verilog-pcie) rely on bits
    1:0 of the completion alone, so they do not show whose bits 6:2 are. The PHY's `lower_address_bits` says how many
    are compared.

    Completions with error codes 1000 and 1001 are dropped. The block generates them itself when a function is reset or
    a request times out; only their tag is valid. The requester has its own timeout. `discontinue` is ignored for the
    reason given in `CompleterRequest`.

    Parameters
    ----------
    data_width : int, bits.
    plus       : bool, UltraScale+.

    Attributes
    ----------
    sink   : stream of `axi_layout("rc")`, **in**, `pcie`; `first` is ignored.
    source : stream of `phy_layout`, **out**, `pcie`.
    """
    def __init__(self, data_width, plus):
        check_adapter(data_width)
        self.pipe   = pipe   = stream.PipeValid(axi_layout("rc", data_width, plus))
        self.sink   = pipe.sink
        self.source = source = stream.Endpoint(phy_layout(data_width))

        # # #

        beat          = pipe.source
        ds0, ds1, ds2 = dwords(beat.dat, 3)
        data      = Signal()
        inside    = Signal()
        dropping  = Signal()    # `drop` for the beats after the first.
        drop      = Signal()    # The block generated this completion; the host did not send it.
        self.comb += [
            data.eq(ds1[:11] != 0),
            drop.eq(Mux(inside, dropping, ds0[15])),
            source.first.eq(~inside),
            *replace_descriptor(beat, source, [
                Cat(ds1[:10], Constant(0, 2), ds2[28:30], ds1[14], Constant(0, 3), ds2[30], Constant(0, 1), ds2[25:28],
                    Constant(0, 1), ds0[29], Constant(TYPE_COMPLETION >> 1, 4), Constant(0, 1), data, Constant(0, 1)),
                Cat(ds0[16:28], Constant(0, 1), ds1[11:14], ds2[8:24]),
                Cat(ds0[0:7], Constant(0, 1), ds2[0:8], ds1[16:32]),
            ]),
            If(drop, source.valid.eq(0), beat.ready.eq(1)),
        ]
        self.sync += If(beat.valid & beat.ready, inside.eq(~beat.last), dropping.eq(drop))
