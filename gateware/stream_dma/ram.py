#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""RAM between a user's stream and host memory, and the layout of that stream."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.stream_dma.stream import WORDS


def user_layout(data_width):
    """Bytes of packets: ``data`` and ``be``, from lane 0 without a gap. Only the last beat may be partial."""
    return [("data", data_width), ("be", data_width // 8)]

# Stream RAM ---------------------------------------------------------------------------------------


class StreamRAM(LiteXModule):
    """RAM with one write port and one read port; each serves a word per cycle.

    A read sees every write of an earlier cycle. Reads have no back-pressure: a ``WordFIFO`` after the RAM limits them.

    Parameters
    ----------
    data_width  : bits of a word.
    words       : number of words, a power of two.
    granularity : bits per write enable; None for one enable per word.
    params      : layout of the parameters that accompany a read and return with its word.

    Attributes
    ----------
    write_address, write_data : log2(words), data_width, **in**.
    write_enable : data_width / granularity, **in**.
    sink         : Endpoint(``address``: log2(words), ``params``), **in**; ``ready`` is not driven.
    source       : Endpoint(``dat``: data_width, ``params``), **out**, ``LATENCY`` cycles after ``sink``.
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

        # The RAM's own register, then an output register, which is part of the block RAM on every family.
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
    """FIFO after a ``StreamRAM``, with room for every word in flight, so that the RAM needs no back-pressure.

    Attributes
    ----------
    sink   : Endpoint, **in**; ``ready`` is ignored.
    source : Endpoint, **out**.
    go     : 1, **out**, a read may begin in this cycle; comes from a register.
    """
    def __init__(self, layout):
        # ``go`` is one cycle late, so reads of this and the next cycle may follow those in the RAM. The FIFO has
        # twice that room, to keep a word per cycle.
        in_flight   = StreamRAM.LATENCY + 2
        self.fifo   = fifo = stream.SyncFIFO(layout, 2 * in_flight)
        self.sink   = fifo.sink
        self.source = fifo.source
        self.go     = Signal()

        # # #

        self.sync += self.go.eq(fifo.level <= in_flight)
