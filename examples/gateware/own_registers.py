#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Registers and a memory of your own: the card adds up what the host wrote. See docs/own-logic.md.

    build/venv/bin/python examples/gateware/own_registers.py
"""

import sys

from pathlib import Path

from migen import *

from litex.gen import *

from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import wishbone
from litex.soc.interconnect.csr import CSRStatus, CSRStorage

from litepcie_sim.user import SimSoC, main

WORDS  = 1024     # Of 32 bits.
MEMORY = 0x10000  # On the bus of the SoC, where its registers are at 0.


class Adder(LiteXModule):
    """Adds up the first ``count`` words of a memory, modulo 2^32, a word per cycle; a write of ``count`` starts it."""
    def __init__(self):
        self.count = CSRStorage(bits_for(WORDS), description="Words to add up, 0 to 1024; a write starts.")
        self.sum   = CSRStatus(32, description="Their sum.")
        self.busy  = CSRStatus(description="The sum is not complete.")
        self.ram   = ram = wishbone.SRAM(4*WORDS)
        self.port  = port = ram.mem.get_port()
        self.specials += port

        # # #

        place, running, arrived = Signal(bits_for(WORDS)), Signal(), Signal()
        self.comb += [
            port.adr.eq(place),
            running.eq(place != self.count.storage),
            self.busy.status.eq(running | arrived),
        ]
        self.sync += [
            arrived.eq(running),  # The word of the place before.
            If(running, place.eq(place + 1)),
            If(arrived, self.sum.status.eq(self.sum.status + port.dat_r)),
            If(self.count.re, place.eq(0), self.sum.status.eq(0), arrived.eq(0)),
        ]


class SoC(SimSoC):
    card = {"user_bus": {"origin": 0, "size": 2*MEMORY}}

    def __init__(self):
        SimSoC.__init__(self)
        self.adder = Adder()
        self.bus.add_slave("words", self.adder.ram.bus, SoCRegion(origin=MEMORY, size=4*WORDS))


if __name__ == "__main__":
    folder = Path(__file__).resolve().parents[1] / "c"
    sys.exit(main(SoC, "own_registers", [folder / "own_registers.c"], "own_registers"))
