#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""AXI4 slave onto a RAM: bursts are checked and become transfers (AMBA AXI, ARM IHI 0022, A3)."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream
from litex.soc.interconnect.axi import BURST_FIXED, BURST_INCR, BURST_RESERVED, BURST_WRAP, RESP_OKAY, RESP_SLVERR

# Addresses ----------------------------------------------------------------------------------------
# Address channels of an AXI4 slave: what a burst reaches, and whether AXI4 allows it (ARM IHI 0022, A3.4.1).

PAGE_BITS = 12  # No burst crosses a multiple of 4 KiB.
SIZE_MAX  = 7   # AxSIZE of 128 bytes, the largest one that there is.

# Layouts ------------------------------------------------------------------------------------------


def burst_layout(id_width, address_width):
    """A burst of which the slave knows what it reaches. ``spot``, ``low`` and ``mask`` are those of ``next_beat``."""
    return [
        ("id",      id_width),
        ("address", address_width),  # Of the lowest byte that the burst reaches.
        ("bytes",   PAGE_BITS + 1),  # That it reaches; 0 if it is bad.
        ("len",     8),              # Beats, less one.
        ("spot",    PAGE_BITS),      # Address of the first beat in its page.
        ("low",     SIZE_MAX),       # Bytes of a beat, less one.
        ("mask",    PAGE_BITS),      # Bits of the address that change from beat to beat.
        ("bad",     1),              # AXI4 does not allow the burst, or its beats are wider than the data.
    ]


def next_beat(place, low, mask):
    """Expression: the address of the beat after the one at ``place``, in the same page."""
    return (place & ~mask) | (((place | low) + 1) & mask)

# Burst Checker ------------------------------------------------------------------------------------


