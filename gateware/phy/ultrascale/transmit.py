#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Converts TLP headers to the descriptors of UltraScale's hard blocks, for TLPs of the card.

The modules are written in `sys`; the PHY moves them to `pcie`, the clock of the hard block, with ClockDomainsRenamer.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import TAGS_WITH_EXTENDED, has_data, phy_layout
from litepcie_soc.phy.headers import FourDwordHeaders
from litepcie_soc.phy.store_and_forward import StoreAndForward
from litepcie_soc.phy.ultrascale.axi import axi_layout, check_adapter, dwords

# Helpers ------------------------------------------------------------------------------------------

def replace_header(beat, source, descriptor):
    """Statements that send `beat` of a TLP to `source`, with the dwords of `descriptor` for its header."""
    length = 32*len(descriptor)
    return [
        beat.connect(source, keep={"valid", "ready", "first", "last"}),
        source.dat.eq(beat.dat),
        If(beat.first, source.dat[:length].eq(Cat(*descriptor))),
        source.keep.eq(beat.be[::4]),
    ]


def last_dword(beat, bits):
    """Index of the last enabled dword of `beat`, a Signal of `bits` bits, and the statements that drive it."""
    last = Signal(bits)
    return last, [If(enable, last.eq(n)) for n, enable in enumerate(beat.be[::4])]

# Waiting Reads ------------------------------------------------------------------------------------

HEADER_BITS = 128

# Tags that UltraScale's block can have outstanding (PG156, "Tag Management for Non-Posted Transactions").
TAGS_OF_ULTRASCALE = 64

# Cycles in which the block's credits may not show a read that passed its interface. The guides say two.
UNSEEN_CYCLES = 3


class WaitingReads(LiteXModule):
    """Lets writes pass the reads that wait for credits; one beat per cycle, latency 0.

    The block's interface is in order: a read that waits there for a credit blocks the writes behind it (PG156, PG213,
    "Avoiding Head-of-Line Blocking for Posted Requests"). So a read goes there only with a credit. Otherwise it goes
    to a queue, which has room for every read that can be outstanding. No read passes a write that came before it, and
    reads stay in order.

    The block shows its credits late, so the reads that passed its interface in the last cycles are subtracted.
    UltraScale shows three at most, which alone would allow three reads in seven cycles. Hence `plenty`.

    Parameters
    ----------
    data_width : int, bits, 128 or more.
    reads      : int, the most reads that can be outstanding, a power of two.

    Attributes
    ----------
    sink    : stream of `phy_layout`, **in**; MRd and MWr with four header dwords, without gaps inside a TLP.
    source  : stream of `phy_layout`, **out**; the same.
    credits : Signal(4), **in**, non-posted requests that the host can take, or more than that.
    plenty  : Signal(), **in**, the host could take 16 or more, some cycles ago.
    passed  : Signal(), **in**, a read passed the block's interface in the cycle before.
    """
    def __init__(self, data_width, reads):
        self.sink    = sink   = stream.Endpoint(phy_layout(data_width))
        self.source  = source = stream.Endpoint(phy_layout(data_width))
        self.credits = Signal(4)
        self.plenty  = Signal()
        self.passed  = Signal()
        self.queue   = queue  = stream.SyncFIFO([("dat", HEADER_BITS)], reads, buffered=True)

        # # #

        unseen = Signal(UNSEEN_CYCLES)  # Reads that passed the interface in the last cycles, a bit for each cycle.
        before = Signal(3)      # Reads on their way to the interface.
        used   = Signal(4)      # Reads that `credits` may not show.
        credit = Signal()       # There is a credit for a read.
        read   = Signal()       # The beat on `sink` is a read; reads have one beat.
        sends  = Signal()       # The queue may send.
        leaves = Signal()       # A read is on `source`.
        header = queue.source.dat
        self.comb += [
            used.eq(before + leaves + sum(unseen[n] for n in range(UNSEEN_CYCLES))),
            read.eq(sink.first & ~has_data(sink.dat)),
            sends.eq(queue.source.valid & credit & (sink.first | ~sink.valid)),
            queue.sink.dat.eq(sink.dat[:HEADER_BITS]),
            queue.sink.valid.eq(sink.valid & read & (queue.source.valid | (queue.level != 0) | ~credit)),
            sink.connect(source, omit={"valid", "ready"}),
            If(sends,
                source.valid.eq(1),
                source.first.eq(1),
                source.last.eq(1),
                source.dat[:HEADER_BITS].eq(header),
                source.be.eq(0xffff),
                queue.source.ready.eq(source.ready),
                sink.ready.eq(queue.sink.valid & queue.sink.ready),
            ).Elif(queue.sink.valid,
                sink.ready.eq(queue.sink.ready),
            ).Else(
                source.valid.eq(sink.valid),
                sink.ready.eq(source.ready),
            ),
            leaves.eq(source.valid & source.first & ~has_data(source.dat)),
        ]
        self.sync += [
            credit.eq(self.plenty | (self.credits > used)),
            unseen.eq(Cat(self.passed, unseen)),
            before.eq(before + (leaves & source.ready) - self.passed),
        ]

