#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Port through which the user's logic moves data between buffers of the host and the endpoint memory."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common import abi
from litepcie_soc.common.pcie import (
    REASON_BITS, REASON_BUS_MASTER, REASON_MEMORY_RANGE, REASON_NONE, REASON_ZERO_LENGTH,
)
from litepcie_soc.dma.descriptor import at_most, descriptor_layout, done_layout
from litepcie_soc.dma.engine import DIRECTIONS
from litepcie_soc.dma.reader import Reader
from litepcie_soc.dma.settle import settled
from litepcie_soc.dma.writer import Writer
from litepcie_soc.soc.host_buffers import PAGE_BITS, beyond

# Descriptors --------------------------------------------------------------------------------------
# Descriptors of the user's logic: checks them against the buffers of the host, and reports their ends.

DEPTH    = 16
TAG_BITS = 8


def user_descriptor_layout():
    """A transfer between a buffer of the host and the endpoint memory, as the user's logic asks for it."""
    return [
        ("write",    1),         # 1: endpoint memory to host; 0: host to endpoint memory.
        ("address",  32),        # As of ``HostPort.bus``: number of the buffer * limit + offset in bytes.
        ("endpoint", 32),        # Byte address in the endpoint memory.
        ("length",   24),        # Bytes, from 1.
        ("tag",      TAG_BITS),  # Comes back with the end.
    ]


def end_layout():
    """The end of a descriptor: ``reason`` is REASON_NONE if all its bytes landed."""
    return [("tag", TAG_BITS), ("write", 1), ("reason", REASON_BITS)]


