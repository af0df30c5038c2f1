#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Endpoint memory behind an AXI4 master port."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.memory_ports import (
    OUTCOME_BITS, MemoryOutcome, memory_command_layout, memory_write_layout, word_address_width,
)
from litepcie_soc.ddr.scheduler import BurstArbiter
from litepcie_soc.memory.bram import EndpointMemory

# Bursts -------------------------------------------------------------------------------------------
# Bursts on the channels of an AXI4 master, made of single words (Arm IHI 0022H, A3.4).

BURST      = 16  # Most beats of a burst. It does not cross a multiple of its size, so at 512 bits no 4 KiB boundary.
BURSTS     = 32  # Most bursts of writes whose response is outstanding.
WRITE_IDLE = 8   # Cycles without a word after which a burst ends.
READ_IDLE  = 2

LEN_BITS   = log2_int(BURST)

# Burst Former -------------------------------------------------------------------------------------


class BurstFormer(LiteXModule):
    """Marks the last word of each burst: words of one client at consecutive addresses, without a long pause.

    Parameters
    ----------
    layout : of a word, with ``address`` and ``client``.
    idle   : cycles after which a burst ends without a further word.

    Attributes
    ----------
    sink   : Endpoint(layout), **in**.
    source : Endpoint(layout), **out**, one word behind; ``start`` is the address of the burst's first word, and ``len``
        the number of its words before this one.
    """
    def __init__(self, layout, idle):
        width       = dict((name, bits) for name, bits in layout)["address"]
        self.sink   = sink   = stream.Endpoint(layout)
        self.source = source = stream.Endpoint([*layout, ("start", width), ("len", LEN_BITS)])

        # # #

        held  = Record(layout)
        full  = Signal()
        next_ = Signal(width)
        count = Signal(LEN_BITS)
        start = Signal(width)
        pause = Signal(max=idle + 1)
        joins = Signal()
        over  = Signal()
        self.comb += [
            joins.eq((sink.client == held.client) & (sink.address == next_) & (next_[:LEN_BITS] != 0)),
            over.eq(pause == idle),
            source.valid.eq(full & (sink.valid | over)),
            source.last.eq(~(sink.valid & joins)),
            *[getattr(source, name).eq(getattr(held, name)) for name, _ in layout],
            source.start.eq(start),
            source.len.eq(count),
            sink.ready.eq(~full | (source.valid & source.ready)),
        ]
        self.sync += If(sink.valid & sink.ready,
            full.eq(1),
            *[getattr(held, name).eq(getattr(sink, name)) for name, _ in layout],
            next_.eq(sink.address + 1),
            pause.eq(0),
            If(full & joins,
                count.eq(count + 1)
            ).Else(
                count.eq(0),
                start.eq(sink.address)
            )
        ).Elif(source.valid & source.ready,
            full.eq(0)
        ).Elif(full & ~over,
            pause.eq(pause + 1)
        )

# Burst Writer -------------------------------------------------------------------------------------


