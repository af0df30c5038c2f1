#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Converts between TLP headers and the descriptors of UltraScale's hard blocks."""

from litex.soc.interconnect import stream

from migen import *

from litex.gen import *

from litepcie_soc.common.pcie import TAGS_WITH_EXTENDED, TYPE_COMPLETION, TYPE_MESSAGE_4_3, has_data, phy_layout
from litepcie_soc.phy.framing import FourDwordHeaders, StoreAndForward

# Streams ------------------------------------------------------------------------------------------
# Layouts of the AXI streams of UltraScale's hard blocks.
#
# A block has four interfaces. Requester request (RQ) and completer completion (CC) carry TLPs to the host; completer
# request (CQ) and requester completion (RC) carry TLPs of the host. A TLP is a descriptor, followed by its payload
# without padding ("Dword-aligned mode"); payload bytes are in memory order. Sources: PG156 4.4 (UltraScale) and PG213
# 1.3 (UltraScale+), "AXI4-Stream Interface Description". The tables "Sideband Signals" of each interface list the bits
# of `tuser`; 512 bits has separate tables.
#
# On RC at 256 and 512 bits several completions may share a beat (`straddle.py`). Everywhere else each TLP begins in a
# new beat, and the rest of a TLP's last beat is unused. Behind the aligner this holds for completions too. The table
# shows the resulting limit at 512 bits and 250 MHz, compared with the limit of a Gen3 x16 link:
#
#     TLP                       beats   limit of the interface   limit of the link
#     write of 256 bytes        5       12.8 GB/s                14.4 GB/s
#     write of 512 bytes        9       14.2 GB/s                15.0 GB/s
#     completion of 256 bytes   5       12.8 GB/s                14.6 GB/s
#     completion of 128 bytes   3       10.7 GB/s                13.6 GB/s
#     completion of 64 bytes    2        8.0 GB/s                12.0 GB/s
#
# The fraction of each beat that is used at other widths follows from the same calculation.

BLOCK_WIDTHS   = (64, 128, 256, 512)  # Bits of the hard blocks.
ADAPTER_WIDTHS = (128, 256, 512)      # Bits of the adapters, which need a whole descriptor in one beat.

# Bits of `tuser`: UltraScale, UltraScale+ below 512 bits, UltraScale+ at 512 bits.
USER_BITS = {
    "rq": (60, 62, 137),
    "rc": (75, 75, 161),
    "cq": (85, 88, 183),
    "cc": (33, 33,  81),
}


def axi_layout(interface, data_width, plus):
    """Beats of an interface: `dat`, `keep` (one bit per dword), `user` (`tuser`).

    Raises ValueError for a width that the blocks do not have.

    Parameters
    ----------
    interface  : "rq", "rc", "cq" or "cc".
    data_width : int, bits.
    plus       : bool, UltraScale+.
    """
    if data_width not in BLOCK_WIDTHS:
        raise ValueError(f"data_width {data_width!r} is not supported; choose 64, 128, 256 or 512")
    return stream.EndpointDescription([
        ("dat",  data_width),
        ("keep", data_width//32),
        ("user", USER_BITS[interface][2 if data_width == 512 else int(plus)]),
    ])


def check_adapter(data_width):
    """Raises ValueError unless a descriptor fits in one beat of `data_width` bits."""
    if data_width not in ADAPTER_WIDTHS:
        raise ValueError(f"data_width {data_width!r} is not supported here; choose 128, 256 or 512")


def dwords(dat, count=4):
    """List of the first `count` dwords of a beat."""
    return [dat[32*n:32*n + 32] for n in range(count)]

# TLPs of the Host ---------------------------------------------------------------------------------
# Converts the descriptors of UltraScale's hard blocks to TLP headers, for TLPs of the host.
#
# The modules are written in `sys`; the PHY moves them to `pcie`, the clock of the hard block, with ClockDomainsRenamer.


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

# TLPs of the Card ---------------------------------------------------------------------------------
# Converts TLP headers to the descriptors of UltraScale's hard blocks, for TLPs of the card.
#
# The modules are written in `sys`; the PHY moves them to `pcie`, the clock of the hard block, with ClockDomainsRenamer.


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
