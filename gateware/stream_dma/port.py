#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A stream channel as LiteX cores want it: with their width, in their clock domain, with their mark of a packet's end.
"""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.stream_dma.ram import user_layout
from litepcie_soc.stream_dma.stream import check_port

# Widths -------------------------------------------------------------------------------------------
# Other widths of a stream of packets, with exact ends: a packet keeps each of its bytes, and gets no other.


class Widener(LiteXModule):
    """Joins beats to wider ones; takes a beat per cycle. A packet ends in a beat of its own, which may be partial.

    A beat with ``first`` begins a wider beat. Lanes of a packet that was cut before it, by a reset for example, are
    dropped: the packet has no end, and its bytes must not lead the next one.

    Parameters
    ----------
    sink_width, source_width : bits of a beat, powers of two, ``sink_width`` the smaller one.

    Attributes
    ----------
    sink   : Endpoint(user_layout(sink_width)), **in**.
    source : Endpoint(user_layout(source_width)), **out**.
    """
    def __init__(self, sink_width, source_width):
        self.sink   = sink   = stream.Endpoint(user_layout(sink_width))
        self.source = source = stream.Endpoint(user_layout(source_width))

        # # #

        count = source_width // sink_width
        after = Signal(max=count)   # Place after that of the last beat.
        place = Signal(max=count)
        lanes = sink_width // 8
        self.comb += [
            sink.ready.eq(~source.valid | source.ready),
            place.eq(Mux(sink.first, 0, after)),
        ]
        self.sync += [
            If(source.ready, source.valid.eq(0)),
            If(sink.valid & sink.ready,
                If(place == 0, source.first.eq(sink.first), source.be.eq(0)),
                Case(place, {n: [
                    source.data[n*sink_width:(n + 1)*sink_width].eq(sink.data),
                    source.be[n*lanes:(n + 1)*lanes].eq(sink.be),
                ] for n in range(count)}),
                source.last.eq(sink.last),
                source.valid.eq(sink.last | (place == count - 1)),
                after.eq(Mux(sink.last, 0, place + 1)),
            ),
        ]


class Narrower(LiteXModule):
    """Divides beats into narrower ones; gives a beat per cycle, and none without a byte.

    Parameters
    ----------
    sink_width, source_width : bits of a beat, powers of two, ``sink_width`` the larger one.

    Attributes
    ----------
    sink   : Endpoint(user_layout(sink_width)), **in**.
    source : Endpoint(user_layout(source_width)), **out**.
    """
    def __init__(self, sink_width, source_width):
        self.sink   = sink   = stream.Endpoint(user_layout(sink_width))
        self.source = source = stream.Endpoint(user_layout(source_width))

        # # #

        lanes = source_width // 8
        beat  = stream.Endpoint(user_layout(sink_width))  # A shift register: no multiplexer of all places.
        left  = Signal(max=sink_width // source_width)    # Places after the first one.
        final = Signal()
        self.comb += [
            # Lane 0 of the next place has no byte.
            final.eq((left == 0) | ~beat.be[lanes]),
            source.valid.eq(beat.valid),
            source.data.eq(beat.data),
            source.be.eq(beat.be),
            source.first.eq(beat.first),
            source.last.eq(beat.last & final),
            sink.ready.eq(~beat.valid | (source.ready & final)),
        ]
        self.sync += [
            If(source.ready,
                beat.data.eq(beat.data >> source_width),
                beat.be.eq(beat.be >> lanes),
                beat.first.eq(0),
                left.eq(left - 1),
                If(final, beat.valid.eq(0)),
            ),
            If(sink.ready,
                *[getattr(beat, name).eq(getattr(sink, name)) for name in ("valid", "data", "be", "first", "last")],
                left.eq(sink_width // source_width - 1),
            ),
        ]

# Port ---------------------------------------------------------------------------------------------


def port_layout(data_width, ends="be"):
    """Layout of the endpoints of a ``StreamPort``."""
    return [("data", data_width), (ends, data_width // 8)]

# Conversion ---------------------------------------------------------------------------------------


class Conversion(LiteXModule):
    """Another width and another clock domain for a stream of ``user_layout``, as fast as the slower of both sides.

    The clock is crossed with the wider beats, so that each side converts at its own rate.

    Parameters
    ----------
    sink_width, source_width : bits of a beat, powers of two from 8.
    cd_sink, cd_source       : str, clock domains.

    Attributes
    ----------
    sink   : Endpoint(user_layout(sink_width)), **in**, clock domain ``cd_sink``.
    source : Endpoint(user_layout(source_width)), **out**, clock domain ``cd_source``.
    """
    DEPTH = 16  # Beats of the FIFO between two clocks: enough for its latency at any ratio of the clocks.

    def __init__(self, sink_width, source_width, cd_sink="sys", cd_source="sys"):
        self.sink   = stream.Endpoint(user_layout(sink_width))
        self.source = stream.Endpoint(user_layout(source_width))

        # # #

        parts = []
        if sink_width < source_width:
            parts.append(ClockDomainsRenamer(cd_sink)(Widener(sink_width, source_width)))
        if cd_sink != cd_source:
            parts.append(stream.ClockDomainCrossing(user_layout(max(sink_width, source_width)), cd_sink, cd_source,
                depth=self.DEPTH))
        if sink_width > source_width:
            parts.append(ClockDomainsRenamer(cd_source)(Narrower(sink_width, source_width)))
        self.submodules += parts
        ends = [self.sink, *[end for part in parts for end in (part.sink, part.source)], self.source]
        self.comb += [ends[n].connect(ends[n + 1]) for n in range(0, len(ends), 2)]

# Stream Port --------------------------------------------------------------------------------------


class StreamPort(LiteXModule):
    """A stream channel with the width and in the clock domain of the user's core.

        self.port = port = StreamPort(self.streams[0], data_width=32, clock_domain="adc")
        self.comb += [port.source.connect(core.sink, omit={"be"}), core.source.connect(port.sink, omit={"be"})]

    A ``Stream`` with a width or a clock domain of its own has such a port already.

    Bytes have no gap from lane 0, only the last beat of a packet may be partial, and a packet has at least one byte.
    With ``omit={"be"}``, each beat to the host is full; a core that ignores ``be`` gets zeros or old bytes after the
    end of a packet that ends in a partial beat.

    Both clock domains must leave their resets before data moves. A reset of one alone loses data.

    A program may be killed in the middle of a packet, and another one may open the stream. Logic with a state for each
    packet follows three rules:

    - A beat of ``source`` with ``first`` begins a packet, also if the packet before had no ``last``: that one was cut.
    - While ``sink_active`` is deasserted, no program receives. Logic drops results that wait for the program that left.
    - Logic that drops a part of a packet sets ``first`` in the first beat of the next one. Else the card takes that one
      for the rest of the packet which was cut, and drops it too.

    Parameters
    ----------
    channel      : ``StreamChannel`` of the SoC, ``soc.litepcie.streams[n]``. The port has its directions only.
    data_width   : bits of a beat at the user's side, 8 to 512, a power of two.
    sink_width   : the same for ``sink``, if it differs.
    clock_domain : str, clock domain of the user's side.
    ends         : "be": a bit for each byte of a beat. "last_be": as in LiteEth, with ``last`` the bit of the last byte
                   is set, and no bit means that the beat is full.

    Attributes
    ----------
    source : Endpoint(``data``: data_width, ``be`` or ``last_be``: data_width / 8), **out**, ``clock_domain``: from the
             host.
    sink   : Endpoint(``data``: sink_width, ``be`` or ``last_be``: sink_width / 8), **in**, ``clock_domain``: to the
             host. Bytes wait until a beat of the data path is full or the packet ends.
    source_active, sink_active : Signal(), **out**, ``clock_domain``: the engine of this direction is on. When a program
             closes the stream in the middle, and in every reset, it is deasserted for 16 cycles of sys at least; a
             slower ``clock_domain`` than a quarter of sys may not see it.
    """
    def __init__(self, channel, data_width, clock_domain="sys", ends="be", sink_width=None):
        sink_width = data_width if sink_width is None else sink_width
        check_port(data_width, ends)
        check_port(sink_width, ends)

        # # #

        if channel.source is not None:
            self.add_source(channel.source, data_width, clock_domain, ends)
            self.source_active = self.of_user(channel.source_active, clock_domain)
        if channel.sink is not None:
            self.add_sink(channel.sink, sink_width, clock_domain, ends)
            self.sink_active = self.of_user(channel.sink_active, clock_domain)

    def add_source(self, given, data_width, clock_domain, ends):
        self.source    = source = stream.Endpoint(port_layout(data_width, ends))
        self.from_host = from_host = Conversion(len(given.data), data_width, "sys", clock_domain)
        self.comb += [
            given.connect(from_host.sink),
            from_host.source.connect(source, omit={"be", "last_be"}),
        ]
        be = from_host.source.be
        if ends == "be":
            self.comb += source.be.eq(be)
        else:
            self.comb += If(source.last, source.last_be.eq(be & ~(be >> 1)))

    def add_sink(self, taken, data_width, clock_domain, ends):
        self.sink    = sink = stream.Endpoint(port_layout(data_width, ends))
        self.to_host = to_host = Conversion(data_width, len(taken.data), clock_domain, "sys")
        self.comb += [
            sink.connect(to_host.sink, omit={"be", "last_be"}),
            to_host.source.connect(taken),
        ]
        be = to_host.sink.be
        if ends == "be":
            sink.be.reset = 2**(data_width // 8) - 1  # Of a core that has no such signal.
            self.comb += be.eq(sink.be)
        else:
            self.comb += [be[n].eq(~sink.last | (sink.last_be == 0) | (sink.last_be[n:] != 0)) for n in range(len(be))]

    def of_user(self, active, clock_domain):
        """A Signal of ``sys`` in the clock domain of the user."""
        if clock_domain == "sys":
            return active
        here = Signal()
        self.specials += MultiReg(active, here, clock_domain)
        return here