class ReadsPassed(LiteXModule):
    """Finds the reads among the packets on RQ.

    Parameters
    ----------
    beat : stream of `axi_layout("rq")`, at the block.

    Attributes
    ----------
    passed : Signal(), **out**, the descriptor of a read went to the block in the cycle before.
    """
    def __init__(self, beat):
        self.passed = Signal()

        # # #

        take   = beat.valid & beat.ready
        start  = Signal(reset=1)    # The next beat is the first of a packet.
        second = Signal()           # It is the second one.
        # A read has only a descriptor, of 128 bits. Bit 75 says that the packet is a write.
        read   = second & beat.last if len(beat.dat) < HEADER_BITS else start & ~beat.dat[75]
        self.sync += [
            self.passed.eq(take & read),
            If(take, start.eq(beat.last), second.eq(start)),
        ]

# Requester Request --------------------------------------------------------------------------------

class RequesterRequest(LiteXModule):
    """Converts memory requests of the card; stores each TLP completely, then sends one beat per cycle.

    The descriptor has four dwords (PG213, "Requester Request Descriptor Formats", memory requests). In an endpoint the
    block fills in requester and completer ID (bit 120, Requester ID Enable, is 0). A header of three dwords first
    becomes one of four, which takes an extra beat if the last beat was full.

    Each write carries sequence number 2**(bits - 1), each read 0. The block returns the number on `pcie_rq_seq_num`
    when no completion can overtake the request any more ("Maintaining Transaction Order", PG156, PG213).

    Parameters
    ----------
    data_width : int, bits.
    plus       : bool, UltraScale+.

    Attributes
    ----------
    sink    : stream of `phy_layout`, **in**, `pcie`: MRd, MWr with three or four header dwords.
    cut     : Signal(), **in**, `pcie`, the last beat on `sink` ends a truncated TLP, which is dropped.
    source  : stream of `axi_layout("rq")`, **out**, `pcie`.
    credits : Signal(4), **in**, `pcie`, see `WaitingReads`.
    plenty  : Signal(), **in**, `pcie`, see `WaitingReads`.
    passed  : Signal(), **in**, `pcie`, see `WaitingReads`.
    """
    def __init__(self, data_width, plus):
        check_adapter(data_width)
        self.buffer  = buffer  = StoreAndForward(data_width)
        self.waiting = waiting = WaitingReads(data_width, TAGS_WITH_EXTENDED if plus else TAGS_OF_ULTRASCALE)
        self.headers = headers = FourDwordHeaders(data_width)
        self.pipe    = pipe    = stream.PipeValid(axi_layout("rq", data_width, plus))
        self.sink    = buffer.sink
        self.cut     = buffer.cut
        self.source  = pipe.source
        self.credits = waiting.credits
        self.plenty  = waiting.plenty
        self.passed  = waiting.passed

        # # #

        beat               = waiting.source
        dw0, dw1, dw2, dw3 = dwords(beat.dat)
        write              = has_data(dw0)
        poisoned           = dw0[14]
        self.comb += [
            buffer.source.connect(headers.sink),
            headers.source.connect(waiting.sink),
            *replace_header(beat, pipe.sink, [
                dw3,    # Lower address; its bits 1:0 are 0, as Address Type must be.
                dw2,
                Cat(dw0[:10], dw0[:10] == 0, write, Constant(0, 3), poisoned, dw1[16:]),    # Memory write: 0001.
                Cat(dw1[8:16], Constant(0, 17), dw0[20:23], dw0[12:14], dw0[18], Constant(0, 1)),
            ]),
            If(beat.first, *self.sideband(pipe.sink.user, beat, dw1, write, plus)),
        ]
        if data_width == 512:
            final, statements = last_dword(beat, 4)
            self.comb += [*statements, pipe.sink.user[26].eq(beat.last), pipe.sink.user[28:32].eq(final)]

    @staticmethod
    def sideband(user, beat, dw1, write, plus):
        """Statements for `tuser` of the first beat: byte enables and sequence number (UltraScale: 4 bits, +: 6)."""
        first_be, last_be = dw1[0:4], dw1[4:8]
        if len(beat.dat) == 512:    # first_be[0], last_be[0], is_sop[0] (at dword 0), seq_num0.
            return [user[0:4].eq(first_be), user[8:12].eq(last_be), user[20].eq(1), user[66].eq(write)]
        return [user[0:4].eq(first_be), user[4:8].eq(last_be), user[61 if plus else 27].eq(write)]

