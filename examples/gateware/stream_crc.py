#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A stream accelerator: the card computes the CRC-32 of each record that the host sends. See docs/own-logic.md.

    build/venv/bin/python examples/gateware/stream_crc.py
"""

import sys

from pathlib import Path

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream
from litex.soc.interconnect.csr import CSRStatus

from litepcie_sim.user import SimSoC, main
from litepcie_soc.stream_dma.port import StreamPort, port_layout

POLYNOMIAL = 0xedb88320  # CRC-32 of IEEE 802.3, least significant bit first, as zlib.crc32().
RESULTS    = 256         # CRCs in a packet to the host, at most.


def after(state, data):
    """The next 32 bits of the CRC after the bits of ``data``, each as a set of bits whose exclusive or it is."""
    bits = [{bit} for bit in state]
    for bit in data:
        out, bits = bits[0] ^ {bit}, [*bits[1:], set()]
        bits = [old ^ out if POLYNOMIAL >> n & 1 else old for n, old in enumerate(bits)]
    return bits


class CRC(LiteXModule):
    """CRC-32 of packets, a beat per cycle.

    A packet of results ends when no record waits, or after 256: the host gets them soon, but not one by one. A record
    that was cut, because its program was killed, gives no result. Results that wait when ``active`` ends are dropped.

    Attributes
    ----------
    sink   : Endpoint(``data``: data_width, ``be``), **in**, records.
    source : Endpoint(``data``: 32, ``be``), **out**, one beat for each record.
    active : Signal(), **in**, a program receives the results: ``sink_active`` of the port.
    """
    def __init__(self, data_width):
        self.sink   = sink   = stream.Endpoint(port_layout(data_width))
        self.source = source = stream.Endpoint(port_layout(32))
        self.active = active = Signal()
        self.beats  = CSRStatus(32, description="Beats that were taken, modulo 2^32.")
        self.cycles = CSRStatus(32, description="Cycles from the first beat to the last one, modulo 2^32.")

        # # #

        lanes = data_width // 8
        state, start, value = Signal(32, reset=2**32 - 1), Signal(32), Signal(32)
        clock, taken, left  = Signal(32), Signal(), Signal()
        before    = Signal()  # `active` in the cycle before.
        clear     = ResetInserter()
        self.fifo = fifo = clear(stream.SyncFIFO([("data", 32)], 16))
        # Of each number of bytes: the exclusive or of bits of state and data. The byte enables choose one.
        names, signals = [("data", n) for n in range(data_width)], {"state": start, "data": sink.data}
        for count in range(1, lanes + 1):
            bits = after([("state", n) for n in range(32)], names[:8*count])
            here = sink.be[count - 1] & ~(sink.be[count] if count < lanes else 0)
            self.comb += If(here, [value[n].eq(Reduce("XOR", [signals[name][bit] for name, bit in sorted(bits[n])]))
                for n in range(32)])
        self.comb += [
            # Not the state after a record without an end.
            start.eq(Mux(sink.first, state.reset.value, state)),
            left.eq(before & ~active),
            fifo.reset.eq(left),
            sink.ready.eq(fifo.sink.ready),
            taken.eq(sink.valid & sink.ready),
            fifo.sink.valid.eq(taken & sink.last),
            fifo.sink.data.eq(~value),
        ]
        self.sync += [
            before.eq(active),
            If(taken, state.eq(Mux(sink.last, state.reset.value, value)), self.beats.status.eq(self.beats.status + 1)),
            If(taken | (clock != 0), clock.eq(clock + 1)),
            If(taken, self.cycles.status.eq(clock)),
        ]
        place = Signal(max=RESULTS)
        self.buffer = buffer = clear(stream.Buffer(source.description))
        self.comb += [
            buffer.reset.eq(left),
            fifo.source.connect(buffer.sink, omit={"last", "first"}),
            buffer.sink.be.eq(2**4 - 1),
            buffer.sink.first.eq(place == 0),
            buffer.sink.last.eq((place == RESULTS - 1) | ((fifo.level == 1) & ~sink.valid)),
            buffer.source.connect(source),
        ]
        self.sync += [
            If(buffer.sink.valid & buffer.sink.ready, place.eq(Mux(buffer.sink.last, 0, place + 1))),
            If(left, place.eq(0)),
        ]


class SoC(SimSoC):
    card = {"streams": 1, "user_bus": True}

    def __init__(self):
        SimSoC.__init__(self)
        self.crc   = CRC(128)
        self.port  = port = StreamPort(self.streams[0], 128, sink_width=32)
        self.comb += [port.source.connect(self.crc.sink), self.crc.source.connect(port.sink),
            self.crc.active.eq(port.sink_active)]


if __name__ == "__main__":
    folder = Path(__file__).resolve().parents[1] / "c"
    sys.exit(main(SoC, "stream_crc", [folder / "stream_crc.c"], "stream_crc"))
