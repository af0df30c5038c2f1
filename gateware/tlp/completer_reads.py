#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Completes the host's non-posted requests to BAR0."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.abi import USER_OFFSET, WINDOW_OFFSET
from litepcie_soc.common.pcie import (
    COMPLETION_CA, COMPLETION_DWORDS, COMPLETION_SC, COMPLETION_UR, FMT_TYPE_CPL, FMT_TYPE_CPLD, TYPE_MEMORY,
    has_4_dwords, has_data, phy_layout,
)
from litepcie_soc.tlp.completer_user import UserReader
from litepcie_soc.tlp.completer_window import WindowReader, next_dword
from litepcie_soc.tlp.parser import memory_order

# Waiting Requests ---------------------------------------------------------------------------------

# Non-posted requests that can wait for their completions while posted requests pass them. A PHY hands over no more.
NON_POSTED = 16


def request_layout():
    """A non-posted request without its payload, which no request that is served has; `address` is dw2 or dw3."""
    return [("dw0", 32), ("dw1", 32), ("address", 32)]


def request_header(request):
    """The first three dwords of the header. BAR0 is below 4 GiB, so dw2 of a header of four dwords is 0."""
    return Cat(request.dw0, request.dw1, Mux(has_4_dwords(request.dw0), 0, request.address))


class WaitingRequests(LiteXModule):
    """Queue of non-posted requests. A loss of the link drops what is in it, and what comes while the link is down.

    Attributes
    ----------
    sink    : stream of `request_layout`, **in**.
    source  : stream of `request_layout`, **out**.
    link_up : Signal(), **in**, the link is up.
    take    : Signal(), **in**, the consumer is idle: requests that came before the link was lost may go.
    """
    def __init__(self):
        self.fifo    = fifo   = stream.SyncFIFO(request_layout(), NON_POSTED, buffered=True)
        self.sink    = sink   = stream.Endpoint(request_layout())
        self.source  = source = stream.Endpoint(request_layout())
        self.link_up = Signal()
        self.take    = Signal()

        # # #

        get   = fifo.source.valid & fifo.source.ready
        stale = Signal.like(fifo.level)     # Requests at the head of the queue that came before the link was lost.
        old   = Signal()
        self.comb += [
            sink.connect(fifo.sink),
            If(~self.link_up, fifo.sink.valid.eq(0), sink.ready.eq(1)),
            old.eq((stale != 0) | ~self.link_up),
            fifo.source.connect(source, omit={"valid", "ready"}),
            source.valid.eq(fifo.source.valid & ~(old & self.take)),
            fifo.source.ready.eq(source.ready | (old & self.take)),
        ]
        self.sync += If(~self.link_up,
            stale.eq(fifo.level - get),
        ).Elif(get & (stale != 0),
            stale.eq(stale - 1),
        )

# Read Span ----------------------------------------------------------------------------------------

class ReadSpan(LiteXModule):
    """Length, byte count and lower address of the completions of a read (PCIe 4.0 tables 2-36, 2-37), pipelined.

    Attributes
    ----------
    single            : Signal(), **in**, the request has one dword.
    first_be, last_be : Signal(4), **in**, byte enables of the request; like `single`, stable for two cycles.
    left              : Signal(11), **in**, dwords of the request that remain, those of the next completion included.
    dword             : Signal(30), **in**, address of the first of them in dwords.
    first             : Signal(), **in**, none was completed before.
    dwords            : Signal(6), **out**, after one cycle, length of the next completion.
    byte_count        : Signal(12), **out**, after one cycle; 1 for a zero-length read.
    lower             : Signal(2), **out**, after one cycle, bits 1:0 of the lower address of the first completion.
    """
    def __init__(self):
        self.single     = Signal()
        self.left       = Signal(11)
        self.dword      = Signal(30)
        self.first      = Signal()
        self.dwords     = Signal(max=COMPLETION_DWORDS + 1)
        self.first_be   = Signal(4)
        self.last_be    = Signal(4)
        self.byte_count = Signal(12)
        self.lower      = Signal(2)

        # # #

        tail_be  = Signal(4)  # Byte enables of the last dword.
        disabled = Signal(2)  # Bytes of the last dword after its last enabled byte.
        upto     = Signal.like(self.dwords)  # Dwords up to the boundary.
        self.comb += upto.eq(COMPLETION_DWORDS - self.dword[:log2_int(COMPLETION_DWORDS)])
        self.comb += tail_be.eq(Mux(self.single, self.first_be, self.last_be))
        self.sync += [
            Case(self.first_be, {
                **{be: self.lower.eq((be & -be).bit_length() - 1) for be in range(1, 16)},
                "default": self.lower.eq(0),
            }),
            Case(tail_be, {
                **{be: disabled.eq(4 - be.bit_length()) for be in range(1, 16)},
                "default": disabled.eq(3),
            }),
            self.dwords.eq(Mux(self.left < upto, self.left, upto)),
            self.byte_count.eq(Cat(Constant(0, 2), self.left) - Mux(self.first, self.lower, 0) - disabled),
        ]