# Completer Completion -----------------------------------------------------------------------------

class CompleterCompletion(LiteXModule):
    """Converts completions of the card; stores each TLP completely, then sends one beat per cycle.

    The descriptor has three dwords (PG213, "Completer Completion Descriptor Format"). In an endpoint the block fills
    in the completer's bus and device number (bit 88, Completer ID Enable, is 0); bits 79:72 are its function number.

    Parameters
    ----------
    data_width : int, bits.
    plus       : bool, UltraScale+.

    Attributes
    ----------
    sink   : stream of `phy_layout`, **in**, `pcie`: Cpl, CplD, CplLk, CplDLk.
    cut    : Signal(), **in**, `pcie`, the last beat on `sink` ends a truncated TLP, which is dropped.
    source : stream of `axi_layout("cc")`, **out**, `pcie`.
    """
    def __init__(self, data_width, plus):
        check_adapter(data_width)
        self.buffer = buffer = StoreAndForward(data_width)
        self.pipe   = pipe   = stream.PipeValid(axi_layout("cc", data_width, plus))
        self.sink   = buffer.sink
        self.cut    = buffer.cut
        self.source = pipe.source

        # # #

        beat          = buffer.source
        dw0, dw1, dw2 = dwords(beat.dat, 3)
        count         = Signal(11)
        locked        = dw0[24]
        poisoned      = dw0[14]
        self.comb += [
            If(has_data(dw0), count.eq(Cat(dw0[:10], dw0[:10] == 0))),
            *replace_header(beat, pipe.sink, [
                # A byte count of 0 in the header means 4096; the descriptor has a bit more for it.
                Cat(dw2[0:7], Constant(0, 9), dw1[0:12], dw1[0:12] == 0, locked, Constant(0, 2)),
                Cat(count, dw1[13:16], poisoned, Constant(0, 1), dw2[16:]),
                Cat(dw2[8:16], dw1[16:32], Constant(0, 1), dw0[20:23], dw0[12:14], dw0[18], Constant(0, 1)),
            ]),
        ]
        if data_width == 512:       # is_sop[0] (at dword 0), is_eop[0] and its dword.
            final, statements = last_dword(beat, 4)
            user = pipe.sink.user
            self.comb += [*statements, user[0].eq(beat.first), user[6].eq(beat.last), user[8:12].eq(final)]