class BurstWriter(LiteXModule):
    """Writes words in bursts, and counts those that were stored.

    Parameters
    ----------
    data_width, size : of the memory, bits and bytes.
    clients          : number of clients.

    Attributes
    ----------
    sink     : Endpoint(``address``, ``dat``, ``be``, ``client``), **in**.
    aw       : Endpoint(``address``, ``len``), **out**; word address, beats less one.
    w        : Endpoint(``data``, ``strb``), **out**, not before the burst's address was taken.
    b        : Endpoint(``resp``), **in**, in the order of ``aw``.
    accepted : Signal(OUTCOME_BITS), **out**, words taken in earlier cycles.
    stored   : Signal(OUTCOME_BITS), **out**, of these, words whose response has come.
    failed   : list of Signal(), **out**, by client, one cycle: an error response to its words.
    broken   : Signal(), **in**, nothing leaves any more, and all words fail at once.
    """
    def __init__(self, data_width, size, clients):
        width         = word_address_width(data_width, size)
        who           = ("client", bits_for(clients - 1))
        self.sink     = sink = stream.Endpoint(
            [("address", width), ("dat", data_width), ("be", data_width // 8), who])
        self.aw       = aw = stream.Endpoint([("address", width), ("len", LEN_BITS)])
        self.w        = w  = stream.Endpoint([("data", data_width), ("strb", data_width // 8)])
        self.b        = b  = stream.Endpoint([("resp", 2)])
        self.accepted = Signal(OUTCOME_BITS)
        self.stored   = Signal(OUTCOME_BITS)
        self.failed   = [Signal() for _ in range(clients)]
        self.broken   = broken = Signal()

        # # #

        self.former    = former    = BurstFormer(sink.description.payload_layout, WRITE_IDLE)
        self.words     = words     = stream.SyncFIFO(w.description, 4*BURST, buffered=True)
        self.addresses = addresses = stream.SyncFIFO(aw.description, 4)
        self.bursts    = bursts    = stream.SyncFIFO([("len", LEN_BITS), who], BURSTS)
        word  = former.source
        go    = Signal()
        open_ = Signal(max=BURSTS + 1)  # Bursts whose address was taken, with words left.
        began = Signal()
        ended = Signal()
        ends  = Signal()
        self.comb += [
            sink.connect(former.sink),
            go.eq(word.valid & words.sink.ready & (~word.last | (addresses.sink.ready & bursts.sink.ready))),
            word.ready.eq(go),
            words.sink.valid.eq(go),
            words.sink.last.eq(word.last),
            words.sink.data.eq(word.dat),
            words.sink.strb.eq(word.be),
            addresses.sink.valid.eq(go & word.last),
            addresses.sink.address.eq(word.start),
            addresses.sink.len.eq(word.len),
            bursts.sink.valid.eq(go & word.last),
            bursts.sink.len.eq(word.len),
            bursts.sink.client.eq(word.client),
            addresses.source.connect(aw, omit={"valid", "ready"}),
            aw.valid.eq(addresses.source.valid & ~broken),
            addresses.source.ready.eq(aw.ready | broken),
            began.eq(addresses.source.valid & addresses.source.ready),
            words.source.connect(w, omit={"valid", "ready"}),
            w.valid.eq(words.source.valid & (open_ != 0) & ~broken),
            words.source.ready.eq((w.ready | broken) & (open_ != 0)),
            ended.eq(words.source.valid & words.source.ready & words.source.last),
            b.ready.eq(1),
            bursts.source.ready.eq(b.valid | broken),
            ends.eq(bursts.source.valid & bursts.source.ready),
            *[failed.eq(ends & (b.resp[1] | broken) & (bursts.source.client == n))
                for n, failed in enumerate(self.failed)],
        ]
        self.sync += [
            open_.eq(open_ + began - ended),
            If(sink.valid & sink.ready, self.accepted.eq(self.accepted + 1)),
            If(ends, self.stored.eq(self.stored + bursts.source.len + 1)),
        ]

# Burst Reader -------------------------------------------------------------------------------------


class BurstReader(LiteXModule):
    """Reads words in bursts. A read waits until the words that were accepted before it are stored.

    Parameters
    ----------
    data_width, size : of the memory, bits and bytes.
    clients          : number of clients.
    writer           : ``BurstWriter`` of the same memory.

    Attributes
    ----------
    sink : Endpoint(``address``, ``client``), **in**.
    ar   : Endpoint(``address``, ``len``), **out**; word address, beats less one.
    """
    def __init__(self, data_width, size, clients, writer):
        width     = word_address_width(data_width, size)
        who       = ("client", bits_for(clients - 1))
        self.sink = sink = stream.Endpoint([("address", width), who])
        self.ar   = ar   = stream.Endpoint([("address", width), ("len", LEN_BITS)])

        # # #

        self.former = former = BurstFormer([*sink.description.payload_layout, ("ticket", OUTCOME_BITS)], READ_IDLE)
        self.bursts = bursts = stream.SyncFIFO([*ar.description.payload_layout, ("ticket", OUTCOME_BITS)], 16)
        word   = former.source
        behind = Signal(OUTCOME_BITS)
        self.comb += [
            sink.connect(former.sink, omit={"ticket"}),
            former.sink.ticket.eq(writer.accepted),
            bursts.sink.valid.eq(word.valid & word.last),
            bursts.sink.address.eq(word.start),
            bursts.sink.len.eq(word.len),
            bursts.sink.ticket.eq(word.ticket),
            word.ready.eq(~word.last | bursts.sink.ready),
            behind.eq(writer.stored - bursts.source.ticket),
            bursts.source.connect(ar, omit={"valid", "ready", "ticket"}),
            ar.valid.eq(bursts.source.valid & ~behind[-1] & ~writer.broken),
            bursts.source.ready.eq((ar.ready & ~behind[-1]) | writer.broken),
        ]

# Memory -------------------------------------------------------------------------------------------


class AXIMemory(EndpointMemory):
    """Has the client ports of ``EndpointMemory``, for a memory outside that an AXI4 slave gives.

    A word counts as written when the slave has answered its burst, and a read waits for the words accepted before it:
    so reads see them, whatever the slave's order between writes and reads. All transactions have one ID, so the slave
    answers them in order. There is room for the answer to every read: ``r`` never stalls.

    Each port of a client has an ``outcome``. The host's accesses through the window have no way to tell of an error:
    ``failed`` does.

    If something is outstanding and nothing moves for ``timeout`` cycles, then what is outstanding fails, and each
    access from then on, until the core is reset. So a memory that does not answer holds up the link for no longer.

    Parameters
    ----------
    size       : bytes, a power of two.
    data_width : bits of a word (64, 128, 256, 512).
    read_ahead : words that each client can have outstanding. Reads move one word per cycle up to that latency.
    timeout    : cycles.

    Attributes
    ----------
    aw, ar : Endpoint(``address``, ``len``), **out**, word address and beats less one.
    w      : Endpoint(``data``, ``strb``), **out**, with ``last``.
    b      : Endpoint(``resp``), **in**.
    r      : Endpoint(``data``, ``resp``), **in**.
    failed : Signal(), **out**, one cycle: an access was answered with an error. High from the time-out on.
    ready  : Signal(), **out**, there was no time-out; without it, the card reports that it has no memory.
    """
    def __init__(self, size, data_width, read_ahead, timeout):
        EndpointMemory.__init__(self, size, data_width)
        address     = [*memory_command_layout(data_width, size), ("len", LEN_BITS)]
        self.PLACES = read_ahead
        self.timeout = timeout
        self.ready  = Signal(reset=1)
        self.aw     = stream.Endpoint(address)
        self.w      = stream.Endpoint([("data", data_width), ("strb", data_width // 8)])
        self.b      = stream.Endpoint([("resp", 2)])
        self.ar     = stream.Endpoint(address)
        self.r      = stream.Endpoint([("data", data_width), ("resp", 2)])
        self.failed = Signal()

    def add_write_port(self):
        port = EndpointMemory.add_write_port(self)
        port.outcome = MemoryOutcome(counts=True)
        return port

    def add_read_port(self):
        port = EndpointMemory.add_read_port(self)
        port.outcome = MemoryOutcome(counts=False)
        return port

    def burst_arbiter(self, clients, layout):
        """Returns an arbiter that changes the client where a burst may end, and when the client pauses."""
        arbiter = BurstArbiter(layout, len(clients))
        for client, sink in zip(clients, arbiter.sinks):
            self.comb += [
                client.connect(sink, omit={"last"}),
                sink.last.eq(sink.address[:LEN_BITS] == BURST - 1),
            ]
        return arbiter

    def do_finalize(self):
        self.finalize_writes()
        self.finalize_reads()
        self.finalize_timeout()
        self.sync += self.failed.eq((self.b.valid & self.b.resp[1]) | (self.r.valid & self.r.resp[1]) | ~self.ready)

    def finalize_timeout(self):
        waiting = Signal(max=self.timeout + 1)
        moves   = [self.b.valid, self.r.valid]
        moves  += [channel.valid & channel.ready for channel in (self.aw, self.w, self.ar)]
        self.comb += self.writer.broken.eq(~self.ready)
        self.sync += [
            If(Reduce("OR", moves) | ~(self.writer.bursts.source.valid | self.order.source.valid),
                waiting.eq(0)
            ).Elif(waiting != self.timeout,
                waiting.eq(waiting + 1)
            ).Else(
                self.ready.eq(0)
            )
        ]

    def finalize_writes(self):
        # No register after the arbiter: a word counts from the cycle in which its client gives it.
        self.writes = self.burst_arbiter(self._writes, memory_write_layout(self.data_width, self.size))
        self.writer = writer = BurstWriter(self.data_width, self.size, len(self._writes))
        self.comb  += [
            self.writes.source.connect(writer.sink, omit={"client"}),
            writer.sink.client.eq(self.writes.grant),
            writer.aw.connect(self.aw),
            writer.w.connect(self.w),
            self.b.connect(writer.b),
        ]
        for client, failed in zip(self._writes, writer.failed):
            self.comb += [
                client.outcome.failed.eq(failed),
                client.outcome.accepted.eq(writer.accepted),
                client.outcome.stored.eq(writer.stored),
            ]

    def finalize_reads(self):
        clients     = self._reads
        self.reads  = self.burst_arbiter([client.command for client in clients],
            memory_command_layout(self.data_width, self.size))
        self.reader = reader = BurstReader(self.data_width, self.size, len(clients), self.writer)
        # Clients of the outstanding words, in order; one place per outstanding word.
        self.order  = order = stream.SyncFIFO([("client", len(self.reads.grant))], self.PLACES * len(clients))
        self.comb  += [
            self.reads.source.connect(reader.sink, omit={"client"}),
            reader.sink.client.eq(self.reads.grant),
            order.sink.valid.eq(self.reads.source.valid & self.reads.source.ready),
            order.sink.client.eq(self.reads.grant),
            reader.ar.connect(self.ar),
            self.r.ready.eq(1),
            order.source.ready.eq(self.r.valid | ~self.ready),
        ]
        for n, client in enumerate(clients):
            mine = order.source.valid & order.source.ready & (order.source.client == n)
            self.comb += [
                client.returned.valid.eq(mine),
                client.returned.dat.eq(self.r.data),
                client.stream.outcome.failed.eq(mine & (self.r.resp[1] | ~self.ready)),
            ]