class BurstChecker(LiteXModule):
    """Takes a burst from an address channel every four cycles.

    Parameters
    ----------
    channel    : ``aw`` or ``ar`` of an ``AXIInterface``.
    data_width : bits of the data.

    Attributes
    ----------
    source : Endpoint(burst_layout), **out**.
    """
    def __init__(self, channel, data_width):
        self.source = source = stream.Endpoint(burst_layout(len(channel.id), len(channel.addr)))

        # # #

        size  = Signal(3)
        burst = Signal(2)
        start = Signal.like(channel.addr)
        span  = Signal(9 + SIZE_MAX)    # Bytes of all beats.
        inner = Signal(SIZE_MAX)        # Place of the first byte in its beat.
        end   = Signal(10 + SIZE_MAX)   # Of an INCR burst in its page.
        wraps = Signal()                # The length of a WRAP burst is allowed.
        block = Signal(PAGE_BITS)       # Bytes of all beats, less one, of a WRAP burst.
        self.comb += [
            inner.eq(start & source.low),
            end.eq((start[:PAGE_BITS] & ~source.low) + span),
            block.eq(span - 1),
            wraps.eq(Reduce("OR", [source.len == beats - 1 for beats in (2, 4, 8, 16)])),
        ]
        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            channel.ready.eq(1),
            NextValue(start, channel.addr),
            NextValue(size,  channel.size),
            NextValue(burst, channel.burst),
            NextValue(source.id,  channel.id),
            NextValue(source.len, channel.len),
            If(channel.valid, NextState("SPAN"))
        )
        fsm.act("SPAN",
            NextValue(span, (source.len + 1) << size),
            NextValue(source.low, (1 << size) - 1),
            NextState("CHECK")
        )
        fsm.act("CHECK",
            NextValue(source.spot, start),
            NextValue(source.address, start),
            NextValue(source.bad, size > log2_int(data_width // 8)),
            Case(burst, {
                BURST_FIXED: [
                    NextValue(source.mask, 0),
                    NextValue(source.bytes, source.low - inner + 1),
                ],
                BURST_INCR: [
                    NextValue(source.mask, 2**PAGE_BITS - 1),
                    NextValue(source.bytes, span - inner),
                    If(end > 1 << PAGE_BITS, NextValue(source.bad, 1)),
                ],
                BURST_WRAP: [
                    NextValue(source.mask, block),
                    NextValue(source.bytes, span),
                    NextValue(source.address, start & ~block),
                    If(~wraps | (inner != 0), NextValue(source.bad, 1)),
                ],
                BURST_RESERVED: NextValue(source.bad, 1),
            }),
            NextState("GIVE")
        )
        fsm.act("GIVE",
            source.valid.eq(1),
            If(source.ready, NextState("IDLE"))
        )

# Reads --------------------------------------------------------------------------------------------
# Read channels of an AXI4 slave: bursts become transfers into a RAM, whose words become beats.


def transfer_layout(address_width, tag_bits):
    """Bytes between the memory behind the slave and its RAM."""
    return [
        ("address",  address_width),
        ("endpoint", 32),            # Byte address in the RAM, whose size it may exceed by one transfer: it wraps.
        ("length",   PAGE_BITS + 1), # 0 for a burst that is bad.
        ("tag",      tag_bits),
    ]


class ReadBursts(LiteXModule):
    """Reserves room in the RAM for each burst, asks for its bytes, and gives its beats when all of them are there.

    Bursts are answered in their order. All beats of a burst have the same response.

    Parameters
    ----------
    bursts : Endpoint(burst_layout), from a ``BurstChecker``.
    r      : data channel of the ``AXIInterface``.
    memory : MemoryReadStream of the RAM.
    slots  : bursts outstanding, a power of two.

    Attributes
    ----------
    source : Endpoint(transfer_layout), **out**.
    ended  : Signal(), **in**, one cycle: the transfer with ``tag`` has ended; it ``failed``.
    """
    def __init__(self, bursts, r, memory, slots):
        tag_bits    = log2_int(slots)
        self.source = source = stream.Endpoint(transfer_layout(len(bursts.address), tag_bits))
        self.ended  = Signal()
        self.tag    = Signal(tag_bits)
        self.failed = Signal()

        # # #

        lanes     = log2_int(memory.data_width // 8)
        ring_bits = log2_int(memory.size) - lanes
        # Bursts that were asked for.
        self.waiting = waiting = stream.SyncFIFO([("id", len(bursts.id)), ("len", 8), ("spot", PAGE_BITS),
            ("low", len(bursts.low)), ("mask", PAGE_BITS), ("shift", ring_bits), ("words", ring_bits + 1)], slots)
        done, failed = Signal(slots), Signal(slots)
        free    = Signal(ring_bits + 1, reset=1 << ring_bits)   # Words of the RAM.
        place   = Signal(ring_bits)                             # The next one.
        words   = Signal(ring_bits + 1)                         # That the burst wants.
        head    = Signal(tag_bits)                              # The burst that is answered next.
        end     = Signal(PAGE_BITS + 2)                         # Of its bytes, up to the next word.
        push    = Signal()
        given   = Signal(ring_bits + 1)                         # Words that are free again.
        change  = Signal((ring_bits + 2, True))
        self.comb += [
            end.eq(bursts.address[:lanes] + bursts.bytes + 2**lanes - 1),
            source.address.eq(bursts.address),
            source.endpoint.eq(Cat(bursts.address[:lanes], place)),
            source.length.eq(Mux(bursts.bad, 0, bursts.bytes)),
            waiting.sink.shift.eq(place - bursts.address[lanes:PAGE_BITS]),
            waiting.sink.words.eq(words),
            *[getattr(waiting.sink, name).eq(getattr(bursts, name)) for name in ("id", "len", "spot", "low", "mask")],
            push.eq(source.valid & source.ready),
            waiting.sink.valid.eq(push),
            bursts.ready.eq(push),
        ]
        self.fsm = fsm = FSM(reset_state="COUNT")
        fsm.act("COUNT",
            NextValue(words, Mux(bursts.bad, 0, end[lanes:])),
            If(bursts.valid, NextState("ASK"))
        )
        fsm.act("ASK",
            source.valid.eq(waiting.sink.ready & (free >= words)),
            If(push, NextState("COUNT"))
        )
        self.sync += [
            If(push,
                place.eq(place + words),
                source.tag.eq(source.tag + 1),
                done.eq(done & ~(1 << source.tag)),
            ),
            If(self.ended,
                done.eq((done & ~Mux(push, 1 << source.tag, 0)) | (1 << self.tag)),
                failed.eq((failed & ~(1 << self.tag)) | (self.failed << self.tag)),
            ),
            # The next burst asks two cycles later: `free` is right by then.
            change.eq(given - Mux(push, words, 0)),
            free.eq(free + change),
        ]
        over, wrong = Signal(), Signal()
        self.comb += [over.eq(done & (1 << head) != 0), wrong.eq(failed & (1 << head) != 0)]
        self.add_beats(r, memory, head, over, wrong, given)

    def add_beats(self, r, memory, head, done, failed, given):
        burst   = self.waiting.source
        lanes   = log2_int(memory.data_width // 8)
        active  = Signal()
        now     = Record(burst.description.payload_layout)
        wrong   = Signal()
        load, step = Signal(), Signal()
        self.beats = beats = stream.SyncFIFO([("id", len(r.id)), ("resp", 2), ("end", 1)], memory.in_flight)
        command, data = memory.command, memory.data
        self.comb += [
            load.eq(burst.valid & done & (~active | (step & (now.len == 0)))),
            burst.ready.eq(load),
            command.valid.eq(active & beats.sink.ready),
            command.address.eq(now.spot[lanes:] + now.shift),
            step.eq(command.valid & command.ready),
            beats.sink.valid.eq(step),
            beats.sink.id.eq(now.id),
            beats.sink.resp.eq(Mux(wrong, RESP_SLVERR, RESP_OKAY)),
            beats.sink.end.eq(now.len == 0),
            given.eq(Mux(step & (now.len == 0), now.words, 0)),
            r.valid.eq(data.valid),
            r.data.eq(data.dat),
            r.id.eq(beats.source.id),
            r.resp.eq(beats.source.resp),
            r.last.eq(beats.source.end),
            data.ready.eq(r.ready),
            beats.source.ready.eq(r.valid & r.ready),
        ]
        self.sync += [
            If(step,
                now.spot.eq(next_beat(now.spot, now.low, now.mask)),
                now.len.eq(now.len - 1),
                If(now.len == 0, active.eq(0))
            ),
            If(load,
                active.eq(1),
                head.eq(head + 1),
                wrong.eq(failed),
                *[getattr(now, name).eq(getattr(burst, name)) for name, *_ in now.layout],
            ),
        ]

# Writes -------------------------------------------------------------------------------------------
# Write channels of an AXI4 slave: beats go into a RAM, and each run of adjacent bytes becomes a transfer.


def number_of(bits):
    """Expression: the number of the only bit that is set."""
    return Cat(*[Reduce("OR", [bits[n] for n in range(len(bits)) if n >> place & 1])
        for place in range(log2_int(len(bits)))])

# Strobe Runs --------------------------------------------------------------------------------------


class StrobeRuns(LiteXModule):
    """Gives each beat as parts with one run of adjacent bytes, or none.

    A beat whose bytes are adjacent is one part, and moves in a cycle. Another beat is a part for each of its lanes.

    Attributes
    ----------
    sink   : Endpoint, **in**: ``dat``, ``be``, and ``params``; ``be`` is 0 in no other way than by the strobes.
    source : Endpoint, **out**: the same, with the lanes ``start`` and ``end`` of the run, both included, ``none``, and
        ``final`` in the last part of a beat.
    """
    def __init__(self, data_width, params):
        count = data_width // 8
        lanes = log2_int(count)
        word  = [("dat", data_width), ("be", count), *params]
        self.sink   = sink   = stream.Endpoint(word)
        self.source = source = stream.Endpoint([*word, ("start", lanes), ("end", lanes), ("none", 1), ("final", 1)])

        # # #

        # The beat, then its scan, in two registers; a part in a third.
        beat  = stream.Endpoint(word)
        scan  = stream.Endpoint([*source.description.payload_layout, ("single", 1)])
        lane  = Signal(lanes)   # Of the part, if the beat is divided.
        rise  = Signal(count)   # Lanes where a run begins, and where one ends.
        fall  = Signal(count)
        whole = Signal()
        last  = Signal()
        bit   = Signal(count)   # Of the lane.
        names = [name for name, *_ in word]
        def copy(to, of, names=names):
            return [getattr(to, name).eq(getattr(of, name)) for name in names]
        self.comb += [
            rise.eq(beat.be & ~Cat(C(0, 1), beat.be[:-1])),
            fall.eq(beat.be & ~Cat(beat.be[1:], C(0, 1))),
            whole.eq(scan.single | scan.none),
            last.eq(whole | (lane == count - 1)),
            bit.eq(scan.be & (1 << lane)),
            scan.ready.eq((~source.valid | source.ready) & last),
            beat.ready.eq(~scan.valid | scan.ready),
            sink.ready.eq(~beat.valid | beat.ready),
        ]
        self.sync += [
            If(sink.ready,
                beat.valid.eq(sink.valid),
                *copy(beat, sink),
            ),
            If(beat.ready,
                scan.valid.eq(beat.valid),
                *copy(scan, beat),
                scan.start.eq(number_of(rise)),
                scan.end.eq(number_of(fall)),
                scan.none.eq(beat.be == 0),
                scan.single.eq((rise & (rise - 1)) == 0),
            ),
            If(~source.valid | source.ready,
                source.valid.eq(scan.valid),
                *copy(source, scan),
                source.final.eq(last),
                If(whole,
                    source.start.eq(scan.start),
                    source.end.eq(scan.end),
                    source.none.eq(scan.none)
                ).Else(
                    source.be.eq(bit),
                    source.start.eq(lane),
                    source.end.eq(lane),
                    source.none.eq(bit == 0),
                    If(scan.valid, lane.eq(lane + 1))
                )
            ),
        ]

# Write Bursts -------------------------------------------------------------------------------------


class WriteBursts(LiteXModule):
    """Puts the bytes of bursts into the RAM, and asks to write each run of them. ``b`` follows the last one of a burst.

    ``wlast`` is not used: ``awlen`` says the same. A burst without any byte is answered, and is no transfer. If a
    transfer of a burst fails, its answer is SLVERR.

    Parameters
    ----------
    bursts : Endpoint(burst_layout), from a ``BurstChecker``.
    w, b   : channels of the ``AXIInterface``.
    memory : MemoryWriteStream of the RAM, which has room for two pages.
    slots  : transfers outstanding, a power of two.

    Attributes
    ----------
    source : Endpoint(transfer_layout), **out**.
    ended  : Signal(), **in**, one cycle: the transfer with ``tag`` has ended; it ``failed``.
    """
    MARGIN = 4  # Words of the RAM that may be taken before `free` tells.

    def __init__(self, bursts, w, b, memory, slots):
        tag_bits    = log2_int(slots)
        self.source = stream.Endpoint(transfer_layout(len(bursts.address), tag_bits))
        self.ended  = Signal()
        self.tag    = Signal(tag_bits)
        self.failed = Signal()

        # # #

        self.lanes     = log2_int(memory.data_width // 8)
        self.ring_bits = log2_int(memory.size) - self.lanes
        self.add_beats(bursts, w, memory.data_width)
        self.add_runs(memory)
        self.add_transfers(b, slots)

    def add_beats(self, bursts, w, data_width):
        """Gives each beat its address."""
        active = Signal()
        now    = Record(bursts.description.payload_layout)
        load, step = Signal(), Signal()
        self.parts = parts = StrobeRuns(data_width, [("id", len(now.id)), ("word", PAGE_BITS - self.lanes),
            ("page", len(now.address) - PAGE_BITS), ("closes", 1), ("bad", 1)])
        self.comb += [
            load.eq(bursts.valid & (~active | (step & (now.len == 0)))),
            bursts.ready.eq(load),
            w.ready.eq(active & parts.sink.ready),
            parts.sink.valid.eq(active & w.valid),
            step.eq(w.valid & w.ready),
            parts.sink.dat.eq(w.data),
            parts.sink.be.eq(Mux(now.bad, 0, w.strb)),
            parts.sink.word.eq(now.spot[self.lanes:]),
            parts.sink.page.eq(now.address[PAGE_BITS:]),
            parts.sink.closes.eq(now.len == 0),
            parts.sink.id.eq(now.id),
            parts.sink.bad.eq(now.bad),
        ]
        self.sync += [
            If(step,
                now.spot.eq(next_beat(now.spot, now.low, now.mask)),
                now.len.eq(now.len - 1),
                If(now.len == 0, active.eq(0))
            ),
            If(load,
                active.eq(1),
                *[getattr(now, name).eq(getattr(bursts, name)) for name, *_ in now.layout],
            ),
        ]

    def add_runs(self, memory):
        """Joins parts to runs. A run is complete with the part that does not follow it, or with its burst."""
        part = self.parts.source
        ring = ("ring", self.ring_bits)
        self.runs = runs = stream.Buffer([("id", len(part.id)), ("page", len(part.page)), ("before", PAGE_BITS + 1),
            ("end", PAGE_BITS), ring, ("words", self.ring_bits), ("closes", 1), ("none", 1), ("bad", 1)])
        run    = runs.sink
        open_  = Signal()   # There is a run; with ``closes``, it is complete.
        before = Signal(PAGE_BITS + 1)  # The address before the part, less than 0 at the start of a page.
        last   = Signal()   # The part is the end of its burst.
        joins, same, begins, go, push = (Signal() for _ in range(5))
        place  = Signal(self.ring_bits, reset=2**self.ring_bits - 1)    # The last word taken.
        self.free  = free  = Signal(self.ring_bits + 1, reset=1 << self.ring_bits)
        self.given = given = Signal(self.ring_bits)     # Words that are free again.
        change = Signal((self.ring_bits + 2, True))
        room   = Signal()
        takes  = Signal()
        self.comb += [
            last.eq(part.closes & part.final),
            before.eq(Cat(part.start, part.word) - 1),
            joins.eq(open_ & ~run.closes & (Cat(run.end, C(0, 1)) == before)),
            same.eq(joins & (part.start != 0)),
            begins.eq(Mux(part.none, last & ~(open_ & ~run.closes), ~joins)),
            run.valid.eq(open_ & (run.closes | (part.valid & room & memory.ready & begins))),
            push.eq(run.valid & run.ready),
            go.eq(part.valid & room & memory.ready & (~open_ | ~(run.closes | begins) | push)),
            part.ready.eq(go),
            memory.valid.eq(go & ~part.none),
            takes.eq(go & ~part.none & ~same),
            memory.address.eq(Mux(same, place, place + 1)),
            memory.dat.eq(part.dat),
            memory.be.eq(part.be),
        ]
        self.sync += [
            room.eq(free > self.MARGIN),
            change.eq(given - takes),
            free.eq(free + change),
            If(takes, place.eq(place + 1)),
            If(push, open_.eq(0), run.closes.eq(0)),
            If(go,
                If(begins,
                    open_.eq(1),
                    run.id.eq(part.id),
                    run.page.eq(part.page),
                    run.before.eq(before),
                    run.ring.eq(place + 1),
                    run.words.eq(~part.none),
                    run.none.eq(part.none),
                    run.bad.eq(part.bad),
                    run.closes.eq(last),
                ).Elif(open_,
                    run.words.eq(run.words + takes),
                    run.closes.eq(run.closes | last),
                ),
                If(~part.none, run.end.eq(Cat(part.end, part.word))),
            ),
        ]

    def add_transfers(self, b, slots):
        """Asks for the runs, and answers their bursts."""
        run, source = self.runs.source, self.source
        self.order = order = stream.SyncFIFO([("id", len(run.id)), ("words", self.ring_bits), ("closes", 1)], slots)
        oldest     = order.source
        done, failed = Signal(slots), Signal(slots)
        head   = Signal.like(source.tag)
        skip   = Signal()   # There is nothing to write.
        push   = Signal()
        pop    = Signal()
        wrong  = Signal()   # A transfer of the burst has failed.
        over, bad = Signal(), Signal()  # The oldest transfer has ended; it, or one of its burst before it, has failed.
        start  = Signal(PAGE_BITS)
        self.comb += [
            over.eq(done & (1 << head) != 0),
            bad.eq(wrong | (failed & (1 << head) != 0)),
            skip.eq(run.none & ~run.bad),
            start.eq(run.before + 1),
            source.valid.eq(run.valid & order.sink.ready & ~skip),
            source.address.eq(Cat(start, run.page)),
            source.endpoint.eq(Cat(start[:self.lanes], run.ring)),
            source.length.eq(Mux(run.bad, 0, Cat(run.end, C(0, 1)) - run.before)),
            push.eq(run.valid & order.sink.ready & (skip | source.ready)),
            run.ready.eq(push),
            order.sink.valid.eq(push),
            order.sink.id.eq(run.id),
            order.sink.words.eq(run.words),
            order.sink.closes.eq(run.closes),
            pop.eq(oldest.valid & over & (~oldest.closes | ~b.valid | b.ready)),
            oldest.ready.eq(pop),
            self.given.eq(Mux(pop, oldest.words, 0)),
        ]
        self.sync += [
            If(push, source.tag.eq(source.tag + 1)),
            done.eq((done & ~Mux(push, 1 << source.tag, 0)) | Mux(push & skip, 1 << source.tag, 0)
                | Mux(self.ended, 1 << self.tag, 0)),
            failed.eq((failed & ~Mux(push, 1 << source.tag, 0)) | Mux(self.ended & self.failed, 1 << self.tag, 0)),
            If(b.ready, b.valid.eq(0)),
            If(pop,
                head.eq(head + 1),
                wrong.eq(~oldest.closes & bad),
                If(oldest.closes,
                    b.valid.eq(1),
                    b.id.eq(oldest.id),
                    b.resp.eq(Mux(bad, RESP_SLVERR, RESP_OKAY)),
                )
            ),
        ]
