#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Framing: packets between STP or SDP and END or EDB, two symbols per cycle (PCIe 2.1 4.2.2)."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.endpoint.serdes.interface import EDB, END, SDP, STP

RX_FRAME = [("data", 16), ("dllp", 1), ("edb", 1), ("error", 1)]
TX_FRAME = [("data", 16), ("dllp", 1), ("edb", 1)]

# Transmitter --------------------------------------------------------------------------------------


class FrameTransmitter(LiteXModule):
    """Makes symbols of packets. STP and SDP are always in the lower half of a pair, END and EDB in the upper one.

    A packet of n words has n + 1 pairs, one in each cycle, if the sink has a word in each cycle.

    Attributes
    ----------
    sink   : stream of TX_FRAME, **in**, ``sys``; ``edb`` counts with ``last``: the packet is nullified. There is no
             cycle without a word inside a packet.
    active : 1, **in**; L0. Without it, packets are taken and dropped, also the rest of one that was begun.
    hold   : 1, **in**; no packet begins, because an ordered set goes first.
    valid  : 1, **out**; there is a pair of a packet. It is to be sent in this cycle.
    data, k: 16, 2, **out**.
    """
    def __init__(self):
        self.sink   = sink = stream.Endpoint(TX_FRAME)
        self.active = Signal()
        self.hold   = Signal()
        self.valid  = Signal()
        self.data   = Signal(16)
        self.k      = Signal(2)

        # # #

        inside   = Signal()   # Words of a packet are missing.
        dropping = Signal()
        end      = Signal()   # Its END is missing.
        upper    = Signal(8)  # Of the word before.
        nullify  = Signal()
        take     = Signal()
        self.comb += [
            sink.ready.eq(~end & (inside | dropping | ~self.active | ~self.hold)),
            take.eq(sink.valid & sink.ready),
            self.valid.eq(self.active & (end | (take & ~dropping))),
            If(end,
                self.data.eq(Cat(upper, Mux(nullify, C(EDB, 8), C(END, 8)))),
                self.k.eq(0b10),
            ).Elif(inside,
                self.data.eq(Cat(upper, sink.data[:8])),
            ).Else(
                self.data.eq(Cat(Mux(sink.dllp, C(SDP, 8), C(STP, 8)), sink.data[:8])),
                self.k.eq(0b01),
            ),
        ]
        self.sync += [
            end.eq(0),
            If(take,
                upper.eq(sink.data[8:]),
                nullify.eq(sink.edb),
                inside.eq(self.active & ~dropping & ~sink.last),
                end.eq(self.active & ~dropping & sink.last),
                dropping.eq((dropping | ~self.active) & ~sink.last),
            ).Elif(~self.active & inside,
                inside.eq(0),
                dropping.eq(1),
            ),
        ]

# Receiver -----------------------------------------------------------------------------------------


