#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Clock-domain crossings between `sys` and the clock of the hard block, with conversion of the data width.

LitePCIe's PHYs have crossings too (`data_width`, `pcie_data_width`). They lose beats where `sys` is the wider side
(litepcie pull request 181), and send TLPs with an empty last beat where `sys` is the narrower side. We therefore
create LitePCIe's PHYs with `cd="pcie"`, which leaves their crossings out, and put these crossings around them.
"""

from migen import *
from migen.genlib.cdc import BlindTransfer, MultiReg

from litex.gen import *

from litex.soc.interconnect import stream
from litex.gen.genlib.misc import WaitTimer

from litepcie_soc.common.pcie import check_data_width, phy_layout
from litepcie_soc.phy.framing import StartOfTLP
from litepcie_soc.phy.gate import LinkGate

# Width --------------------------------------------------------------------------------------------
# Converts packets to half or twice the data width.
#
# The layouts have `dat` and its enables: `be` (one bit per byte) or `keep` (one bit per dword). They may have `user`,
# of the same width on both sides, which travels with the first half. The modules are written in `sys`;
# ClockDomainsRenamer moves them where they are needed.


def check_widths(wide, narrow):
    """Raises ValueError unless `wide` (bits) is equal to `narrow` or twice that."""
    check_data_width(wide)
    check_data_width(narrow)
    if wide not in (narrow, 2*narrow):
        raise ValueError(f"data_width {wide} is not supported with pcie_data_width {narrow}; choose {narrow} or "
            f"{2*narrow}")


def enables(endpoint):
    """The enables of the data: `be` or `keep`."""
    return endpoint.be if hasattr(endpoint, "be") else endpoint.keep

# Narrower -----------------------------------------------------------------------------------------


class Narrower(LiteXModule):
    """Splits each beat into its two halves, and skips an upper half that is not enabled.

    The path is combinatorial and transfers one half per cycle.

    Parameters
    ----------
    wide, narrow : layouts of the sink and of the source.

    Attributes
    ----------
    sink   : stream of `wide`, **in**.
    source : stream of `narrow`, **out**.
    """
    def __init__(self, wide, narrow):
        self.sink   = sink   = stream.Endpoint(wide)
        self.source = source = stream.Endpoint(narrow)

        # # #

        half    = len(source.dat)
        enabled = enables(sink)
        count   = len(enabled)//2
        second  = Signal()  # The upper half is on `source`.
        done    = Signal()  # No other half follows of this beat.
        self.comb += [
            done.eq(second | ~enabled[count]),
            source.valid.eq(sink.valid),
            source.first.eq(sink.first & ~second),
            source.last.eq(sink.last & done),
            source.dat.eq(Mux(second, sink.dat[half:], sink.dat[:half])),
            enables(source).eq(Mux(second, enabled[count:], enabled[:count])),
            sink.ready.eq(source.ready & done),
        ]
        if hasattr(sink, "user"):
            self.comb += If(~second, source.user.eq(sink.user))
        self.sync += If(source.valid & source.ready, second.eq(~done))

# Wider --------------------------------------------------------------------------------------------


class Wider(LiteXModule):
    """Joins pairs of beats into beats of twice the width.

    A packet always begins in the lower half; a packet that ends there leaves without an upper half. The module stores
    the first beat of a pair; the path of the second beat is combinatorial. It accepts one beat per cycle.

    Parameters
    ----------
    narrow, wide : layouts of the sink and of the source.

    Attributes
    ----------
    sink   : stream of `narrow`, **in**.
    source : stream of `wide`, **out**; `dat` is undefined where it is not enabled.
    """
    def __init__(self, narrow, wide):
        self.sink   = sink   = stream.Endpoint(narrow)
        self.source = source = stream.Endpoint(wide)

        # # #

        enabled = enables(sink)
        kept    = stream.Endpoint(narrow)
        second  = Signal()  # `kept` holds the first beat of a pair.
        goes    = Signal()  # The beat on `sink` leaves at once: it completes a pair, or ends its packet.
        self.comb += [
            goes.eq(second | sink.last),
            source.valid.eq(sink.valid & goes),
            source.first.eq(Mux(second, kept.first, sink.first)),
            source.last.eq(sink.last),
            source.dat.eq(Cat(Mux(second, kept.dat, sink.dat), sink.dat)),
            enables(source).eq(Mux(second, Cat(Replicate(1, len(enabled)), enabled), enabled)),
            sink.ready.eq(source.ready | ~goes),
        ]
        self.sync += [
            If(sink.valid & sink.ready, second.eq(~goes)),
            If(~second, kept.dat.eq(sink.dat), kept.first.eq(sink.first)),
        ]
        if hasattr(sink, "user"):
            self.comb += source.user.eq(Mux(second, kept.user, sink.user))
            self.sync += If(~second, kept.user.eq(sink.user))

# Crossings ----------------------------------------------------------------------------------------

# Beats in an asynchronous FIFO. It covers the round trip of the FIFO's pointers at clock ratios up to 1:4, so that the
# slower side transfers a beat per cycle.
DEPTH = 16

# Cycles of `sys` that a reset lasts: long enough for it to start on both sides before it ends on either.
RESET_CYCLES = 32


def in_pcie(module):
    return ClockDomainsRenamer("pcie")(module)


def in_link(module):
    return ClockDomainsRenamer("pcie_link")(module)


def async_fifo(layout, write, read):
    fifo = stream.AsyncFIFO(layout, DEPTH, buffered=True)
    return ClockDomainsRenamer({"write": write, "read": read})(fifo)


def chain(stages):
    """Statements that connect the `source` of each stage to the `sink` of the next one."""
    return [before.source.connect(after.sink) for before, after in zip(stages, stages[1:])]

# Transmit -----------------------------------------------------------------------------------------


class TransmitCrossing(LiteXModule):
    """Carries TLPs of the card from `sys` to the hard block.

    If a reset of the crossing truncates a TLP, the crossing adds a last beat, so that the hard block sees the TLP end.
    The 7-series block needs this: after a loss of the link it still waits for the end of the TLP, and would take the
    next TLP as part of it.

    Parameters
    ----------
    data_width      : int, bits in `sys`: `pcie_data_width` or twice that.
    pcie_data_width : int, bits of the hard block.

    Attributes
    ----------
    sink    : stream of `phy_layout(data_width)`, **in**; beats are accepted and dropped while the crossing is in reset.
    source  : stream of `phy_layout(pcie_data_width)`, **out**, `pcie`.
    link_up : Signal(), **in**, `pcie`, the crossing is not in reset.
    cut     : Signal(), **out**, `pcie`, the beat on `source` was added to end a truncated TLP.
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
        # Registers `ready`, which the hard block drives late in the cycle.
        self.ready  = ready  = in_link(stream.PipeReady(pcie_layout))
        self.gate   = gate   = in_pcie(LinkGate(pcie_data_width, ends=True))
        self.comb  += chain([*stages, ready, gate])

        self.sink    = buffer.sink
        self.source  = gate.source
        self.link_up = gate.link_up
        self.cut     = gate.cut