class HostDescriptors(LiteXModule):
    """Takes descriptors of the user's logic and passes those that are allowed to a reader or a writer.

    It takes one in four cycles. Offset, length, direction and endpoint address are checked; the address in host memory
    is the offset plus what the driver wrote into the table. A descriptor that fails ends with a reason, and reaches no
    memory. Descriptors of one direction end in their order; those that fail a check can end earlier.

    The unit takes no descriptor while the user's logic has ``depth`` ends to take, so that every end has its place: a
    buffer is in BUSY only while the card moves its bytes, whatever the user's logic does.

    On ``reset``, no request of a descriptor is made any more. Once those under way have ended, every descriptor ends
    with REASON_BUS_MASTER.

    Parameters
    ----------
    host        : ``HostBuffers``.
    memory_size : bytes of the endpoint memory, a power of two.
    depth       : descriptors whose end the user's logic has not taken yet, a power of two.
    order       : RequestOrder of the reader's port; None: the end of a read does not wait for writes of the host.

    Attributes
    ----------
    sink     : Endpoint(user_descriptor_layout), **in**.
    source   : Endpoint(end_layout), **out**.
    can_send : Signal(), **in**, bus mastering is on and the link is up.
    reset    : Signal(), **in**, the function is being reset.
    sources  : {direction: Endpoint(descriptor_layout)}, **out**, checked descriptors for the reader and the writer.
    dones    : {direction: Record(done_layout)}, **in**, their finished requests.
    idles    : {direction: Signal()}, **in**, nothing is in flight.
    run      : Signal(), **out**, requests may be made.
    forget   : Signal(), **out**, the reader and the writer forget what they have not begun; nothing is in flight.
    busy     : Signal(), **out**, a reset has begun, and descriptors have not all ended.
    """
    def __init__(self, host, memory_size, depth=DEPTH, order=None):
        endpoint_width = bits_for(memory_size - 1)
        self.memory_size = memory_size
        self.order    = order
        self.depth    = depth
        self.sink     = stream.Endpoint(user_descriptor_layout())
        self.source   = stream.Endpoint(end_layout())
        self.can_send = Signal()
        self.reset    = Signal()
        self.sources  = {name: stream.Endpoint(descriptor_layout(endpoint_width)) for name in DIRECTIONS}
        self.dones    = {name: Record(done_layout()) for name in DIRECTIONS}
        self.idles    = {name: Signal() for name in DIRECTIONS}
        self.run      = Signal()
        self.forget   = Signal()
        self.busy     = Signal()

        # # #

        self.table   = host.add_lookup()
        self.pushed  = {name: Signal() for name in DIRECTIONS}  # A descriptor goes to the reader or writer.
        self.waiting = {name: Signal() for name in DIRECTIONS}  # It has not ended.
        self.ends    = {}                                       # Endpoints of ends.
        self.counts  = []                                       # Of each buffer and direction: descriptors under way.
        self.refused = stream.SyncFIFO(end_layout(), depth)
        self.number  = Signal(bits_for(host.buffers - 1))       # Of the descriptor that is checked.
        self.tag     = Signal(TAG_BITS)
        self.add_check(log2_int(host.byte_limit))
        for name in DIRECTIONS:
            self.add_direction(name, host.buffers)
        self.add_reset()
        self.add_ends()

    # Check ----------------------------------------------------------------------------------------

    def add_check(self, offset_bits):
        sink, table, refused = self.sink, self.table, self.refused
        wanted  = Record(self.sink.description.payload_layout)  # The descriptor that is checked.
        offset  = wanted.address[:offset_bits]
        base    = Signal.like(table.base)
        pages   = Signal.like(table.pages)
        known   = Signal()      # The card had the buffer when ``base`` was read.
        allowed = Signal()
        host    = Signal(64 - PAGE_BITS)    # Page in host memory.
        end     = Signal(max(offset_bits, len(wanted.length)) + 1)     # Of the bytes in the buffer.
        end_endpoint = Signal(max(len(wanted.endpoint), len(wanted.length)) + 1)
        room    = Signal()      # There is a place for the end of one more.
        idle    = Signal()
        reason  = Signal(REASON_BITS)
        used    = Signal(max=self.depth + 1)
        taken, left = Signal(), Signal()
        self.comb += [
            self.number.eq(wanted.address[offset_bits:]),
            self.tag.eq(wanted.tag),
            room.eq(used != self.depth),
            taken.eq(sink.valid & sink.ready),
            left.eq(self.source.valid & self.source.ready),
            table.number.eq(self.number),
            table.error_number.eq(self.number),
            table.write.eq(wanted.write),
            table.reason.eq(reason),
            refused.sink.tag.eq(wanted.tag),
            refused.sink.write.eq(wanted.write),
            refused.sink.reason.eq(reason),
        ]
        for name, source in self.sources.items():
            self.comb += [
                source.host.eq(Cat(offset[:PAGE_BITS], host)),
                source.endpoint.eq(wanted.endpoint),
                source.length.eq(wanted.length),
                source.slot_last.eq(1),
                self.pushed[name].eq(source.valid & source.ready),
            ]
        self.sync += used.eq(used + taken - left)
        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            idle.eq(1),
            sink.ready.eq(room),
            *[NextValue(getattr(wanted, name), getattr(sink, name)) for name, *_ in wanted.layout],
            If(taken, NextState("LOOK_UP"))
        )
        fsm.act("LOOK_UP",
            NextValue(base, table.base),
            NextValue(pages, table.pages),
            NextValue(known, table.known & ~beyond(wanted.address, 1 << offset_bits + len(self.number))),
            NextValue(allowed, Mux(wanted.write, table.may_write, table.may_read)),
            NextValue(end, offset + wanted.length),
            NextValue(end_endpoint, wanted.endpoint + wanted.length),
            NextState("CHECK")
        )
        fsm.act("CHECK",
            NextValue(host, base + offset[PAGE_BITS:]),
            NextState("REFUSE"),
            If(~self.can_send,
                NextValue(reason, REASON_BUS_MASTER)
            ).Elif(~known,
                NextValue(reason, abi.HOST_REASON_NO_BUFFER)
            ).Elif(~allowed,
                NextValue(reason, abi.HOST_REASON_DENIED)
            ).Elif(wanted.length == 0,
                NextValue(reason, REASON_ZERO_LENGTH)
            ).Elif((end > Cat(Constant(0, PAGE_BITS), pages)) | (end_endpoint > self.memory_size),
                NextValue(reason, REASON_MEMORY_RANGE)
            ).Else(
                NextState("PASS")
            )
        )
        fsm.act("PASS",
            NextValue(reason, REASON_BUS_MASTER),
            If(~self.run,
                NextState("REFUSE")
            ).Elif(self.pushed["reader"] | self.pushed["writer"],
                NextState("IDLE")
            )
        )
        fsm.act("REFUSE",
            refused.sink.valid.eq(1),
            table.failed.eq(1),
            NextState("IDLE")
        )
        self.comb += [
            self.sources["reader"].valid.eq(fsm.ongoing("PASS") & self.run & ~wanted.write),
            self.sources["writer"].valid.eq(fsm.ongoing("PASS") & self.run & wanted.write),
        ]
        self.under_check = Signal()
        self.comb += self.under_check.eq(~idle & ~fsm.ongoing("REFUSE"))

    # Reader and writer ----------------------------------------------------------------------------

    def add_direction(self, name, buffers):
        done    = self.dones[name]
        order   = self.order if name == "reader" else None
        waiting = stream.SyncFIFO([("tag", TAG_BITS), ("number", len(self.number))], self.depth)
        ends    = stream.SyncFIFO([*end_layout(), *([("mark", len(order.mark))] if order else [])], self.depth)
        self.add_module(f"waiting_{name}", waiting)
        self.add_module(f"ends_{name}", ends)
        first   = Signal(REASON_BITS)   # The first failure of the descriptor's requests.
        reason  = Signal(REASON_BITS)
        ended   = Signal()
        self.comb += [
            waiting.sink.valid.eq(self.pushed[name]),
            waiting.sink.tag.eq(self.tag),
            waiting.sink.number.eq(self.number),
            reason.eq(Mux(first != REASON_NONE, first, done.reason)),
            ended.eq((done.valid & done.last) | (self.forget & waiting.source.valid)),
            waiting.source.ready.eq(ended),
            ends.sink.valid.eq(ended),
            ends.sink.tag.eq(waiting.source.tag),
            ends.sink.write.eq(name == "writer"),
            ends.sink.reason.eq(Mux(self.forget, REASON_BUS_MASTER, reason)),
            self.waiting[name].eq(waiting.source.valid),
        ]
        self.sync += [
            If(done.valid, first.eq(reason)),
            If(ended, first.eq(REASON_NONE)),
        ]
        self.ends[name] = self.in_order(ends, order) if order else ends.source
        for number in range(buffers):
            count = Signal(max=self.depth + 1)
            self.sync += count.eq(count + (self.pushed[name] & (self.number == number))
                - (ended & (waiting.source.number == number)))
            self.counts.append((number, count))

    def in_order(self, ends, order):
        """Returns a stream of the ends that waits for the writes of the host before their data."""
        source  = stream.Endpoint(end_layout())
        reached = Signal()
        self.comb += [
            ends.sink.mark.eq(order.mark),
            ends.source.connect(source, keep={"tag", "write", "reason"}),
            source.valid.eq(ends.source.valid & reached),
            ends.source.ready.eq(source.ready & reached),
        ]
        self.sync += reached.eq(ends.source.valid & (reached | order.reached(ends.source.mark)) & ~ends.source.ready)
        return source

    # Reset ----------------------------------------------------------------------------------------

    def add_reset(self):
        drained = Signal()
        self.fsm_reset = fsm = FSM(reset_state="RUN")
        self.comb += [
            drained.eq(Reduce("AND", [self.idles[name] & ~self.dones[name].valid for name in DIRECTIONS])),
            self.busy.eq(~(fsm.ongoing("FORGET") | self.run) | Reduce("OR", self.waiting.values()) & self.forget),
        ]
        fsm.act("RUN",
            self.run.eq(~self.reset),
            If(self.reset, NextState("STOP"))
        )
        fsm.act("STOP",
            If(drained & ~self.under_check, NextState("FORGET"))
        )
        fsm.act("FORGET",
            self.forget.eq(1),
            If(~Reduce("OR", self.waiting.values()) & ~self.reset, NextState("RUN"))
        )

    # Ends -----------------------------------------------------------------------------------------

    def add_ends(self):
        """The reader's end first; the check is slower than the ends, so that all have their turn."""
        reader, writer, refused, source = self.ends["reader"], self.ends["writer"], self.refused.source, self.source
        self.comb += [
            If(reader.valid,
                reader.connect(source)
            ).Elif(writer.valid,
                writer.connect(source)
            ).Else(
                refused.connect(source)
            ),
            *[If(count != 0, self.table.busy[number].eq(1)) for number, count in self.counts],
            If(self.under_check, Case(self.number, {
                number: self.table.busy[number].eq(1) for number in range(len(self.table.busy))})),
        ]

