#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What is measured: one point is one run of a host program."""

from dataclasses import dataclass

from litepcie_soc.soc.link import default_clock

OURS  = "litepcie_soc"
STOCK = "litepcie_stock"

# Widths the simulated board is built with; the same Verilog serves every link and clock.
DATA_WIDTHS = (64, 128, 256)

AN_BYTES      = 100_000  # One transfer of the application notes,
AN_ITERATIONS = 20       # and how many they average.


@dataclass(frozen=True)
class Point:
    """One run.

    Attributes
    ----------
    sweep      : the sweep it belongs to.
    design     : OURS or STOCK.
    sequence   : "write-then-read" (one direction at a time), "read-and-write" (both at once) or
                 "pio".
    bytes      : of one transfer, which is one descriptor.
    batch      : transfers behind one doorbell, measured as one.
    iterations : measured one by one.
    completion : bytes of each completion of the host; 0: as many as MPS allows.
    latency_ns : from a request's last byte at the host to its first completion.
    store      : bytes of one store of the sequence "pio".
    fill       : of STOCK, count the register writes that fill its table too.
    """
    sweep:      str
    design:     str
    gen:        int
    lanes:      int
    width:      int
    sequence:   str = "write-then-read"
    bytes:      int = AN_BYTES
    batch:      int = 1
    iterations: int = AN_ITERATIONS
    mps:        int = 256
    mrrs:       int = 512
    completion: int = 0
    latency_ns: int = 1000
    store:      int = 4
    fill:       bool = False

    @property
    def clock_hz(self):
        return int(default_clock(self.gen, self.lanes, self.width))

    @property
    def link(self):
        """Key of the link and data path."""
        return self.gen, self.lanes, self.width

    def __str__(self):
        text = f"Gen{self.gen} x{self.lanes} {self.width} bit {self.sequence} {self.bytes} B"
        return text + (f" x {self.batch}" if self.batch > 1 else "")


def narrowest(gen, lanes):
    """Bits of the narrowest data path that keeps up with a link."""
    raw = {1: 250, 2: 500, 3: 985}[gen]*lanes
    return next(width for width in DATA_WIDTHS if width//8*250 >= raw)
