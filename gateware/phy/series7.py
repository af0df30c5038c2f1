#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""LitePCIe's PHY of 7-series, with what the hard block has and needs and the PHY does not say or do."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litepcie.phy.s7pciephy import S7PCIEPHY

from litepcie_soc.phy.crossing import LinkCrossing
from litepcie_soc.phy.framing import StraddleAligner
from litepcie_soc.phy.order import Passed, PostedOrder

# PHY ----------------------------------------------------------------------------------------------

PCIE_DATA_WIDTHS = (64, 128)  # Of the block.


class Series7PHY(S7PCIEPHY):
    """`S7PCIEPHY` with our own crossing, in the place of LitePCIe's, and the link's state as `PHYShape` looks for it.

    Parameters
    ----------
    data_width      : int, bits in `sys`; that of the block or twice as many.
    pcie_data_width : int, bits of the block: 64 or 128; those nearest to `data_width` if None.
    others as of `S7PCIEPHY`.

    Attributes
    ----------
    sink, source : streams of `phy_layout(data_width)`, **in** (card to host) and **out**, `sys`.
    msi          : stream of `dat[8]`, **in**, `sys`; behind the TLPs before it as far as the ports of the block.
    bus_master_enable, link_up, extended_tag : Signal(), **out**, `sys`.

    Raises ValueError for widths that cannot be.
    """
    def __init__(self, platform, pads, data_width=64, pcie_data_width=None, **options):
        pcie_data_width = pcie_data_width or min(data_width, max(PCIE_DATA_WIDTHS))
        if pcie_data_width not in PCIE_DATA_WIDTHS:
            raise ValueError(f"pcie_data_width must be one of {PCIE_DATA_WIDTHS}, not {pcie_data_width!r}")
        S7PCIEPHY.__init__(self, platform, pads, data_width=pcie_data_width, cd="pcie", **options)
        self.data_width = data_width

        # # #

        ports = self.pcie_phy_params
        if pcie_data_width == 128:
            self.align(ports)
        self.crossing = crossing = LinkCrossing(data_width, pcie_data_width, self._link_status.fields.status)
        transmit      = crossing.transmit(self.sink)
        self.sink     = transmit.sink
        self.source   = crossing.receive(self.source).source
        self.msi      = self.ordered(crossing.message(self.msi).sink, transmit.source)
        # Transmit Source Discontinue: a TLP that a reset of `sys` cuts does not go out (PG054, "Transmit Interface").
        ports["i_s_axis_tx_tuser"] = Cat(Constant(0, 3), transmit.cut)

        self.link_up           = crossing.link_up
        self.bus_master_enable = self._bus_master_enable.status
        self.extended_tag      = Signal()
        # Device Control, bit 8 (PCIe 4.0 7.5.3.4): set if the core says that it can ("Extended_Tag_Field").
        self.specials += MultiReg(ports["o_cfg_dcommand"][8], self.extended_tag)

    def ordered(self, msi, beyond):
        """A stream before `msi` whose MSI wait until the TLPs before them are through `beyond` (`pcie`)."""
        self.passed = passed = Passed([beyond.valid & beyond.ready & beyond.last])
        self.order  = order  = PostedOrder()
        self.comb += [
            order.entered.eq(self.sink.valid & self.sink.ready & self.sink.last),
            order.passed.eq(passed.count),
            order.reset.eq(~self.crossing.link_up),
        ]
        return order.behind(msi, packets=False)

    def align(self, ports):
        """An aligner before LitePCIe's, which then has nothing to do: no TLP begins at dword 2."""
        self.aligner = aligner = ClockDomainsRenamer("pcie")(StraddleAligner())
        sink, source = aligner.sink, aligner.source
        inner = {name: ports[f"o_m_axis_rx_{name}"] for name in ("tvalid", "tdata", "tkeep", "tuser")}
        ready = ports["i_m_axis_rx_tready"]
        user  = Signal(len(inner["tuser"]))
        ports.update(
            o_m_axis_rx_tvalid = sink.valid,
            o_m_axis_rx_tdata  = sink.dat,
            o_m_axis_rx_tkeep  = sink.be,
            o_m_axis_rx_tuser  = user,
            i_m_axis_rx_tready = sink.ready,
        )
        self.comb += [
            aligner.sof.eq(user[10:15]),
            aligner.eof.eq(user[17:22]),
            inner["tvalid"].eq(source.valid),
            inner["tdata"].eq(source.dat),
            inner["tkeep"].eq(source.be),
            inner["tuser"][21].eq(source.last),
            source.ready.eq(ready),
        ]
