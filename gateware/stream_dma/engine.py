#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The DMA engine of a stream."""

from typing import NamedTuple

from migen import *

from litex.soc.interconnect import stream

from litepcie_soc.dma.engine import DMAEngine
from litepcie_soc.stream_dma.flush import FlushTimer
from litepcie_soc.stream_dma.ram import WordFIFO, user_layout
from litepcie_soc.stream_dma.reader import StreamReader, word_layout
from litepcie_soc.stream_dma.writer import StreamWriter

# Stream Engine ------------------------------------------------------------------------------------


class StreamEngine(DMAEngine):
    """A ``DMAEngine`` between host memory and a user stream, without endpoint memory.

    RESET drops the contents of the engine's RAM. A packet that a reset cuts short has no ``last``.
    After the reset of a reader, up to eight beats that had already left the RAM still wait at ``source``;
    the beat after them has ``first``. A writer is not ready while it is off; the first beat that it takes
    after a reset begins a packet. The register PASSED counts the bytes that the RAM took from ``sink``, or gave to
    ``source`` with those beats, through all resets: with the reports, it tells how many bytes a reset dropped.

    Parameters
    ----------
    As ``DMAEngine``, without ``memory``.

    Attributes
    ----------
    As ``DMAEngine``, and:

    source : Endpoint(user_layout), **out**, readers only.
    sink   : Endpoint(user_layout), **in**, writers only.

    Registers
    ---------
    As ``DMAEngine``.
    """
    MOVERS = {"reader": StreamReader, "writer": StreamWriter}

    def __init__(self, direction, **kwargs):
        self.FLUSHES = direction == "writer"
        DMAEngine.__init__(self, direction, **kwargs)

        # # #

        passed = Signal(len(self.mover.passed))
        self.sync += [
            passed.eq(self.mover.passed),
            self.registers.passed.status.eq(self.registers.passed.status + passed),
        ]
        if direction == "reader":
            width       = len(self.mover.source.dat)
            self.source = source = stream.Endpoint(user_layout(width))
            self.output = output = WordFIFO(word_layout(width))
            self.comb += [
                self.mover.go.eq(output.go),
                self.mover.source.connect(output.sink, omit={"ready"}),
                output.source.connect(source, omit={"lane"}),
                *[source.be[n].eq(~source.last | (n <= output.source.lane))
                    for n in range(width // 8)],
            ]
        else:
            registers  = self.registers
            self.sink  = self.mover.user
            self.timer = timer = FlushTimer(kwargs["clk_freq"])
            self.comb += [
                self.mover.ring_log2.eq(registers.ring_log2.storage),
                self.mover.status_address.eq(
                    Cat(registers.status_address_lo.storage, registers.status_address_hi.storage)),
                timer.us.eq(registers.flush_us.storage),
                timer.wait.eq(self.mover.splitter.pending),
                self.mover.splitter.flush.eq(timer.due),
            ]

# Stream Channel -----------------------------------------------------------------------------------


class StreamChannel(NamedTuple):
    """The two directions of a stream channel, for the user of the SoC: Endpoints of ``user_layout``, sys."""
    source : stream.Endpoint  # Host to user.
    sink   : stream.Endpoint  # User to host.
