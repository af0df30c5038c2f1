#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The logic of the options ``--streams``, ``--user-bus``, ``--host-buffers`` and ``--interrupts`` of every board.

Its registers have the same addresses on every board, so that the programs which test the simulated board run on a
real one too.
"""

from migen import *

from litex.gen import *

from litex.soc.cores.timer import Timer
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import wishbone
from litex.soc.interconnect.csr import CSRStatus, CSRStorage

from litepcie_soc.board.user_options import USER_RAM, USER_RAM_BYTES
from litepcie_soc.soc.host_copier import HostCopier
from litepcie_soc.soc.host_mover import HostMover
from litepcie_soc.stream_dma.pattern import StreamEnds

# User Core ----------------------------------------------------------------------------------------


class UserCore(LiteXModule):
    """What a designer might add: registers, a timer, sources of interrupts.

    Registers
    ---------
    operand : 32 bits.
    result  : 32 bits, ``operand`` with its bits inverted.
    level   : 1 bit, the interrupt of this name.
    pulse   : a write makes a pulse of a cycle, the interrupt of this name.
    storm   : 1 bit, the interrupt of this name, which then has a pulse in each cycle.

    Those of ``timer`` are LiteX's; its EventManager has the interrupt "timer".

    Attributes
    ----------
    interrupts : list of (name, source, pulse) for ``add_interrupt``.
    """
    def __init__(self):
        self.operand = CSRStorage(32, description="A value.")
        self.result  = CSRStatus(32, description="The value with its bits inverted.")
        self.level   = CSRStorage(description="Level of an interrupt.")
        self.pulse   = CSRStorage(description="A write makes a pulse.")
        self.storm   = CSRStorage(description="A pulse in each cycle.")
        self.timer   = Timer()
        self.interrupts = [
            ("level", self.level.storage,  False),
            ("pulse", self.pulse.re,       True),
            ("storm", self.storm.storage,  True),
            ("timer", self.timer.ev.irq,   False),
        ]

        # # #

        self.comb += self.result.status.eq(~self.operand.storage)

# Functions ----------------------------------------------------------------------------------------


def add_user_logic(soc, options):
    """Adds the logic of ``UserOptions`` to a SoC whose card has ``options.card()``."""
    card = soc.litepcie
    if options.core:
        soc.core = UserCore()
        soc.csr.add("core", n=0)
    if options.user_bus:
        soc.user_ram = wishbone.SRAM(USER_RAM_BYTES)
        soc.bus.add_slave("ram", soc.user_ram.bus, SoCRegion(origin=USER_RAM, size=USER_RAM_BYTES))
    interrupts = soc.core.interrupts if options.interrupts else []
    if options.host_buffers:
        add_host_logic(soc, card)
        interrupts = [*interrupts, *[("copied", soc.user_copier.done, True)] * options.interrupts]
    for name, source, pulse in interrupts:
        card.add_interrupt(name, source, pulse)
    for place, channel in enumerate(card.streams[:options.streams]):
        ends = StreamEnds(soc.pcie_phy.data_width, loop=place < options.streams - options.patterns)
        soc.add_module(f"stream{place}", ends)
        soc.comb += [channel.source.connect(ends.sink), ends.source.connect(channel.sink)]


def add_host_logic(soc, card):
    """Adds logic that moves data between buffers in host memory, and to and from the endpoint memory."""
    soc.user_copier = HostCopier(log2_int(card.host.bytes))
    soc.user_mover  = mover = HostMover(card.descriptor_port)
    soc.comb += [
        soc.user_copier.bus.connect(card.host.bus),
        mover.source.connect(card.descriptor_port.sink),
        card.descriptor_port.source.connect(mover.sink),
    ]
    for page, name in enumerate(("user_copier", "user_mover"), start=1):
        soc.csr.add(name, n=page)
