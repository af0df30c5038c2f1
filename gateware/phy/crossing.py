#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""From `sys` to the clock of the hard block and back, and from our data width to its own.

LitePCIe's PHYs have crossings too (`data_width`, `pcie_data_width`): wider in `sys` they lose beats (litepcie pull
request 181), narrower they send TLPs with an empty last beat. So PHYs are made with `cd="pcie"` and these around them.
"""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *
from litex.gen.genlib.misc import WaitTimer

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import phy_layout
from litepcie_soc.phy.framing import StartOfTLP
from litepcie_soc.phy.gate import LinkGate
from litepcie_soc.phy.width import Narrower, Wider, check_widths

# Helpers ------------------------------------------------------------------------------------------

DEPTH = 16  # Beats between the clocks: more than pass while either side learns of the other's, at any ratio up to 1:4.

# A reset of both sides lasts as long: over in neither before it has begun in the other.
RESET_CYCLES = 32


def in_pcie(module):
    return ClockDomainsRenamer("pcie")(module)


def in_link(module):
    return ClockDomainsRenamer("pcie_link")(module)


def async_fifo(layout, write, read):
    fifo = stream.AsyncFIFO(layout, DEPTH, buffered=True)
    return ClockDomainsRenamer({"write": write, "read": read})(fifo)


def chain(stages):
    """Statements: each stage's `source` to the `sink` of the next."""
    return [before.source.connect(after.sink) for before, after in zip(stages, stages[1:])]

# Transmit -----------------------------------------------------------------------------------------

class TransmitCrossing(LiteXModule):
    """TLPs of the card. One that a reset cuts is ended towards the hard block by a beat that is none of its own.

    (7-series' waits for the end of a TLP over the loss of the link, and takes what comes then as part of it.)

    Parameters
    ----------
    data_width, pcie_data_width : int, bits; equal, or twice as many on our side.

    Attributes
    ----------
    sink    : stream of `phy_layout(data_width)`, **in**, `sys`; taken and lost while the crossing is in reset.
    source  : stream of `phy_layout(pcie_data_width)`, **out**, `pcie`.
    link_up : Signal(), **in**, `pcie`, the crossing is not in reset.
    cut     : Signal(), **out**, `pcie`, with a beat of `source`: it ends a TLP that was cut.
    """
    def __init__(self, data_width, pcie_data_width):
        check_widths(data_width, pcie_data_width)
        layout, pcie_layout = phy_layout(data_width), phy_layout(pcie_data_width)

        # # #

        self.buffer = buffer = ClockDomainsRenamer("sys_link")(stream.PipeValid(layout))
        self.fifo   = fifo   = async_fifo(layout, "sys_link", "pcie_link")
        stages      = [buffer, fifo]
        if data_width != pcie_data_width:
            self.narrower = in_link(Narrower(layout, pcie_layout))
            stages.append(self.narrower)
        # The hard block's `ready`, which is late, goes no further.
        self.ready  = ready  = in_link(stream.PipeReady(pcie_layout))
        self.gate   = gate   = in_pcie(LinkGate(pcie_data_width, ends=True))
        self.comb  += chain([*stages, ready, gate])

        self.sink    = buffer.sink
        self.source  = gate.source
        self.link_up = gate.link_up
        self.cut     = gate.cut

# Receive ------------------------------------------------------------------------------------------

class ReceiveCrossing(LiteXModule):
    """TLPs of the host. What is left of one that a reset cuts is dropped; its beginning may have come out.

    Parameters
    ----------
    data_width, pcie_data_width : int, bits; equal, or twice as many on our side.

    Attributes
    ----------
    sink    : stream of `phy_layout(pcie_data_width)`, **in**, `pcie`; `first` is not looked at.
    source  : stream of `phy_layout(data_width)`, **out**, `sys`; `valid` may fall with the link.
    link_up : Signal(), **in**, `pcie`, the crossing is not in reset.
    """
    def __init__(self, data_width, pcie_data_width):
        check_widths(data_width, pcie_data_width)
        layout, pcie_layout = phy_layout(data_width), phy_layout(pcie_data_width)

        # # #

        # Not reset with the link: the hard block ends what it has begun, or is reset itself, with its clock.
        self.start  = start  = in_pcie(StartOfTLP(pcie_data_width))
        self.gate   = gate   = in_pcie(LinkGate(pcie_data_width))
        self.ready  = ready  = in_link(stream.PipeReady(pcie_layout))
        stages      = [start, gate, ready]
        if data_width != pcie_data_width:
            self.wider = in_link(Wider(pcie_layout, layout))
            stages.append(self.wider)
        self.fifo   = fifo   = async_fifo(layout, "pcie_link", "sys_link")
        self.comb  += chain([*stages, fifo])

        self.sink    = start.sink
        self.source  = fifo.source
        self.link_up = gate.link_up

# All of a PHY -------------------------------------------------------------------------------------

class LinkCrossing(LiteXModule):
    """The crossings of one PHY. While the link is down they are in reset, and then empty.

    Domains `sys_link` and `pcie_link`: `sys` and `pcie`, with that reset in the place of their own. (Either's own alone
    would leave one side with what the other has forgotten.)

    Parameters
    ----------
    data_width, pcie_data_width : int, bits; equal, or twice as many on our side.
    link_up : Signal(), `sys`, as the hard block says.

    Attributes
    ----------
    link_up : Signal(), **out**, `sys`: the link is up, and the crossings are out of reset.
    """
    def __init__(self, data_width, pcie_data_width, link_up):
        self.widths       = (data_width, pcie_data_width)
        self.link_up      = Signal()
        self.cd_sys_link  = ClockDomain()
        self.cd_pcie_link = ClockDomain()

        # # #

        pcie_reset = Signal()
        reset      = Signal(reset=1)
        awake      = Signal()  # The other side too.
        self.timer = timer = WaitTimer(RESET_CYCLES)
        self.specials += [
            MultiReg(ResetSignal("pcie"), pcie_reset, reset=1),
            MultiReg(reset, self.cd_pcie_link.rst, "pcie", reset=1),
            MultiReg(~self.cd_pcie_link.rst, awake),
        ]
        self.comb += [
            timer.wait.eq(link_up & ~pcie_reset),
            self.cd_sys_link.clk.eq(ClockSignal("sys")),
            self.cd_sys_link.rst.eq(reset),
            self.cd_pcie_link.clk.eq(ClockSignal("pcie")),
        ]
        self.sync += [
            reset.eq(~timer.done),
            self.link_up.eq(timer.wait & ~reset & awake),
        ]

    def transmit(self, sink):
        """The crossing before `sink`."""
        crossing = TransmitCrossing(*self.widths)
        self.comb += crossing.source.connect(sink)
        return self.add(crossing)

    def receive(self, source):
        """The crossing behind `source`."""
        crossing = ReceiveCrossing(*self.widths)
        self.comb += source.connect(crossing.sink)
        return self.add(crossing)

    def message(self, sink):
        """The crossing, a FIFO, before `sink`: of MSI."""
        crossing = stream.ClockDomainCrossing(sink.description, "sys_link", "pcie_link")
        self.submodules += crossing
        self.comb += crossing.source.connect(sink)
        return crossing

    def add(self, crossing):
        self.submodules += crossing
        self.comb += crossing.link_up.eq(~self.cd_pcie_link.rst)
        return crossing
