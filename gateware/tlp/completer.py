#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Completes the host's requests to BAR0."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream, wishbone

from litepcie_soc.common.abi import USER_OFFSET, WINDOW_OFFSET
from litepcie_soc.common.pcie import (
    TYPE_MEMORY, TYPE_MESSAGE_4_3, has_4_dwords, has_data, is_completion, is_non_posted, phy_layout,
)
from litepcie_soc.tlp.completer_reads import ReadCompleter, request_header
from litepcie_soc.tlp.completer_user import UserAccess
from litepcie_soc.tlp.completer_window import PAGE_BYTES, WindowWriter, next_dword
from litepcie_soc.tlp.parser import tlp_layout

# One Register -------------------------------------------------------------------------------------
# Access to one register of BAR0.


class DwordAccess(LiteXModule):
    """Reads or writes a register.

    Register banks support whole dwords only. A write that does not enable all bytes therefore reads the register
    first, and writes the disabled bytes back unchanged. Any other write is on the bus as long as `start` is set, so
    that a descriptor which the host writes into registers loses no cycle between its dwords.

    Attributes
    ----------
    start       : Signal(), **in**, requests an access. It and the inputs below must be stable until `done`.
    we          : Signal(), **in**, write.
    dword       : Signal(30), **in**, address in dwords from the start of BAR0.
    be          : Signal(4), **in**, byte enables; a register is not accessed if none is set.
    dat_w       : Signal(32), **in**, data to write.
    dat_r       : Signal(32), **out**, data read, valid with `done`; all ones after a bus error.
    done        : Signal(), **out**, the access is complete; asserted for one cycle.
    csr_bus     : wishbone.Interface, master, 32-bit data, word addresses.
    """
    def __init__(self):
        self.start   = Signal()
        self.we      = Signal()
        self.dword   = Signal(30)
        self.be      = Signal(4)
        self.dat_w   = Signal(32)
        self.dat_r   = Signal(32)
        self.done    = Signal()
        self.csr_bus = bus = wishbone.Interface(data_width=32, adr_width=30, addressing="word")

        # # #

        self.comb += bus.adr.eq(self.dword)
        for byte in range(4):
            bits = slice(8*byte, 8*byte + 8)
            self.comb += bus.dat_w[bits].eq(Mux(self.be[byte], self.dat_w[bits], self.dat_r[bits]))

        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            If(self.start,
                NextValue(self.dat_r, 0),
                If(self.be == 0,
                    NextState("DONE")
                ).Elif(self.we & (self.be == 0b1111),
                    bus.cyc.eq(1),
                    bus.stb.eq(1),
                    bus.we.eq(1),
                    bus.sel.eq(0b1111),
                    self.done.eq(bus.ack | bus.err)
                ).Else(
                    NextState("READ")
                )
            )
        )
        fsm.act("READ",
            bus.cyc.eq(1),
            bus.stb.eq(1),
            bus.sel.eq(0b1111),
            If(bus.ack | bus.err,
                NextValue(self.dat_r, Mux(bus.err, 0xffffffff, bus.dat_r)),
                If(self.we, NextState("WRITE")).Else(NextState("DONE"))
            )
        )
        fsm.act("WRITE",
            bus.cyc.eq(1),
            bus.stb.eq(1),
            bus.we.eq(1),
            bus.sel.eq(self.be),
            If(bus.ack | bus.err, NextState("DONE"))
        )
        fsm.act("DONE",
            self.done.eq(1),
            NextState("IDLE")
        )

# Completer ----------------------------------------------------------------------------------------


class Turns(LiteXModule):
    """Shares a unit that makes one access at a time; a write that begins in the same cycle as a read goes first.

    Attributes
    ----------
    write  : Signal(), **in**, requests an access that writes; asserted until its end.
    read   : Signal(), **in**, requests an access that reads; asserted until its end.
    done   : Signal(), **in**, the access ends.
    writes : Signal(), **out**, the access is that of the write.
    """
    def __init__(self):
        self.write  = Signal()
        self.read   = Signal()
        self.done   = Signal()
        self.writes = Signal()

        # # #

        begun = Signal()    # An access has begun in an earlier cycle.
        held  = Signal()    # It writes.
        self.comb += self.writes.eq(Mux(begun, held, self.write))
        self.sync += [
            begun.eq((self.write | self.read) & ~self.done),
            held.eq(self.writes),
        ]


