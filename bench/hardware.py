#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What the benchmark takes from real boards: the parameters that decide how fast a build of a target can be."""

from collections import defaultdict
from dataclasses import dataclass, replace

from litepcie_soc.board.simulated import HARD_BLOCKS, block_setting
from litepcie_soc.build.targets import boards
from litepcie_soc.common.pcie import RCB_BYTES
from litepcie_soc.phy.completion_buffer import DEPTH, blocks_of
from litepcie_soc.phy.hard_block import space_of_family
from litepcie_soc.phy.ultrascale.phy import BLOCK_WIDTHS

# Cycles of `sys` and of the hard block that a request and its completion take to cross the clocks, both ways together:
# registers, pointers of the FIFOs, and on UltraScale the adapters. The simulated boards lack these stages, so the time
# is added to the host's latency.
CROSSING_CYCLES = {False: (6, 5), True: (6, 11)}


# Names of the boards that share a row, by one of their targets.
DOCUMENTED = {"sqrl_acorn": "Acorn, NeTV2, AC701, KC705", "xilinx_kc705": "KC705", "xilinx_kcu105": "KCU105",
    "xilinx_alveo_u200": "Alveo U200, XCU1525", "xilinx_alveo_u280": "Alveo U280"}


@dataclass(frozen=True, order=True)
class Hardware:
    """A build of one or more targets that are the same to the benchmark.

    names          : names of the targets, empty if this is not known yet.
    gen, lanes     : link.
    width          : data path in bits.
    clock_hz       : clock of the data path.
    tags           : outstanding requests.
    split          : requests and completions have separate streams.
    space          : completion buffer of the hard block: completions, bytes of their data.
    fabric         : bits of the hard block if the fabric has a completion buffer, else 0.
    block_width, block_clock_hz : of the hard block.
    crossing_ns    : time that a request and its completion take to cross the clocks.
    """
    names:          tuple
    gen:            int
    lanes:          int
    width:          int
    clock_hz:       int
    tags:           int
    split:          bool
    space:          tuple
    fabric:         int
    block_width:    int
    block_clock_hz: int
    crossing_ns:    int

    @property
    def link(self):
        return self.gen, self.lanes

    @property
    def blocks(self):
        """Completions of 64 bytes that outstanding reads may need at most: the buffer in the fabric, or the block's."""
        if self.fabric:
            return blocks_of(DEPTH, self.fabric)[0]
        completions, data = self.space
        return min(completions, data//RCB_BYTES)

    @property
    def title(self):
        return ", ".join(self.names)


def hardware(board, configuration):
    """Returns the ``Hardware`` of a ``Configuration`` of a ``Board``."""
    gen, lanes, width = configuration.gen, configuration.lanes, configuration.data_width
    block  = HARD_BLOCKS[board.family]
    split  = block != "7-series"
    bits, clock = block_setting(board.family, configuration)
    sys_clock  = round(configuration.sys_clk_freq)
    of_sys, of_block = CROSSING_CYCLES[split]
    return Hardware((board.name,), gen, lanes, width, sys_clock, configuration.tags, split,
        space          = space_of_family(block, lanes),
        fabric         = bits if split else 0,
        block_width    = BLOCK_WIDTHS.get(lanes, bits) if split else bits,
        block_clock_hz = clock,
        crossing_ns    = round(1e9*(of_sys/sys_clock + of_block/clock)),
    )


def with_hard_block():
    """Returns the boards whose PHY is a hard block: their buffers and tags are known. Others are not measured here."""
    return [board for board in boards() if board.family in HARD_BLOCKS]


def names():
    """Returns the names of their targets."""
    return tuple(board.name for board in with_hard_block())


def board_name(hardware):
    """Returns the name of a row of boards as the documents have it, such as "KCU105, Gen3 x8"."""
    name = next(words for target, words in DOCUMENTED.items() if target in hardware.names)
    return f"{name}, Gen{hardware.gen} x{hardware.lanes}"


def grouped(found):
    """Returns each different ``Hardware`` once, with the names of all its targets."""
    names = defaultdict(list)
    for one in found:
        names[replace(one, names=())] += [name for name in one.names if name not in names[replace(one, names=())]]
    return [replace(one, names=tuple(targets)) for one, targets in names.items()]


def defaults(only=()):
    """Returns the ``Hardware`` of each board's default build and of its widest link; ``only``: names of targets."""
    found = []
    for board in with_hard_block():
        if not only or board.name in only:
            widest = max(board.links, key=lambda link: (link[1], link[0]))
            found += [hardware(board, board.configure()), hardware(board, board.configure(*widest))]
    return grouped(found)


def everything():
    """Returns the ``Hardware`` of each link and data path of each board that keeps up with the link."""
    return grouped(hardware(board, one) for board in with_hard_block() for one in board.configurations()
        if one.data_path_rate >= one.link_rate)
