#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What a board can do, and one choice of it."""

from dataclasses import dataclass

from litepcie_soc.common import abi
from litepcie_soc.common.link_rates import data_path_rate, link_rate
from litepcie_soc.common.pcie import TAGS_WITHOUT_EXTENDED

# Helpers ------------------------------------------------------------------------------------------


def size(number):
    """Bytes for people: the largest unit that leaves a whole number."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if number and number % unit == 0:
            return f"{number // unit} {name}"
    return f"{number} bytes"


def mega(freq):
    """A clock as one would type it: 125e6."""
    return f"{freq / 1e6:g}e6" if freq >= 1e6 else f"{freq:g}"

# Configuration ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Configuration:
    """One choice among what a board can do; ``Board.configure`` fills in what is not said.

    gen, lanes     : link.
    data_width     : bits of the data path: as many as the hard block's, or twice.
    sys_clk_freq   : Hz of ``sys``.
    tags           : requests outstanding, in all.
    dma_channels   : each a reader and a writer.
    with_ddr       : endpoint memory in the board's DDR instead of block RAM.
    with_litescope : probes on the link's use.
    """
    gen:            int
    lanes:          int
    data_width:     int
    sys_clk_freq:   float
    tags:           int
    dma_channels:   int  = 1
    with_ddr:       bool = False
    with_litescope: bool = False

    @property
    def link_rate(self):
        """Bytes a second of one direction of the link."""
        return link_rate(self.gen, self.lanes)

    @property
    def data_path_rate(self):
        """Bytes a second of the data path."""
        return data_path_rate(self.data_width, self.sys_clk_freq)

    def name(self, board):
        """Of the build folder and of the bitstream: what it is always, then what is not the board's default."""
        default = board.configure(self.gen, self.lanes, self.data_width, with_ddr=self.with_ddr)
        name    = f"{board.name}_gen{self.gen}_x{self.lanes}_{self.data_width}"
        name   += "_ddr" * self.with_ddr
        name   += f"_{self.dma_channels}ch" * (self.dma_channels != default.dma_channels)
        name   += f"_tags{self.tags}" * (self.tags != default.tags)
        name   += f"_{self.sys_clk_freq / 1e6:g}mhz".replace(".", "p") * (self.sys_clk_freq != default.sys_clk_freq)
        return name + "_litescope" * self.with_litescope

# Board --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Memory:
    """Endpoint memory of a board: bytes, powers of two.

    bram     : what fits beside the rest in the FPGA's block RAM.
    ddr      : of the DDR.
    kind     : of the DDR, for people ("16 bit DDR3-1000").
    ddr_rate : bytes a second of the DDR, reads and writes together, where it has a clock of its own; None: as many as
        the data path's, or more.
    """
    bram:     int
    ddr:      int
    kind:     str
    ddr_rate: float = None


@dataclass(frozen=True)
class Board:
    """What a board and its hard block can do.

    name       : of the target; begins the name of every build.
    title      : for people.
    family     : of ``gateware/board/identity.py``.
    platform   : LiteX platform class.
    links      : (gen, lanes) to {data width: Hz of ``sys`` when not given}; the first width of each is its default.
    link       : (gen, lanes) when not given.
    memory     : ``Memory``.
    programmer : ``Programmer`` of ``gateware/build/program.py``.
    channels   : DMA channels that fit, at most.
    tags       : requests outstanding, in all: the most that the hard block can have, and the default.
    clocks     : lowest and highest Hz of ``sys``.
    ddr_clocks : the same with DDR, where the memory sets them.
    """
    name:       str
    title:      str
    family:     str
    platform:   type
    links:      dict
    link:       tuple
    memory:     Memory
    programmer: object
    channels:   int   = abi.MAX_CHANNELS
    tags:       int   = 64
    clocks:     tuple = (50e6, 250e6)
    ddr_clocks: tuple = None

    @property
    def gens(self):
        return sorted({gen for gen, _ in self.links})

    @property
    def lanes(self):
        return sorted({lanes for _, lanes in self.links})

    @property
    def data_widths(self):
        return sorted({width for widths in self.links.values() for width in widths})

    def configure(self, gen=None, lanes=None, data_width=None, *, sys_clk_freq=None, tags=None, **options):
        """A ``Configuration`` that is checked, with the board's defaults. Raises ``ValueError``, one line."""
        gen    = gen or self.link[0]
        lanes  = lanes or self.link[1]
        widths = self.links.get((gen, lanes), {})
        width  = data_width or next(iter(widths), None)
        usual  = self.usual_clock(widths.get(width), options.get("with_ddr"))
        configuration = Configuration(gen, lanes, width,
            sys_clk_freq = usual if sys_clk_freq is None else sys_clk_freq,
            tags         = self.tags if tags is None else tags,
            **options)
        self.check(configuration)
        return configuration

    def usual_clock(self, freq, with_ddr):
        """Hz of ``sys`` when not given, of a link that would have ``freq``: DDR may not go that far."""
        low, high = self.ddr_clocks if with_ddr and self.ddr_clocks else self.clocks
        return freq and min(max(freq, low), high)

    def check(self, configuration):
        """Raises ``ValueError``, one line that says which option and what is possible, unless the board can do it."""
        for check in (self.check_link, self.check_channels, self.check_clock):
            check(configuration)

    def check_link(self, c):
        links = ", ".join(f"Gen{gen} x{lanes}" for gen, lanes in self.links)
        if c.gen not in self.gens:
            raise ValueError(f"--pcie-gen {c.gen}: {self.title} has {links}")
        if (c.gen, c.lanes) not in self.links:
            raise ValueError(f"--pcie-lanes {c.lanes}: {self.title} has {links}")
        widths = self.links[c.gen, c.lanes]
        if c.data_width not in widths:
            raise ValueError(f"--data-width {c.data_width}: {' or '.join(map(str, sorted(widths)))} bit "
                f"at Gen{c.gen} x{c.lanes}")

    def check_channels(self, c):
        if not 1 <= c.dma_channels <= self.channels:
            raise ValueError(f"--dma-channels {c.dma_channels}: 1 to {self.channels}")
        tags = [tags for tags in (TAGS_WITHOUT_EXTENDED, 64, 128, 256) if tags <= self.tags]
        if c.tags not in tags:
            raise ValueError(f"--tags {c.tags}: the hard block can have {' or '.join(map(str, tags))}")

    def check_clock(self, c):
        low, high = (self.ddr_clocks or self.clocks) if c.with_ddr else self.clocks
        if not low <= c.sys_clk_freq <= high:
            raise ValueError(f"--sys-clk-freq {mega(c.sys_clk_freq)}: {mega(low)} to {mega(high)} Hz"
                f"{' with --with-ddr' * (c.with_ddr and self.ddr_clocks is not None)}")

    def memory_size(self, configuration):
        """Bytes of endpoint memory."""
        return self.memory.ddr if configuration.with_ddr else self.memory.bram

    def memory_rate(self, configuration):
        """Bytes a second of the endpoint memory, both directions together; None: as the data path's, or more."""
        return self.memory.ddr_rate if configuration.with_ddr else None

    def configurations(self, **options):
        """Every link and data path of the board, with ``options`` of ``configure``."""
        for (gen, lanes), widths in self.links.items():
            for width in widths:
                yield self.configure(gen, lanes, width, **options)
