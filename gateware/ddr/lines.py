#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Words of the data path and lines of a memory: a line is the wider of a word and what the memory moves at once."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.memory_ports import memory_command_layout, memory_data_layout, memory_write_layout

# Layouts ------------------------------------------------------------------------------------------

BEATS_BITS = 6  # Of the count of words that went into a line.


def line_write_layout(line_width, address_bits):
    return [("address", address_bits), ("dat", line_width), ("be", line_width // 8), ("beats", BEATS_BITS)]


def line_read_layout(address_bits, ticket_bits):
    return [("address", address_bits), ("ticket", ticket_bits)]


def word_layout(clients, places):
    """What is known of a word under way: ``new``: it is the first of the next line that comes."""
    return [("client", bits_for(clients - 1)), ("place", max(1, log2_int(places))), ("new", 1)]


def place_of(address, places):
    """Place in its line of the word at ``address``."""
    return address[:log2_int(places)] if places > 1 else Constant(0, 1)

# Write Merger -------------------------------------------------------------------------------------


class WriteMerger(LiteXModule):
    """Merges writes that follow each other into the same line; a word a cycle, a line when it is over.

    A line is over when all its bytes are here, or with a write to another line. What is in an open line leaves on
    demand. (Pieces of a transfer, as completions, meet within a word: the line that has their ends leaves once.)

    Parameters
    ----------
    data_width : bits of a word.
    size       : bytes of the memory.
    line_width : bits of a line, a multiple of ``data_width``.

    Attributes
    ----------
    sink   : Endpoint(memory_write_layout), in, sys.
    source : Endpoint(line_write_layout), out, sys; ``beats``: how many of ``sink`` are in it.
    flush  : 1, in, sys, the open line is wanted; held until a line came.
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
        same   = Signal()  # The next word is of the open line.
        leaves = Signal()
        place  = place_of(sink.address, places)
        line   = sink.address[log2_int(places):]
        # A signal of its own: equality of slices is no wider than they are.
        self.comb += [
            same.eq(line == source.address),
            source.valid.eq(opened & (full | self.flush | (sink.valid & ~same))),
            leaves.eq(source.valid & source.ready),
            sink.ready.eq(~opened | leaves | (same & ~full & ~self.flush)),
        ]
        begins = Signal()
        self.comb += begins.eq(~opened | leaves)
        # Bytes of the next word, in their place. ``begins`` is late: it chooses last.
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
        """Statements: the bytes of the word go to their ``place``, those that are enabled."""
        sink, source = self.sink, self.source
        for n in range(count):
            at = place * count + n
            yield If(sink.be[n], source.dat[8 * at:8 * at + 8].eq(sink.dat[8 * n:8 * n + 8]), source.be[at].eq(1))

# Read Merger --------------------------------------------------------------------------------------


class ReadMerger(LiteXModule):
    """Asks for a line once for all commands that follow each other into it.

    The line read last serves further commands until a word of it is written: a command must see what was
    accepted before it. A command is here a cycle behind its acceptance at least, as is ``written``: what is known here
    is never less than what the command must see.

    Parameters
    ----------
    data_width  : bits of a word.
    size        : bytes of the memory.
    line_width  : bits of a line, a multiple of ``data_width``.
    clients     : of commands.
    ticket_bits : bits of a count of writes.

    Attributes
    ----------
    sink   : Endpoint(memory_command_layout and ``client``), in, sys.
    source : Endpoint(line_read_layout), out, sys: lines to read.
    words  : Endpoint(word_layout), out, sys: the words wanted of them, in order.
    ticket : ticket_bits, in, sys: writes that were accepted before this cycle.
    written, written_address : 1 and a word's address, in, sys: a write that was accepted in the cycle before.
    """
    def __init__(self, data_width, size, line_width, clients, ticket_bits):
        places      = line_width // data_width
        layout      = memory_command_layout(data_width, size)
        self.sink   = sink = stream.Endpoint(layout + [("client", bits_for(clients - 1))])
        self.source = source = stream.Endpoint(
            line_read_layout(len(sink.address) - log2_int(places), ticket_bits))
        self.words  = words = stream.Endpoint(word_layout(clients, places))
        self.ticket          = Signal(ticket_bits)
        self.written         = Signal()
        self.written_address = Signal.like(sink.address)

        # # #

        latest = Signal.like(source.address)
        usable = Signal()  # The latest line is as it was read.
        hit    = Signal()
        line   = sink.address[log2_int(places):]
        self.comb += [
            hit.eq(usable & (line == latest)),
            source.valid.eq(sink.valid & ~hit & words.ready),
            source.address.eq(line),
            source.ticket.eq(self.ticket),
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
    """Gives the words out of the lines that were read, a word a cycle.

    Parameters
    ----------
    data_width : bits of a word.
    line_width : bits of a line, a multiple of ``data_width``.
    clients    : of the words.

    Attributes
    ----------
    lines  : Endpoint(memory_data_layout), in, sys.
    words  : Endpoint(word_layout), in, sys.
    valid, client, dat : out, sys: a word for a client, which has room for it.
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