class Completer(LiteXModule):
    """Serves memory requests to the registers (lower half of BAR0) and to the window (upper half).

    With `user_bus`, the registers from USER_OFFSET on are on the bus of the user's SoC, and `UserAccess` says when an
    access fails. A completion that ends before a dword that failed is sent. The next one, which would hold it, is
    Completer Abort, and ends the request (PCIe 4.0 2.3.1). A write that failed is dropped; both are counted.

    Writes to the window transfer one beat per cycle. A write to a register waits until the writes before it are in the
    memory, and is processed dword by dword, one in some cycles.

    Non-posted requests enter a queue once the writes before them are done, and `ReadCompleter` serves them from there.
    Later writes pass them, so that the acceptance of a posted request never waits for the transmission of a completion
    (PCIe 4.0 2.4.1). For this a PHY hands over at most NON_POSTED requests that were not `taken`.

    The window repeats nothing: beyond `window_bytes`, reads return 0 and writes are dropped.

    The completer completes every non-posted request but memory reads with Unsupported Request (PCIe 4.0 2.3.1), and
    drops poisoned writes; all of these count as refused. It also drops messages, misrouted completions and TLPs with a
    prefix, without counting them.

    Parameters
    ----------
    data_width   : int, bits.
    endianness   : "big" or "little", byte order of the PHY's payload dwords.
    bar0_size    : int, bytes.
    window_bytes : int, bytes of the window, at least 4096.
    user_bus     : UserBus, range of the user's bus that the host reaches. None: all registers are on `csr_bus`.

    Attributes
    ----------
    sink         : stream of `tlp_layout`, **in**, requests.
    source       : stream of `phy_layout`, **out**, completions.
    completer    : Signal(16), **in**, bus, device and function number of the card.
    link_up      : Signal(), **in**, the link is up. A request that came before the link was lost gets no further
        completions.
    refused      : Signal(), **out**, a request was refused; one cycle per request, the cycle after it was accepted.
    unsupported  : Signal(), **out**, the same, but not for a poisoned write.
    aborted      : Signal(), **out**, a completion with Completer Abort leaves.
    header       : Signal(96), **out**, with `aborted`: the first three dwords of the request's header.
    taken        : Signal(), **out**, one cycle: the last completion of a non-posted request was built.
    executed     : Signal(), **out**, a memory write that is not poisoned has reached its registers or the memory, or
        has failed; one cycle per write.
    csr_bus      : wishbone.Interface, master, 32-bit data, word addresses.
    user         : UserAccess, with the master of the user's bus. None without `user_bus`.
    window_read  : MemoryReadStream, **out**, reads of the window.
    window_write : MemoryWriteStream, **out**, writes to the window.
    """
    def __init__(self, data_width, endianness, *, bar0_size, window_bytes, user_bus=None):
        if window_bytes < PAGE_BYTES:
            raise ValueError(f"window_bytes {window_bytes!r} is not supported; give {PAGE_BYTES} or more")
        self.sink      = stream.Endpoint(tlp_layout(data_width))
        self.source    = stream.Endpoint(phy_layout(data_width))
        self.completer = Signal(16)
        self.link_up   = Signal(reset=1)
        self.refused   = Signal()
        self.unsupported = Signal()
        self.access    = DwordAccess()
        self.writer    = WindowWriter(data_width, window_bytes, bar0_size//2)
        self.reads     = reads = ReadCompleter(data_width, endianness, bar0_size=bar0_size, window_bytes=window_bytes,
            user_bus=user_bus is not None)
        self.user         = UserAccess(user_bus) if user_bus else None
        self.aborted      = reads.aborted
        self.header       = Signal(96)
        self.taken        = Signal()
        self.executed     = Signal()
        self.csr_bus      = self.access.csr_bus
        self.window_read  = reads.window_read
        self.window_write = self.writer.source

        # # #

        self.bar0_size = bar0_size
        self.fsm       = FSM(reset_state="IDLE")
        self.add_route()
        self.add_writes(data_width//32)
        self.add_accesses()
        self.comb += [
            reads.source.connect(self.source),
            reads.completer.eq(self.completer),
            reads.link_up.eq(self.link_up),
            self.header.eq(request_header(reads.request)),
            self.taken.eq(reads.request.valid & reads.request.ready),
            # No write is in both places at a time: that to a register waits until the window's are in the memory.
            If(self.writer.ended, self.executed.eq(1)),
        ]

    def add_route(self):
        """Sends each beat on `sink` to the window, to the queue of `reads` or to the state machine of `add_writes`."""
        sink, writer, queue = self.sink, self.writer, self.reads.sink
        dw0, address        = sink.dw0, Signal(32)
        write      = Signal()
        poisoned   = dw0[14]
        message    = dw0[27:29] == TYPE_MESSAGE_4_3
        non_posted = Signal()
        ignored    = is_completion(dw0) | dw0[31]
        drop       = Signal()
        to_window  = Signal()    # A write that the window writer takes.
        to_queue   = Signal()    # The header of a non-posted request, which waits for the writes before it.
        self.address   = address
        self.to_access = Signal()    # A write to registers, which waits for the writes before it.
        self.consume   = Signal()    # The state machine accepts the beat on `sink`.
        self.comb += [
            address.eq(Mux(has_4_dwords(dw0), sink.dw3, sink.dw2)),
            write.eq((dw0[24:29] == TYPE_MEMORY) & has_data(dw0)),
            non_posted.eq(is_non_posted(dw0)),
            drop.eq(message | ignored | (write & poisoned) | (sink.cut & self.fsm.ongoing("IDLE"))
                | (non_posted & ~sink.first)),
            to_window.eq(write & address[log2_int(self.bar0_size) - 1] & ~drop),
            to_queue.eq(non_posted & sink.first & ~writer.busy),
            self.to_access.eq(write & ~to_window & ~drop & ~writer.busy),
            sink.connect(writer.sink, omit={"valid", "ready"}),
            writer.sink.valid.eq(sink.valid & to_window),
            queue.valid.eq(sink.valid & to_queue),
            queue.dw0.eq(dw0),
            queue.dw1.eq(sink.dw1),
            queue.address.eq(address),
            sink.ready.eq(drop | (to_window & writer.sink.ready) | (to_queue & queue.ready) | self.consume),
        ]
        counts  = sink.valid & sink.first & sink.ready
        refused = non_posted & ((dw0[24:29] != TYPE_MEMORY) | poisoned)
        self.sync += [
            self.refused.eq(counts & ((write & poisoned & ~ignored) | refused)),
            self.unsupported.eq(counts & refused),
        ]

    def add_writes(self, lanes):
        """Writes to registers, dword by dword."""
        sink, fsm, dw0, dw1 = self.sink, self.fsm, self.sink.dw0, self.sink.dw1
        lane_bits  = log2_int(lanes)
        self.dword = dword = Signal(log2_int(self.bar0_size) - 3)   # Address of the current dword, in dwords.
        self.be    = Signal(4)                  # Its byte enables.
        self.dat   = Signal(32)
        self.start = Signal()                   # Write it.
        self.done  = Signal()                   # It is written.
        left       = Signal(11)                 # Dwords that remain, the current one included.
        lane       = Signal(lane_bits)          # Lane of the current one in the beat on `sink`.
        first      = Signal()                   # It is the first dword of the request.
        final      = Signal()                   # It is the last dword of the request.
        self.comb += [
            self.be.eq(Mux(first, dw1[0:4], Mux(final, dw1[4:8], 0b1111))),
            Case(lane, {n: self.dat.eq(sink.dat[32*n:32*n + 32]) for n in range(lanes)}),
        ]
        fsm.act("IDLE",
            NextValue(left, Cat(dw0[:10], dw0[:10] == 0)),
            NextValue(final, dw0[:10] == 1),
            NextValue(dword, self.address[2:log2_int(self.bar0_size) - 1]),
            NextValue(lane, Mux(has_4_dwords(dw0), 4 % lanes, 3 % lanes)),
            NextValue(first, 1),
            If(sink.valid & sink.first & self.to_access, NextState("WRITE"))
        )
        fsm.act("WRITE",
            self.start.eq(sink.valid & ~sink.cut),
            If(self.done,
                NextValue(left, left - 1),
                NextValue(final, left == 2),
                NextValue(dword, next_dword(dword)),
                NextValue(lane, lane + 1),
                NextValue(first, 0),
                self.consume.eq(final | (lane == lanes - 1)),
                If(final, self.executed.eq(1), NextState("IDLE"))
            ).Elif(sink.valid & sink.cut,
                NextState("IDLE")
            )
        )

    def add_accesses(self):
        """Lets writes and reads access the registers, and the user's bus."""
        access, reads, user = self.access, self.reads, self.user
        self.turns = turns  = Turns()
        self.comb += [
            turns.write.eq(self.start),
            turns.read.eq(reads.start),
            turns.done.eq(access.done),
            access.start.eq(turns.write | turns.read),
            access.we.eq(turns.writes),
            access.dword.eq(Mux(turns.writes, self.dword, reads.dword)),
            access.be.eq(Mux(turns.writes, self.be, reads.be)),
            access.dat_w.eq(self.dat),
            reads.done.eq(access.done & ~turns.writes),
            reads.dat_r.eq(access.dat_r),
            self.done.eq(access.done & turns.writes),
        ]
        if user is None:
            return
        fetcher = reads.user
        self.user_turns = others = Turns()
        to_user         = Signal()  # The write is for the user's bus.
        self.comb += [
            turns.write.eq(self.start & ~to_user),
            others.write.eq(self.start & to_user),
            others.read.eq(fetcher.start),
            others.done.eq(user.done),
            user.start.eq(others.write | others.read),
            user.we.eq(others.writes),
            user.dword.eq(Mux(others.writes, self.dword[:log2_int(USER_OFFSET//4)], fetcher.dword)),
            user.be.eq(Mux(others.writes, self.be, fetcher.be)),
            user.dat_w.eq(self.dat),
            fetcher.done.eq(user.done & ~others.writes),
            fetcher.error.eq(user.failed),
            fetcher.dat_r.eq(user.dat_r),
            self.done.eq((access.done & turns.writes) | (user.done & others.writes)),
        ]
        self.sync += If(self.fsm.ongoing("IDLE"),
            to_user.eq(self.address[log2_int(USER_OFFSET):log2_int(2*WINDOW_OFFSET)] == 1),
        )