# Receive ------------------------------------------------------------------------------------------


class ReceiveCrossing(LiteXModule):
    """Carries TLPs of the host from the hard block to `sys`.

    If a reset of the crossing truncates a TLP, the crossing drops the rest of it. Its first beats may already have
    left `source`; the gate in `PHYShape` ends such a TLP.

    Parameters
    ----------
    data_width      : int, bits in `sys`: `pcie_data_width` or twice that.
    pcie_data_width : int, bits of the hard block.

    Attributes
    ----------
    sink    : stream of `phy_layout(pcie_data_width)`, **in**, `pcie`; `first` is ignored.
    source  : stream of `phy_layout(data_width)`, **out**; `valid` may deassert without a transfer when the link goes
        down.
    link_up : Signal(), **in**, `pcie`, the crossing is not in reset.
    """
    def __init__(self, data_width, pcie_data_width):
        check_widths(data_width, pcie_data_width)
        layout, pcie_layout = phy_layout(data_width), phy_layout(pcie_data_width)

        # # #

        # These two are not reset with the link. The hard block ends each TLP it has begun, unless it is itself in
        # reset, and then all of `pcie` is.
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

# Link Crossing ------------------------------------------------------------------------------------


class LinkCrossing(LiteXModule):
    """All crossings of one PHY. They are held in reset, and therefore empty, while the link is down.

    Defines the clock domains `sys_link` and `pcie_link`. Their clocks are those of `sys` and `pcie`; one common reset
    replaces the resets of these two. With separate resets, one side of a FIFO could lose beats or pointers that the
    other side still counts on.

    Parameters
    ----------
    data_width      : int, bits in `sys`: `pcie_data_width` or twice that.
    pcie_data_width : int, bits of the hard block.
    link_up         : Signal(), the hard block reports that the link is up.
    drained         : Signal(), `pcie`, buffers between the hard block and the crossings are empty. While the link is
        down their beats are dropped; the crossings stay in reset until none is left.

    Attributes
    ----------
    link_up : Signal(), **out**, the link is up and both sides of the crossings are out of reset.
    """
    def __init__(self, data_width, pcie_data_width, link_up, drained=None):
        self.widths       = (data_width, pcie_data_width)
        self.link_up      = Signal()
        self.cd_sys_link  = ClockDomain()
        self.cd_pcie_link = ClockDomain()

        # # #

        pcie_reset = Signal()
        reset      = Signal(reset=1)
        awake      = Signal()  # `pcie_link` is out of reset, as seen in `sys`.
        empty      = Signal(reset=1)  # `drained`, as seen in `sys`.
        self.timer = timer = WaitTimer(RESET_CYCLES)
        self.specials += [
            MultiReg(ResetSignal("pcie"), pcie_reset, reset=1),
            MultiReg(reset, self.cd_pcie_link.rst, "pcie", reset=1),
            MultiReg(~self.cd_pcie_link.rst, awake),
        ]
        if drained is not None:
            settled = Signal(reset=1)  # `drained` may be a comparison, which pulses while its registers change.
            self.sync.pcie += settled.eq(drained)
            self.specials  += MultiReg(settled, empty)
        self.comb += [
            timer.wait.eq(link_up & ~pcie_reset & (empty | ~reset)),
            self.cd_sys_link.clk.eq(ClockSignal("sys")),
            self.cd_sys_link.rst.eq(reset),
            self.cd_pcie_link.clk.eq(ClockSignal("pcie")),
        ]
        self.sync += [
            reset.eq(~timer.done),
            self.link_up.eq(timer.wait & ~reset & awake),
        ]

    def transmit(self, sink):
        """Adds a `TransmitCrossing` that drives `sink` (`pcie`), and returns it."""
        crossing = TransmitCrossing(*self.widths)
        self.comb += crossing.source.connect(sink)
        return self.add(crossing)

    def receive(self, source):
        """Adds a `ReceiveCrossing` that `source` (`pcie`) drives, and returns it."""
        crossing = ReceiveCrossing(*self.widths)
        self.comb += source.connect(crossing.sink)
        return self.add(crossing)

    def message(self, sink):
        """Adds a FIFO for MSI that drives `sink` (`pcie`), and returns it."""
        crossing = stream.ClockDomainCrossing(sink.description, "sys_link", "pcie_link")
        self.submodules += crossing
        self.comb += crossing.source.connect(sink)
        return crossing

    def strobe(self, strobe):
        """Returns a strobe of one cycle in `pcie` for a strobe in `sys`. A second one within some cycles is lost."""
        transfer         = BlindTransfer("sys_link", "pcie_link")
        self.submodules += transfer
        self.comb       += transfer.i.eq(strobe)
        return transfer.o

    def add(self, crossing):
        self.submodules += crossing
        self.comb += crossing.link_up.eq(~self.cd_pcie_link.rst)
        return crossing
