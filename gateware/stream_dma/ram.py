#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""RAM between a user's stream and host memory, and the layout of that stream."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

# Constants ----------------------------------------------------------------------------------------

WORDS = 512  # Of a RAM: what one block RAM of any family has at its full width.


def user_layout(data_width):
    """Bytes of packets: ``dat``, ``be`` without a gap from lane 0, partial with ``last`` only."""
    return [("dat", data_width), ("be", data_width // 8)]

# Stream RAM ---------------------------------------------------------------------------------------


class StreamRAM(LiteXModule):
    """One port writes, one reads a word a cycle. A read is never held up: see ``WordFIFO``.

    A word that was written is seen by every read of a later cycle.

    Parameters
    ----------
    data_width  : bits of a word.
    words       : a power of two.
    granularity : bits of a word that are written together.
    params      : layout of what goes with a read and comes back with its word.

    Attributes
    ----------
    write_address, write_data : log2(words), data_width, in, sys.
    write_enable : data_width / granularity, in, sys.
    sink         : Endpoint (``address``: log2(words), ``params``), in, sys; ready is not driven.
    source       : Endpoint (``dat``: data_width, ``params``), out, sys, ``LATENCY`` cycles behind.
    """
    LATENCY = 2

    def __init__(self, data_width, words=WORDS, granularity=None, params=()):
        names = [name for name, _ in params]
        self.sink   = sink   = stream.Endpoint([("address", log2_int(words)), *params])
        self.source = source = stream.Endpoint([("dat", data_width), *params])

        # # #

        storage = Memory(data_width, words)
        write   = storage.get_port(write_capable=True, we_granularity=granularity or 0,
            mode=READ_FIRST)
        read    = storage.get_port(has_re=True, mode=READ_FIRST)
        self.specials += storage, write, read
        self.write_address = write.adr
        self.write_data    = write.dat_w
        self.write_enable  = write.we

        # The RAM's own register, then one more, which belongs to the RAM on every family.
        word = stream.Endpoint(params)
        self.comb += [read.adr.eq(sink.address), read.re.eq(sink.valid)]
        self.sync += [
            word.valid.eq(sink.valid),
            source.valid.eq(word.valid),
            source.dat.eq(read.dat_r),
            *[getattr(word,   name).eq(getattr(sink, name)) for name in names],
            *[getattr(source, name).eq(getattr(word, name)) for name in names],
        ]

# Word FIFO ----------------------------------------------------------------------------------------


class WordFIFO(LiteXModule):
    """Behind a ``StreamRAM``: room for what is under way, so that no ready leads back to the RAM.

    Attributes
    ----------
    sink   : Endpoint, in, sys; ready is not looked at.
    source : Endpoint, out, sys.
    go     : 1, out, sys, a read may begin in this cycle; a register.
    """
    def __init__(self, layout):
        # A read of this cycle, of the next one, those in the RAM; as many again to go on with.
        under_way   = StreamRAM.LATENCY + 2
        self.fifo   = fifo = stream.SyncFIFO(layout, 2 * under_way)
        self.sink   = fifo.sink
        self.source = fifo.source
        self.go     = Signal()

        # # #

        self.sync += self.go.eq(fifo.level <= under_way)
