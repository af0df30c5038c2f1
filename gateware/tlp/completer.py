#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Completes the host's requests to BAR0."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.abi import USER_OFFSET, WINDOW_OFFSET
from litepcie_soc.common.pcie import (
    COMPLETION_CA, COMPLETION_SC, COMPLETION_UR, FMT_TYPE_CPL, FMT_TYPE_CPLD, TYPE_COMPLETION, TYPE_MEMORY,
    TYPE_MESSAGE_4_3, has_4_dwords, has_data, phy_layout,
)
from litepcie_soc.tlp.completer_access import DwordAccess
from litepcie_soc.tlp.completer_span import COMPLETION_DWORDS, ReadSpan
from litepcie_soc.tlp.completer_user import UserAccess, UserReader
from litepcie_soc.tlp.completer_window import PAGE_BYTES, WindowReader, WindowWriter
from litepcie_soc.tlp.parser import memory_order, tlp_layout

# Completer ----------------------------------------------------------------------------------------

class Completer(LiteXModule):
    """Serves memory requests to the registers (lower half of BAR0) and to the window (upper half).

    With `user_bus`, the registers from USER_OFFSET on are on the bus of the user's SoC, and `UserAccess` says when an
    access fails. A completion that ends before a dword that failed is sent. The next one, which would hold it, is
    Completer Abort, and ends the request (PCIe 4.0 2.3.1). A write that failed is dropped; both are counted.

    Writes to the window transfer one beat per cycle. Every other request waits until the writes before it are in the
    memory, and is then processed alone, dword by dword: one per cycle from the window, one in some cycles from the
    registers.

    Reads have up to 4096 bytes; each completion ends at a multiple of 128 bytes or with its request. The window repeats
    nothing: beyond `window_bytes`, reads return 0 and writes are dropped.

    The completer completes every other non-posted request with Unsupported Request (PCIe 4.0 2.3.1), and drops poisoned
    writes; all of these count as refused. It also drops messages, misrouted completions and TLPs with a prefix, without
    counting them.

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
    aborted      : Signal(), **out**, a completion with Completer Abort leaves; the request is still on `sink`.
    csr_bus      : wishbone.Interface, master, 32-bit data, word addresses.
    user         : UserAccess, with the master of the user's bus. None without `user_bus`.
    window_read  : MemoryReadStream, **out**, reads of the window.
    window_write : MemoryWriteStream, **out**, writes to the window.
    """
    def __init__(self, data_width, endianness, *, bar0_size, window_bytes, user_bus=None):
        self.sink      = sink   = stream.Endpoint(tlp_layout(data_width))
        self.source    = source = stream.Endpoint(phy_layout(data_width))
        self.completer = Signal(16)
        self.link_up   = Signal(reset=1)
        self.refused   = Signal()
        self.unsupported = Signal()
        self.aborted   = Signal()
        if window_bytes < PAGE_BYTES:
            raise ValueError(f"window_bytes {window_bytes!r} is not supported; give {PAGE_BYTES} or more")
        self.access    = access = DwordAccess()
        self.writer    = writer = WindowWriter(data_width, window_bytes, bar0_size//2)
        self.reader    = reader = WindowReader(data_width, window_bytes, bar0_size//2)
        self.user      = user   = UserAccess(user_bus) if user_bus else None
        self.csr_bus      = access.csr_bus
        self.window_read  = reader.window_read
        self.window_write = writer.source

        # # #

        lanes     = data_width//32
        lane_bits = log2_int(lanes)

        # Kind of request --------------------------------------------------------------------------
        dw0, dw1  = sink.dw0, sink.dw1
        address   = Signal(32)
        in_window = Signal()
        memory    = Signal()
        poisoned  = Signal()
        write     = Signal()
        read      = Signal()
        message   = Signal()
        ignored   = Signal()
        self.comb += [
            address.eq(Mux(has_4_dwords(dw0), sink.dw3, sink.dw2)),
            in_window.eq(address[log2_int(bar0_size) - 1]),
            memory.eq(dw0[24:29] == TYPE_MEMORY),
            poisoned.eq(dw0[14]),
            write.eq(memory & has_data(dw0)),
            read.eq(memory & ~has_data(dw0)),
            message.eq(dw0[27:29] == TYPE_MESSAGE_4_3),
            # A misrouted completion, or a TLP with a prefix.
            ignored.eq((dw0[25:29] == TYPE_COMPLETION >> 1) | dw0[31]),
        ]

        # Route ------------------------------------------------------------------------------------
        drop      = Signal()
        idle      = Signal()
        to_window = Signal()  # A write that the window writer takes.
        slow      = Signal()  # A request for the state machine, which waits for the writes before it.
        consume   = Signal()  # The state machine accepts the beat on `sink`.
        self.comb += [
            drop.eq(message | ignored | (write & poisoned) | (sink.cut & idle)),
            to_window.eq(write & in_window & ~drop),
            slow.eq(~drop & ~to_window & ~writer.busy),
            sink.connect(writer.sink, omit={"valid", "ready"}),
            writer.sink.valid.eq(sink.valid & to_window),
            sink.ready.eq(drop | (to_window & writer.sink.ready) | consume),
        ]

        # Dword counters of the state machine ------------------------------------------------------
        left  = Signal(11)         # Dwords that remain, the current one included.
        dword = Signal(30)         # Address of the current dword, in dwords.
        lane  = Signal(lane_bits)  # Its lane in the beat on `sink`.
        first = Signal()           # It is the first dword of the request.
        final = Signal()           # It is the last dword of the request.
        be    = Signal(4)          # Its byte enables.
        last  = Signal()           # It is the last dword of its completion.
        step  = Signal()           # Go to the next dword.
        self.comb += [
            last.eq(final | (dword[:log2_int(COMPLETION_DWORDS)] == COMPLETION_DWORDS - 1)),
            be.eq(Mux(first, dw1[0:4], Mux(final, dw1[4:8], 0b1111))),
            access.dword.eq(dword),
            access.be.eq(be),
            Case(lane, {n: access.dat_w.eq(sink.dat[32*n:32*n + 32]) for n in range(lanes)}),
        ]
        self.sync += If(step,
            left.eq(left - 1), final.eq(left == 2), dword.eq(dword + 1), lane.eq(lane + 1), first.eq(0),
        )

        # Completion -------------------------------------------------------------------------------
        # The request stays on `sink` while its completions are built, so values computed from it can be registered.
        # Their first uses: `refused` one cycle after IDLE; byte count and length one cycle after MEASURE.
        self.span = span = ReadSpan()
        refuse    = Signal()
        refused   = Signal()
        failed    = Signal()  # A dword of this completion could not be read.
        no_data   = Signal()
        locked    = Signal()  # The completion of MRdLk is CplLk (PCIe 4.0 6.5.6).
        header    = [Signal(32) for _ in range(3)]
        status     = Signal(3)
        byte_count = Signal(12)
        lower      = Signal(7)
        self.comb += [
            locked.eq(dw0[24:29] == TYPE_MEMORY + 1),
            refuse.eq(~read | poisoned),
            span.single.eq(dw0[:10] == 1),
            span.left.eq(left),
            span.dword.eq(dword),
            span.first.eq(first),
            span.first_be.eq(dw1[0:4]),
            span.last_be.eq(dw1[4:8]),
        ]
        memory_read = Signal()  # Byte count and lower address follow from the request; else they are constant.
        self.sync += [
            refused.eq(refuse),
            memory_read.eq(memory | locked),
        ]
        self.comb += [
            byte_count.eq(Mux(memory_read, span.byte_count, 4)),
            # A completion that is not the first begins at a boundary.
            If(memory_read & first, lower.eq(Cat(span.lower, address[2:7]))),
        ]
        self.comb += [
            no_data.eq(refused | failed),
            status.eq(Mux(refused, COMPLETION_UR, Mux(failed, COMPLETION_CA, COMPLETION_SC))),
            header[0][0:10].eq(Mux(no_data, 0, span.dwords)),
            # Attr and TC are those of the request.
            header[0][12:14].eq(dw0[12:14]),
            header[0][18].eq(dw0[18]),
            header[0][20:23].eq(dw0[20:23]),
            header[0][24:32].eq(Mux(no_data, FMT_TYPE_CPL, FMT_TYPE_CPLD) | locked),
            header[1].eq(Cat(byte_count, Constant(0, 1), status, self.completer)),
            header[2].eq(Cat(lower, Constant(0, 1), dw1[8:16], dw1[16:32])),
        ]

        # Assembly of beats: one dword per cycle; a full beat and the final one become valid -------
        put    = Signal()           # Add `value` to the beat.
        value  = Signal(32)
        ends   = Signal()           # `value` is the last dword of the completion.
        slot   = Signal(lane_bits)  # Lane for `value`.
        room   = Signal()           # No complete beat waits on `source`.
        opened = Signal()           # A beat of this completion became valid.
        mute   = Signal()           # The completion is not sent.
        self.comb += room.eq(~source.valid | source.ready)
        self.sync += [
            If(source.ready, source.valid.eq(0)),
            If(put,
                Case(slot, {n: source.dat[32*n:32*n + 32].eq(value) for n in range(lanes)}),
                *[source.be[4*n:4*n + 4].eq(Mux(slot >= n, 0xf, 0x0)) for n in range(lanes)],
                source.first.eq(~opened),
                source.last.eq(ends),
                slot.eq(slot + 1),
                If(ends | (slot == lanes - 1),
                    source.valid.eq(~mute),
                    slot.eq(0),
                    opened.eq(~ends),
                ),
            ),
        ]

        # State machine ----------------------------------------------------------------------------
        self.fsm = fsm = FSM(reset_state="IDLE")
        lost     = Signal()     # The link was lost since the request came.
        reading  = Signal()     # The request is a read of the window.
        self.comb += [
            idle.eq(fsm.ongoing("IDLE")),
            reader.address.eq(address),
            reader.dwords.eq(Cat(dw0[:10], dw0[:10] == 0)),
            reader.enable.eq(reading),
        ]
        self.sync += lost.eq(~idle & (lost | ~self.link_up))
        begin = sink.valid & sink.first & slow
        start = Signal()        # Access the register at `dword`.
        done  = Signal()        # The access is complete.
        # States that send the payload: the value, and whether it is there.
        payloads = [("PAYLOAD", access.dat_r, 1), ("WINDOW", reader.dat, reader.valid)]
        to_fetch, to_payload = NextState("HEADER-0"), NextState("READ")
        if user is None:
            self.comb += [access.start.eq(start), done.eq(access.done)]
        else:
            self.fetcher = fetcher = UserReader()
            to_fetch   = If(fetcher.enable, NextState("FETCH")).Else(to_fetch)
            to_payload = If(fetcher.enable, NextState("USER")).Else(to_payload)
            payloads.append(("USER", fetcher.dat, 1))
            self.add_user(begin & ~refuse, address, start, done, dword, be)
            self.comb += [failed.eq(fetcher.failed), fetcher.take.eq(fsm.ongoing("USER") & put)]
        fsm.act("IDLE",
            NextValue(left, Cat(dw0[:10], dw0[:10] == 0)),
            NextValue(final, dw0[:10] == 1),
            NextValue(dword, address[2:log2_int(bar0_size) - 1]),
            NextValue(lane, Mux(has_4_dwords(dw0), 4 % lanes, 3 % lanes)),
            NextValue(first, 1),
            If(begin,
                NextValue(reading, ~refuse & in_window),
                If(write, NextState("WRITE"), NextValue(reading, 0)).Else(NextState("MEASURE"))
            )
        )
        fsm.act("WRITE",
            access.we.eq(1),
            start.eq(sink.valid & ~sink.cut),
            If(done,
                step.eq(1),
                consume.eq(final | (lane == lanes - 1)),
                If(final, NextState("IDLE"))
            ).Elif(sink.valid & sink.cut,
                NextState("IDLE")
            )
        )
        fsm.act("MEASURE",
            NextValue(mute, lost),
            to_fetch
        )
        after_header = If(no_data, NextState("LAST")).Elif(reading, NextState("WINDOW")).Else(to_payload)
        for n in range(3):
            fsm.act(f"HEADER-{n}",
                value.eq(header[n]),
                put.eq(room),
                ends.eq(no_data if n == 2 else 0),
                If(room, NextState(f"HEADER-{n + 1}") if n < 2 else after_header)
            )
        fsm.act("READ",
            start.eq(1),
            If(access.done, NextState("PAYLOAD"))
        )
        if user is not None:
            fsm.act("FETCH",
                NextValue(mute, lost),
                If(fetcher.ready, NextState("HEADER-0"))
            )
        for state, dat, there in payloads:
            fsm.act(state,
                value.eq(memory_order(dat, endianness)),
                put.eq(room & there),
                reader.ready.eq(room),
                ends.eq(last),
                If(put,
                    step.eq(1),
                    If(final,
                        NextState("LAST")
                    ).Elif(last,
                        NextState("MEASURE")
                    ).Elif(state == "PAYLOAD",
                        NextState("READ")
                    )
                )
            )
        fsm.act("LAST",
            consume.eq(1),
            NextValue(reading, 0),
            If(sink.valid & sink.last, NextState("IDLE"))
        )
        counts = sink.valid & sink.first & sink.ready & ~message & ~ignored
        self.sync += [
            self.refused.eq(counts & ((write & poisoned) | (~write & refuse))),
            self.unsupported.eq(counts & ~write & refuse),
        ]
        self.comb += self.aborted.eq(fsm.ongoing("HEADER-2") & room & failed & ~refused & ~mute)

    def add_user(self, reads, address, start, done, dword, be):
        """Connects the user's bus: writes of the state machine go there dword by dword, reads by completions.

        reads : expression, the request in state IDLE is read if its address is the user's.
        """
        sink, user, fetcher, fsm = self.sink, self.user, self.fetcher, self.fsm
        in_user = Signal()
        to_user = Signal()  # The request is for the user's bus.
        fetch   = Signal()
        self.comb += [
            in_user.eq(address[log2_int(USER_OFFSET):log2_int(2*WINDOW_OFFSET)] == 1),
            self.access.start.eq(start & ~to_user),
            done.eq(Mux(to_user, user.done, self.access.done)),
            fetch.eq(fsm.ongoing("FETCH")),
            fetcher.address.eq(address[:log2_int(USER_OFFSET)]),
            fetcher.dwords.eq(self.reader.dwords),
            fetcher.first_be.eq(sink.dw1[0:4]),
            fetcher.last_be.eq(sink.dw1[4:8]),
            fetcher.begin.eq(fsm.ongoing("MEASURE")),
            fetcher.fetch.eq(fetch),
            fetcher.done.eq(user.done),
            fetcher.error.eq(user.failed),
            fetcher.dat_r.eq(user.dat_r),
            user.start.eq(Mux(fetch, fetcher.start, start & to_user)),
            user.we.eq(~fetch),
            user.dword.eq(Mux(fetch, fetcher.dword, dword[:log2_int(USER_OFFSET//4)])),
            user.be.eq(Mux(fetch, fetcher.be, be)),
            user.dat_w.eq(self.access.dat_w),
        ]
        self.sync += If(fsm.ongoing("IDLE"),
            to_user.eq(in_user),
            fetcher.enable.eq(reads & in_user),
        ).Elif(fsm.ongoing("LAST"),
            fetcher.enable.eq(0),
        )