# Read Completer -----------------------------------------------------------------------------------


class ReadCompleter(LiteXModule):
    """Serves one request of the host after the other, and sends its completions.

    Memory reads have up to 4096 bytes; each completion ends at a multiple of 128 bytes or with its request. A dword per
    cycle comes from the window, one in some cycles from the registers. Every other request, and a poisoned one, gets
    Unsupported Request (PCIe 4.0 2.3.1).

    Parameters
    ----------
    data_width   : int, bits.
    endianness   : "big" or "little", byte order of the PHY's payload dwords.
    bar0_size    : int, bytes.
    window_bytes : int, bytes of the window.
    user_bus     : bool, the registers from USER_OFFSET on are on the user's bus.

    Attributes
    ----------
    sink         : stream of `request_layout`, **in**; a request stays until its last completion was built.
    source       : stream of `phy_layout`, **out**, completions.
    completer    : Signal(16), **in**, bus, device and function number of the card.
    link_up      : Signal(), **in**, the link is up. A request that came before the link was lost gets no further
        completions.
    aborted      : Signal(), **out**, a completion with Completer Abort leaves; the request is still on `sink`.
    start        : Signal(), **out**, read the register at `dword`; it and the signals below are stable until `done`.
    dword        : Signal(log2(bar0_size) - 3), **out**, address of the register in dwords from the start of BAR0.
    be           : Signal(4), **out**, byte enables.
    done         : Signal(), **in**, the access is complete; asserted for one cycle.
    dat_r        : Signal(32), **in**, data read, valid with `done`.
    user         : UserReader, makes the accesses to the user's bus; None without `user_bus`.
    window_read  : MemoryReadStream, **out**, reads of the window.
    """
    def __init__(self, data_width, endianness, *, bar0_size, window_bytes, user_bus):
        self.queue     = queue  = WaitingRequests()
        self.sink      = queue.sink
        self.request   = queue.source
        self.source    = stream.Endpoint(phy_layout(data_width))
        self.completer = Signal(16)
        self.link_up   = Signal(reset=1)
        self.aborted   = Signal()
        self.start     = Signal()
        self.dword     = Signal(log2_int(bar0_size) - 3)
        self.be        = Signal(4)
        self.done      = Signal()
        self.dat_r     = Signal(32)
        self.span      = ReadSpan()
        self.reader    = WindowReader(data_width, window_bytes, bar0_size//2)
        self.user      = UserReader() if user_bus else None
        self.window_read = self.reader.window_read

        # # #

        self.bar0_size, self.endianness = bar0_size, endianness
        self.fsm = FSM(reset_state="IDLE")
        self.add_counters()
        self.add_header()
        self.add_assembly(data_width//32)
        if user_bus:
            self.add_user()
        self.add_states()

    def add_counters(self):
        """Dword counters of the state machine."""
        dw1 = self.request.dw1
        self.left  = Signal(11)  # Dwords that remain, the current one included.
        self.first = Signal()    # The current dword is the first one of the request.
        self.final = Signal()    # It is the last one of the request.
        self.last  = Signal()    # It is the last one of its completion.
        self.step  = Signal()    # Go to the next dword.
        self.comb += [
            self.last.eq(self.final | (self.dword[:log2_int(COMPLETION_DWORDS)] == COMPLETION_DWORDS - 1)),
            self.be.eq(Mux(self.first, dw1[0:4], Mux(self.final, dw1[4:8], 0b1111))),
        ]
        self.sync += If(self.step,
            self.left.eq(self.left - 1),
            self.final.eq(self.left == 2),
            self.dword.eq(next_dword(self.dword)),
            self.first.eq(0),
        )

    def add_header(self):
        """The header of a completion.

        The request stays on `request` while its completions are built, so values computed from it can be registered.
        Their first uses: `refused` one cycle after IDLE; byte count and length one cycle after MEASURE.
        """
        span, request, address = self.span, self.request, self.request.address
        dw0, dw1               = request.dw0, request.dw1
        memory      = dw0[24:29] == TYPE_MEMORY
        locked      = dw0[24:29] == TYPE_MEMORY + 1     # The completion of MRdLk is CplLk (PCIe 4.0 6.5.6).
        self.refuse = Signal()
        refused     = Signal()
        self.failed = Signal()   # A dword of this completion could not be read.
        self.no_data = no_data = Signal()
        self.header = header = [Signal(32) for _ in range(3)]
        self.refused = refused
        status      = Signal(3)
        byte_count  = Signal(12)
        lower       = Signal(7)
        memory_read = Signal()   # Byte count and lower address follow from the request; else they are constant.
        self.comb += [
            self.refuse.eq(~memory | has_data(dw0) | dw0[14]),      # dw0[14]: poisoned.
            span.single.eq(dw0[:10] == 1),
            span.left.eq(self.left),
            span.dword.eq(self.dword),
            span.first.eq(self.first),
            span.first_be.eq(dw1[0:4]),
            span.last_be.eq(dw1[4:8]),
            byte_count.eq(Mux(memory_read, span.byte_count, 4)),
            # A completion that is not the first begins at a boundary.
            If(memory_read & self.first, lower.eq(Cat(span.lower, address[2:7]))),
            no_data.eq(refused | self.failed),
            status.eq(Mux(refused, COMPLETION_UR, Mux(self.failed, COMPLETION_CA, COMPLETION_SC))),
            header[0][0:10].eq(Mux(no_data, 0, span.dwords)),
            # Attr and TC are those of the request.
            header[0][12:14].eq(dw0[12:14]),
            header[0][18].eq(dw0[18]),
            header[0][20:23].eq(dw0[20:23]),
            header[0][24:32].eq(Mux(no_data, FMT_TYPE_CPL, FMT_TYPE_CPLD) | locked),
            header[1].eq(Cat(byte_count, Constant(0, 1), status, self.completer)),
            header[2].eq(Cat(lower, Constant(0, 1), dw1[8:16], dw1[16:32])),
        ]
        self.sync += [
            refused.eq(self.refuse),
            memory_read.eq(memory | locked),
        ]

    def add_assembly(self, lanes):
        """Assembles beats, one dword per cycle. A full beat and the final one become valid."""
        source     = self.source
        self.put   = put   = Signal()    # Add `value` to the beat.
        self.value = Signal(32)
        self.ends  = Signal()            # `value` is the last dword of the completion.
        self.room  = Signal()            # No complete beat waits on `source`.
        self.lost  = Signal()            # The link was lost since the request was taken.
        self.mute  = Signal()            # The completion is not sent.
        slot       = Signal(log2_int(lanes))    # Lane for `value`.
        opened     = Signal()            # A beat of this completion became valid.
        self.comb += self.room.eq(~source.valid | source.ready)
        self.sync += [
            If(self.lost & ~opened, self.mute.eq(1)),
            If(source.ready, source.valid.eq(0)),
            If(put,
                Case(slot, {n: source.dat[32*n:32*n + 32].eq(self.value) for n in range(lanes)}),
                *[source.be[4*n:4*n + 4].eq(Mux(slot >= n, 0xf, 0x0)) for n in range(lanes)],
                source.first.eq(~opened),
                source.last.eq(self.ends),
                slot.eq(slot + 1),
                If(self.ends | (slot == lanes - 1),
                    source.valid.eq(~self.mute),
                    slot.eq(0),
                    opened.eq(~self.ends),
                ),
            ),
        ]

    def add_user(self):
        """Reads of the user's bus, a completion at a time."""
        user, fsm, request = self.user, self.fsm, self.request
        address = request.address
        self.comb += [
            user.address.eq(address[:log2_int(USER_OFFSET)]),
            user.dwords.eq(self.reader.dwords),
            user.first_be.eq(request.dw1[0:4]),
            user.last_be.eq(request.dw1[4:8]),
            user.begin.eq(fsm.ongoing("MEASURE")),
            user.fetch.eq(fsm.ongoing("FETCH")),
            user.take.eq(fsm.ongoing("USER") & self.put),
            self.failed.eq(user.failed),
        ]
        self.sync += If(fsm.ongoing("IDLE"),
            user.enable.eq(request.valid & ~self.refuse
                & (address[log2_int(USER_OFFSET):log2_int(2*WINDOW_OFFSET)] == 1)),
        ).Elif(fsm.ongoing("LAST"),
            user.enable.eq(0),
        )

    def add_states(self):
        fsm, reader, request, address = self.fsm, self.reader, self.request, self.request.address
        dw0     = request.dw0
        reading = Signal()     # The request is a read of the window.
        self.comb += [
            self.queue.take.eq(fsm.ongoing("IDLE")),
            self.queue.link_up.eq(self.link_up),
            reader.address.eq(address),
            reader.dwords.eq(Cat(dw0[:10], dw0[:10] == 0)),
            reader.enable.eq(reading),
            self.aborted.eq(fsm.ongoing("HEADER-2") & self.room & self.failed & ~self.refused & ~self.mute),
        ]
        self.sync += self.lost.eq(~fsm.ongoing("IDLE") & (self.lost | ~self.link_up))
        # States that send the payload: the value, and whether it is there.
        dat      = Signal(32)
        self.sync += If(self.done, dat.eq(self.dat_r))
        payloads = [("PAYLOAD", dat, 1), ("WINDOW", reader.dat, reader.valid)]
        to_fetch, to_payload = NextState("HEADER-0"), NextState("READ")
        if self.user is not None:
            to_fetch   = If(self.user.enable, NextState("FETCH")).Else(to_fetch)
            to_payload = If(self.user.enable, NextState("USER")).Else(to_payload)
            payloads.append(("USER", self.user.dat, 1))
            fsm.act("FETCH",
                NextValue(self.mute, self.lost),
                If(self.user.ready, NextState("HEADER-0"))
            )
        fsm.act("IDLE",
            NextValue(self.left, Cat(dw0[:10], dw0[:10] == 0)),
            NextValue(self.final, dw0[:10] == 1),
            NextValue(self.dword, address[2:log2_int(self.bar0_size) - 1]),
            NextValue(self.first, 1),
            If(request.valid,
                NextValue(reading, ~self.refuse & address[log2_int(self.bar0_size) - 1]),
                NextState("MEASURE")
            )
        )
        fsm.act("MEASURE",
            NextValue(self.mute, self.lost),
            to_fetch
        )
        after_header = If(self.no_data, NextState("LAST")).Elif(reading, NextState("WINDOW")).Else(to_payload)
        for n in range(3):
            fsm.act(f"HEADER-{n}",
                self.value.eq(self.header[n]),
                self.put.eq(self.room),
                self.ends.eq(self.no_data if n == 2 else 0),
                If(self.room, NextState(f"HEADER-{n + 1}") if n < 2 else after_header)
            )
        fsm.act("READ",
            self.start.eq(1),
            If(self.done, NextState("PAYLOAD"))
        )
        for state, dat, there in payloads:
            fsm.act(state,
                self.value.eq(memory_order(dat, self.endianness)),
                self.put.eq(self.room & there),
                reader.ready.eq(self.room),
                self.ends.eq(self.last),
                If(self.put,
                    self.step.eq(1),
                    If(self.final,
                        NextState("LAST")
                    ).Elif(self.last,
                        NextState("MEASURE")
                    ).Elif(state == "PAYLOAD",
                        NextState("READ")
                    )
                )
            )
        fsm.act("LAST",
            request.ready.eq(1),
            NextValue(reading, 0),
            NextState("IDLE")
        )
