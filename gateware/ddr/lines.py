#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Merges words of the data path into lines of the memory, and splits lines into words.

A line is as wide as a word or as a native access of the memory, whichever is wider.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.memory_ports import memory_command_layout, memory_data_layout, memory_write_layout

# Layouts ------------------------------------------------------------------------------------------

BEATS_BITS = 6  # Bits of the number of writes merged into a line.


def line_write_layout(line_width, address_bits):
    return [("address", address_bits), ("dat", line_width), ("be", line_width // 8), ("beats", BEATS_BITS)]


def line_read_layout(address_bits, count_bits):
    return [("address", address_bits), ("write_count", count_bits)]


def word_layout(clients, places):
    """A word wanted from a line. ``new``: it is the first from the next line that arrives."""
    return [("client", bits_for(clients - 1)), ("place", max(1, log2_int(places))), ("new", 1)]


def place_of(address, places):
    """Position of the word at ``address`` in its line."""
    return address[:log2_int(places)] if places > 1 else Constant(0, 1)

# Write Merger -------------------------------------------------------------------------------------


class WriteMerger(LiteXModule):
    """Merges consecutive writes to the same line; accepts one word per cycle.

    A line is closed when all its bytes are written, when a write to another line follows, or by ``flush``. Pieces of
    a transfer, such as completions, may meet within a word; their line is then written only once.

    Parameters
    ----------
    data_width : bits of a word.
    size       : bytes of the memory.
    line_width : bits of a line, a multiple of ``data_width``.

    Attributes
    ----------
    sink   : Endpoint(memory_write_layout), **in**.
    source : Endpoint(line_write_layout), **out**; ``beats`` is the number of writes at ``sink`` merged into the line.
    flush  : 1, **in**, closes the open line; held until a line has left.
    """
    def __init__(self, data_width, size, line_width):
        places      = line_width // data_width
        self.sink   = sink   = stream.Endpoint(memory_write_layout(data_width, size))
        self.source = source = stream.Endpoint(
            line_write_layout(line_width, len(sink.address) - log2_int(places)))
        self.flush  = Signal()

        # # #

        opened = Signal()
        full   = Signal()
        same   = Signal()  # The next word belongs to the open line.
        leaves = Signal()
        place  = place_of(sink.address, places)
        line   = sink.address[log2_int(places):]
        # ``same`` has a signal of its own: in Verilog the comparison of slices must not take the width of its context.
        self.comb += [
            same.eq(line == source.address),
            source.valid.eq(opened & (full | self.flush | (sink.valid & ~same))),
            leaves.eq(source.valid & source.ready),
            sink.ready.eq(~opened | leaves | (same & ~full & ~self.flush)),
        ]
        begins = Signal()
        self.comb += begins.eq(~opened | leaves)
        # Byte enables of the next word at its position in the line. ``begins`` comes late, so it is the last selection.
        word, every = Signal(line_width // 8), 2**(line_width // 8) - 1
        self.comb += word.eq(Cat(*[Mux(place == n, sink.be, 0) for n in range(places)]))
        over = Mux(begins, word == every, (source.be | word) == every)
        self.sync += [
            If(leaves, opened.eq(0)),
            If(sink.valid & sink.ready,
                opened.eq(1),
                source.address.eq(line),
                source.beats.eq(Mux(begins, 1, source.beats + 1)),
                full.eq(over | (source.beats == 2**BEATS_BITS - 2) & ~begins),
                If(begins, source.be.eq(0)),
                [If(place == n, *self.bytes_of(n, data_width // 8)) for n in range(places)],
            )
        ]

    def bytes_of(self, place, count):
        """Statements that write the enabled bytes of the word to ``place`` in the line."""
        sink, source = self.sink, self.source
        for n in range(count):
            at = place * count + n
            yield If(sink.be[n], source.dat[8 * at:8 * at + 8].eq(sink.dat[8 * n:8 * n + 8]), source.be[at].eq(1))

# Read Merger --------------------------------------------------------------------------------------


class ReadMerger(LiteXModule):
    """Requests a line once for all consecutive commands to it.

    The line read last serves further commands until a word of it is written, as a command must see every write
    accepted before it. A command arrives here at least one cycle after its acceptance; ``written`` comes one
    cycle after the acceptance of a write. So every write that a command must see is known here in time.

    Parameters
    ----------
    data_width : bits of a word.
    size       : bytes of the memory.
    line_width : bits of a line, a multiple of ``data_width``.
    clients    : number of clients that send commands.
    count_bits : bits of a write count.

    Attributes
    ----------
    sink        : Endpoint(memory_command_layout and ``client``), **in**.
    source      : Endpoint(line_read_layout), **out**, lines to read.
    words       : Endpoint(word_layout), **out**, the words wanted from these lines, in order.
    write_count : count_bits, **in**, number of writes accepted before this cycle.
    written, written_address : 1, bits of a word address, **in**, a write was accepted in the last cycle; its address.
    """
    def __init__(self, data_width, size, line_width, clients, count_bits):
        places      = line_width // data_width
        layout      = memory_command_layout(data_width, size)
        self.sink   = sink = stream.Endpoint(layout + [("client", bits_for(clients - 1))])
        self.source = source = stream.Endpoint(
            line_read_layout(len(sink.address) - log2_int(places), count_bits))
        self.words  = words = stream.Endpoint(word_layout(clients, places))
        self.write_count          = Signal(count_bits)
        self.written         = Signal()
        self.written_address = Signal.like(sink.address)

        # # #

        latest = Signal.like(source.address)
        usable = Signal()  # The latest line was not written since it was requested.
        hit    = Signal()
        line   = sink.address[log2_int(places):]
        self.comb += [
            hit.eq(usable & (line == latest)),
            source.valid.eq(sink.valid & ~hit & words.ready),
            source.address.eq(line),
            source.write_count.eq(self.write_count),
            words.valid.eq(sink.valid & (hit | source.ready)),
            words.client.eq(sink.client),
            words.place.eq(place_of(sink.address, places)),
            words.new.eq(~hit),
            sink.ready.eq(words.ready & (hit | source.ready)),
        ]
        self.sync += [
            If(self.written & (self.written_address[log2_int(places):] == latest), usable.eq(0)),
            If(source.valid & source.ready, latest.eq(line), usable.eq(1)),
        ]

# Read Splitter ------------------------------------------------------------------------------------


class ReadSplitter(LiteXModule):
    """Splits the lines that were read into the wanted words, one per cycle.

    Parameters
    ----------
    data_width : bits of a word.
    line_width : bits of a line, a multiple of ``data_width``.
    clients    : number of clients.

    Attributes
    ----------
    lines  : Endpoint(memory_data_layout), **in**.
    words  : Endpoint(word_layout), **in**.
    valid, client, dat : 1, log2(clients), data_width, **out**, a word for a client, which has reserved room for it.
    """
    def __init__(self, data_width, line_width, clients):
        places      = line_width // data_width
        self.lines  = lines = stream.Endpoint(memory_data_layout(line_width))
        self.words  = words = stream.Endpoint(word_layout(clients, places))
        self.valid  = Signal()
        self.client = Signal(bits_for(clients - 1))
        self.dat    = Signal(data_width)

        # # #

        line   = Signal(line_width)
        valid  = Signal()
        place  = Signal.like(words.place)
        client = Signal.like(self.client)
        self.comb += [
            words.ready.eq(~words.new | lines.valid),
            lines.ready.eq(words.valid & words.new),
        ]
        self.sync += [
            valid.eq(words.valid & words.ready),
            place.eq(words.place),
            client.eq(words.client),
            If(lines.valid & lines.ready, line.eq(lines.dat)),
            self.valid.eq(valid),
            self.client.eq(client),
            Case(place, {n: self.dat.eq(line[n * data_width:(n + 1) * data_width]) for n in range(places)}),
        ]
