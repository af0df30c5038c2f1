#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What is measured: one point is one run of a host program."""

from dataclasses import dataclass

from litepcie_soc.common.link_rates import default_clock

OURS  = "litepcie_soc"
STOCK = "litepcie_stock"

# Widths the simulated board is built with; the same Verilog serves every link and clock.
DATA_WIDTHS = (64, 128, 256, 512)

# Requests outstanding. A board has as many as it is built with, 64 if nothing else is said; without
# the host's Extended Tag Field Enable it uses 32 of them.
DEFAULT_TAGS     = 64
UNEXTENDED_TAGS  = 32
STOCK_TAGS       = 8     # max_pending_requests of add_pcie.

AN_BYTES      = 100_000  # One transfer of the application notes,
AN_ITERATIONS = 20       # and how many they average.


@dataclass(frozen=True, order=True)
class Board:
    """What is built: ``width`` in bits; ``phy`` is "shared" (one pair of streams, big-endian payload,
    as on 7-series) or "split" (requests and completions apart, little-endian, as on UltraScale);
    ``memory`` is "bram" or "ddr" (DDR3-1600 of 64 bit behind LiteDRAM).
    """
    design: str
    width:  int
    tags:   int = DEFAULT_TAGS
    phy:    str = "shared"
    memory: str = "bram"

    def __str__(self):
        words = [self.design, f"{self.width} bit"]
        if self.tags != DEFAULT_TAGS:
            words.append(f"{self.tags} tags")
        if self.phy != "shared":
            words.append(self.phy)
        if self.memory != "bram":
            words.append(self.memory)
        return " ".join(words)


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
    tags       : of OURS, requests outstanding; 32: the host leaves Extended Tags off.
    phy        : of OURS, as ``Board``.
    address_bits : of the buffers: below (32) or above (64) 4 GiB, with 3 or 4 dword headers.
    update_fc  : when credits come back, "guideline" or "minimum".
    jitter_ns  : most that is added to ``latency_ns``, uniformly.
    reorder    : completions of different requests overtake each other.
    outlier_ns, outlier_every : addition to the latency of one request in so many; 0: none.
    lcrc_every : every so manieth TLP of each direction is damaged and replayed; 0: none.
    clock_mhz  : of the board; 0: the slowest usual clock that keeps up with the link.
    memory     : of OURS, as ``Board``.
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
    tags:       int = DEFAULT_TAGS
    phy:        str = "shared"
    address_bits: int = 32
    update_fc:  str = "guideline"
    jitter_ns:  int = 0
    reorder:    bool = False
    outlier_ns: int = 0
    outlier_every: int = 0
    lcrc_every: int = 0
    clock_mhz:  int = 0
    memory:     str = "bram"

    @property
    def board(self):
        """The ``Board`` it runs on."""
        if self.design == STOCK:
            return Board(STOCK, self.width)
        return Board(OURS, self.width, max(self.tags, DEFAULT_TAGS), self.phy, self.memory)

    @property
    def clock_hz(self):
        return self.clock_mhz*1000000 or int(default_clock(self.gen, self.lanes, self.width))

    @property
    def link(self):
        """Key of the link and data path."""
        return self.gen, self.lanes, self.width

    @property
    def where(self):
        """Link and data path in words, with what is not as usual about it."""
        words = link_name(*self.link)
        if self.clock_mhz:
            words += f", {self.clock_mhz} MHz"
        words += ", split little-endian PHY"*(self.phy == "split")
        return words + ", DDR"*(self.memory == "ddr")

    def __str__(self):
        text = f"{self.where} {self.sequence} {self.bytes} B"
        return text + (f" x {self.batch}" if self.batch > 1 else "")


def link_name(gen, lanes, width):
    """In words, as every table and plot has it."""
    return f"Gen{gen} x{lanes}, {width} bit"


def narrowest(gen, lanes):
    """Bits of the narrowest data path that keeps up with a link."""
    raw = {1: 250, 2: 500, 3: 985}[gen]*lanes
    return next(width for width in DATA_WIDTHS if width//8*250 >= raw)