# Port ---------------------------------------------------------------------------------------------


class DescriptorPort(LiteXModule):
    """A reader and a writer that execute descriptors of the user's logic, at the speed of the link.

    They are those of a DMA engine, without ring, status block and interrupt: descriptors come from ``sink``, and
    their ends go to ``source``.

    Parameters
    ----------
    host         : ``HostBuffers`` that the descriptors name.
    read_port    : MemoryReadPort for the data, `ordered`.
    write_port   : MemoryWritePort for the data.
    memory_write : MemoryWriteStream of the endpoint memory.
    memory_read  : MemoryReadStream of the endpoint memory.
    longest_read : most bytes of a request, a power of two from 128, even if MRRS is larger.
    depth        : descriptors whose end has not been taken, a power of two.
    queue        : descriptors that wait for the reader, and for the writer. Without any, one that waits for tags or for
        credits keeps the others of both directions waiting.

    Attributes
    ----------
    sink     : Endpoint(user_descriptor_layout), **in**; see ``HostDescriptors``.
    source   : Endpoint(end_layout), **out**. The end of a write comes when the PHY has accepted its last byte: what
        the card sends afterwards does not overtake it. That of a read, when the endpoint memory has its last byte and
        the card has executed the writes of the host before it.
    max_payload_size, max_request_size : 16, **in**, MPS and MRRS in force, bytes.
    can_send : Signal(), **in**, bus mastering is on and the link is up.
    reset    : Signal(), **in**, the function is being reset.
    busy     : Signal(), **out**, a reset has begun, and descriptors have not all ended.
    """
    def __init__(self, host, *, read_port, write_port, memory_write, memory_read, longest_read, depth=DEPTH,
        queue=0):
        self.descriptors = descriptors = HostDescriptors(host, memory_write.size, depth, order=read_port.order)
        self.sink     = descriptors.sink
        self.source   = descriptors.source
        self.can_send = descriptors.can_send
        self.reset    = descriptors.reset
        self.busy     = descriptors.busy
        self.max_payload_size = Signal(16)
        self.max_request_size = Signal(16)

        # # #

        clear = ResetInserter()
        self.reader = clear(settled(Reader(read_port, memory_write), memory_write))
        self.writer = clear(settled(Writer(write_port, memory_read), memory_read))
        for name, mover in (("reader", self.reader), ("writer", self.writer)):
            source = descriptors.sources[name]
            if queue:
                waiting = clear(stream.SyncFIFO(source.description, queue))
                self.add_module(f"{name}_queue", waiting)
                self.comb += [source.connect(waiting.sink), waiting.reset.eq(descriptors.forget)]
                source = waiting.source
            self.comb += [
                source.connect(mover.sink),
                descriptors.dones[name].eq(mover.done),
                descriptors.idles[name].eq(mover.idle),
                mover.run.eq(descriptors.run),
                mover.issue.eq(descriptors.run),
                mover.reset.eq(descriptors.forget),
            ]
        self.comb += [
            self.reader.boundary.eq(at_most(longest_read, self.max_request_size)),
            self.writer.boundary.eq(self.max_payload_size),
        ]
