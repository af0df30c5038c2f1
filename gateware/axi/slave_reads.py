#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Read channels of an AXI4 slave: bursts become transfers into a RAM, whose words become beats."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream
from litex.soc.interconnect.axi import RESP_OKAY, RESP_SLVERR

from litepcie_soc.axi.address import PAGE_BITS, next_beat

# Layouts ------------------------------------------------------------------------------------------


def transfer_layout(address_width, tag_bits):
    """Bytes between the memory behind the slave and its RAM."""
    return [
        ("address",  address_width),
        ("endpoint", 32),            # Byte address in the RAM, whose size it may exceed by one transfer: it wraps.
        ("length",   PAGE_BITS + 1), # 0 for a burst that is bad.
        ("tag",      tag_bits),
    ]

# Read Bursts --------------------------------------------------------------------------------------


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
