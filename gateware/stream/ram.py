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
    """One port writes, one reads a word a cycle; what is read waits until it is taken.

    A word that was written is seen by every read accepted in a later cycle. Latency: 2 cycles.

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
    sink         : Endpoint (``address``: log2(words), ``params``), in, sys.
    source       : Endpoint (``dat``: data_width, ``params``), out, sys.
    """
    def __init__(self, data_width, words=WORDS, granularity=None, params=()):
        params = [*params]
        self.sink   = sink   = stream.Endpoint([("address", log2_int(words))] + params)
        self.output = output = stream.Buffer([("dat", data_width)] + params)
        self.source = output.source

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
        word = output.sink
        self.comb += [
            sink.ready.eq(~word.valid | word.ready),
            read.adr.eq(sink.address),
            read.re.eq(sink.ready),
            word.dat.eq(read.dat_r),
        ]
        self.sync += If(sink.ready,
            word.valid.eq(sink.valid),
            word.first.eq(sink.first),
            word.last.eq(sink.last),
            *[getattr(word, name).eq(getattr(sink, name)) for name, *_ in params]
        )
