#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A data logger: a source of samples with timestamps, at a rate of your choice. See docs/own-logic.md.

    build/venv/bin/python examples/gateware/data_logger.py
"""

import sys

from pathlib import Path

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream
from litex.soc.interconnect.csr import CSRStatus, CSRStorage

from litepcie_sim.user import SimSoC, main
from litepcie_soc.stream_dma.port import port_layout
from litepcie_soc.stream_dma.stream import Stream

RECORD = 64   # Beats of a record: a header and the samples.
DEPTH  = 512  # Beats of the FIFO: what the logger holds while the link is busy.


class Logger(LiteXModule):
    """Records of 1 KiB: a header of 16 bytes, then 504 samples of 16 bits.

    The header has the sequence number (32 bits), the records lost so far (32 bits) and the time in cycles (64 bits). A
    record for which the FIFO has no room is lost as a whole, and counted. The samples are the low 16 bits of a count of
    all samples, also of lost ones: put your ADC there.

    Attributes
    ----------
    source : Endpoint(``data``: 128, ``be``), **out**; a packet never ends.

    Registers
    ---------
    rate     : beats in 65536 cycles, 0 to 65536. 0 stops the source, and resets its counts.
    overruns : records that were lost, modulo 2^32.
    """
    def __init__(self):
        self.source   = stream.Endpoint(port_layout(128))
        self.rate     = CSRStorage(17, description="Beats in 65536 cycles; 0 stops the source.")
        self.overruns = CSRStatus(32, description="Records that were lost.")

        # # #

        self.fifo = fifo = ResetInserter()(stream.SyncFIFO([("data", 128)], DEPTH, buffered=True))
        time, sequence, lost = Signal(64), Signal(32), self.overruns.status
        phase, beat, samples = Signal(17), Signal(max=RECORD), Signal(16)
        tick, drop, dropping = Signal(), Signal(), Signal()
        off, words = Signal(), [Signal(16) for _ in range(8)]
        self.comb += [
            off.eq((self.rate.storage == 0) & (beat == 0)),
            # A record that has begun goes on to its end.
            tick.eq(phase[16] | ((self.rate.storage == 0) & ~off)),
            fifo.reset.eq(off),
            *[word.eq(samples + n) for n, word in enumerate(words)],
            # The room of a whole record, before its first beat.
            drop.eq(Mux(beat == 0, fifo.level > DEPTH - RECORD, dropping)),
            fifo.sink.valid.eq(tick & ~drop),
            fifo.sink.data.eq(Mux(beat == 0, Cat(sequence, lost, time), Cat(*words))),
            fifo.source.connect(self.source),
            self.source.be.eq(2**16 - 1),
        ]
        self.sync += [
            time.eq(time + 1),
            phase.eq(phase[:16] + self.rate.storage),
            If(tick,
                beat.eq(beat + 1),
                If(beat == 0, dropping.eq(drop)).Else(samples.eq(samples + 8)),
                If(beat == RECORD - 1, sequence.eq(sequence + 1), lost.eq(lost + drop)),
            ),
            If(off, sequence.eq(0), lost.eq(0), samples.eq(0), phase.eq(0)),
        ]


class SoC(SimSoC):
    card = {"streams": [Stream("adc", to_host=True, width=128)], "user_bus": True}

    def __init__(self):
        SimSoC.__init__(self)
        self.adc   = Logger()  # LiteX has a "logger" of its own in a SoC.
        self.comb  += self.adc.source.connect(self.streams["adc"].sink)


if __name__ == "__main__":
    folder = Path(__file__).resolve().parents[1] / "c"
    sys.exit(main(SoC, "data_logger", [folder / "data_logger.c"], "data_logger 80; data_logger 100"))