class FrameReceiver(LiteXModule):
    """Finds packets in symbols, with STP and SDP in either half of a pair.

    Each packet with a word gets its ``last``. ``error`` says that a symbol of it was wrong, that it has an odd number
    of bytes, or that another control symbol came before its end; it counts with ``last``, like ``edb``.

    Between two packets is at least one cycle without a word. So a packet whose STP or SDP comes in the place of an END,
    behind a word in the same pair, is lost with the one that has no end.

    Attributes
    ----------
    valid, data, k, error : 1, 16, 2, 2, **in**, ``sys``; symbols and their errors, behind the descrambler.
    listen    : 1, **in**; packets may come (L0). When it falls, a packet that was begun ends with an error.
    source    : stream of RX_FRAME, **out**; always taken.
    malformed : 2, **out**; pulses, as two packets can end in a pair: one had no end, no bytes or an odd number of them.
    """
    def __init__(self):
        self.valid     = Signal()
        self.data      = Signal(16)
        self.k         = Signal(2)
        self.error     = Signal(2)
        self.listen    = Signal()
        self.source    = source = stream.Endpoint(RX_FRAME)
        self.malformed = Signal(2)

        # # #

        # What a symbol is, a cycle before it counts.
        valid = Signal()
        data  = Signal(16)
        kinds = [Record([(name, 1) for name in ("plain", "stp", "sdp", "end", "edb", "error")], name=f"symbol{n}")
            for n in range(2)]
        self.sync += [valid.eq(self.valid), data.eq(self.data)]
        for n, kind in enumerate(kinds):
            symbol, control = self.data[8*n:8*n + 8], self.k[n] & ~self.error[n]
            self.sync += [
                kind.plain.eq(~control),
                kind.error.eq(self.error[n]),
                *[getattr(kind, name).eq(control & (symbol == code))
                    for name, code in (("stp", STP), ("sdp", SDP), ("end", END), ("edb", EDB))],
            ]

        # The packet that symbols belong to.
        state = [("inside", 1), ("dllp", 1), ("odd", 1), ("byte", 8), ("bad", 1), ("words", 1)]
        now   = Record(state, name="now")
        # A word whose successor is not known.
        held  = Record([("valid", 1), ("data", 16), ("dllp", 1), ("first", 1), ("ended", 1), ("edb", 1), ("error", 1)],
            name="held")
        word, push, first_word = Signal(16), Signal(), Signal()
        finish, edb, error     = Signal(), Signal(), Signal()
        malformed = Signal(2)
        before    = now
        for n, kind in enumerate(kinds):
            after  = Record(state, name=f"after{n}")
            symbol = data[8*n:8*n + 8]
            begins, ends, broken = Signal(), Signal(), Signal()
            self.comb += [
                begins.eq(kind.stp | kind.sdp),
                ends.eq(before.inside & ~kind.plain),
                broken.eq(ends & (before.odd | ~before.words | ~(kind.end | kind.edb))),
                [getattr(after, name).eq(getattr(before, name)) for name, _ in state],
                If(before.inside & kind.plain,
                    after.odd.eq(~before.odd),
                    after.byte.eq(symbol),
                    If(kind.error, after.bad.eq(1)),
                    If(before.odd,
                        push.eq(1),
                        word.eq(Cat(before.byte, symbol)),
                        first_word.eq(~before.words),
                        after.words.eq(1),
                    ),
                ),
                If(ends,
                    after.inside.eq(0),
                    malformed[n].eq(broken),
                    If(before.words,
                        finish.eq(1),
                        edb.eq(kind.edb),
                        error.eq(before.bad | broken),
                    ),
                ),
                # In the second symbol, only if there is a cycle between the packets.
                If(begins & (~push if n else 1),
                    after.inside.eq(1),
                    after.dllp.eq(kind.sdp),
                    after.odd.eq(0),
                    after.bad.eq(0),
                    after.words.eq(0),
                ),
            ]
            before = after
        counts = valid & self.listen
        self.sync += [
            self.malformed.eq(0),
            source.valid.eq(0),
            If(held.valid & (held.ended | (counts & (push | finish))),
                source.valid.eq(1),
                source.first.eq(held.first),
                source.last.eq(held.ended | ~push),
                source.data.eq(held.data),
                source.dllp.eq(held.dllp),
                source.edb.eq(Mux(held.ended, held.edb, edb)),
                source.error.eq(Mux(held.ended, held.error, error)),
                held.valid.eq(0),
                held.ended.eq(0),
            ),
            If(~self.listen,
                now.inside.eq(0),
                # The end of what was begun.
                If(now.inside & now.words,
                    held.ended.eq(1),
                    held.edb.eq(0),
                    held.error.eq(1),
                ),
            ).Elif(valid,
                now.eq(before),
                self.malformed.eq(malformed),
                If(push,
                    held.valid.eq(1),
                    held.data.eq(word),
                    held.first.eq(first_word),
                    held.dllp.eq(now.dllp),
                ),
                # Else the last word leaves in this cycle.
                If(finish & push,
                    held.ended.eq(1),
                    held.edb.eq(edb),
                    held.error.eq(error),
                ),
            ),
        ]
