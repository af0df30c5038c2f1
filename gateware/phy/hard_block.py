#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What the hard blocks behind LitePCIe 2024.12's PHYs have and need, and the PHYs do not say or do."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litepcie.phy.s7pciephy import S7PCIEPHY
from litepcie.phy.uspciephy import USPCIEPHY
from litepcie.phy.usppciephy import USPPCIEPHY

from litepcie_soc.common import RCB_BYTES
from litepcie_soc.phy.framing import StraddleAligner
from litepcie_soc.phy.order import Passed, PostedOrder

# Completion Buffers -------------------------------------------------------------------------------

HEADER_CREDIT = 16  # Bytes of buffer a completion's header counts for (PCIe 4.0 2.6.1).

# Completions a hard block keeps for its user: how many, and bytes of data. They advertise infinite credits, so more
# than that is lost.
#
# 7-series: CPLH and CPLD of the core as LitePCIe configures it, from c_fc_cplh, c_fc_cpld of the cores LitePCIe's
# repository carried (phy/xilinx_s7_gen2_x4, _x8: 850 and 370 of 16 bytes).
# UltraScale: PG156 4.4, UltraScale+: PG213 1.3, both appendix "Managing Receive-Buffer Space", "Completion Space".
def completion_space(phy):
    """(completions, bytes) that the hard block of a LitePCIe PHY keeps, or None for a PHY that is not known."""
    if isinstance(phy, S7PCIEPHY):
        return (72, 370*16) if phy.nlanes == 8 else (72, 850*16)
    if isinstance(phy, USPPCIEPHY):
        return (128, 32768)
    if isinstance(phy, USPCIEPHY):
        return (64, 15872)
    return None


def completion_buffer_bytes(phy):
    """Default of `completion_buffer_bytes` for a PHY: headers counted, its own attribute of that name if it has one.

    A host may answer in completions of 64 bytes, so a buffer that runs out of headers first is as small as those.
    Raises ValueError for a PHY that is not known.
    """
    if hasattr(phy, "completion_buffer_bytes"):
        return phy.completion_buffer_bytes
    space = completion_space(phy)
    if space is None:
        raise ValueError(f"completion_buffer_bytes of {type(phy).__name__} is not known: give it")
    completions, data = space
    return min(completions, data//RCB_BYTES)*(RCB_BYTES + HEADER_CREDIT)

# Check --------------------------------------------------------------------------------------------

def check_phy(phy):
    """Raises ValueError, saying why, for a LitePCIe PHY that cannot carry this transaction layer."""
    name = type(phy).__name__
    if getattr(phy, "qword_aligned", False):
        raise ValueError(f"{name} aligns payload to 64 bits: not supported")
    # Wider behind the clock crossing: beats are lost (litepcie pull request 181). Narrower: empty last beats are sent.
    if getattr(phy, "pcie_data_width", phy.data_width) != phy.data_width:
        raise ValueError(f"{name}: pcie_data_width must be data_width, {phy.data_width}, not {phy.pcie_data_width}")
    if isinstance(phy, (USPCIEPHY, USPPCIEPHY)) and not hasattr(phy, "bus_master_enable"):
        raise ValueError(f"{name} loses addresses, poison and errors on their way: take UltraScalePHY or "
            "UltraScalePlusPHY of litepcie_soc.phy.ultrascale.phy")

# Hard Block ---------------------------------------------------------------------------------------

class HardBlock(LiteXModule):
    """State of the link from the ports of the 7-series' hard block, and what must be put right there.

    To be made before the PHY is finalised: it looks at, and changes, the connections of its instance.

    Parameters
    ----------
    phy : S7PCIEPHY (or one made from it).

    Attributes
    ----------
    bus_master_enable, link_up, extended_tag : **out**, `sys`.
    msi : stream of `dat[8]`, **in**, `sys`: in order with the TLPs as far as the ports of the instance.
    """
    def __init__(self, phy):
        ports        = phy.pcie_phy_params
        self.link_up = phy._link_status.fields.status
        self.bus_master_enable = phy._bus_master_enable.status
        # Device Control, bit 8 (PCIe 4.0 7.5.3.4): set if the core says that it can ("Extended_Tag_Field").
        self.extended_tag = self.resync(ports["o_cfg_dcommand"][8])

        # # #

        if phy.pcie_data_width == 128:
            self.align(phy, ports)
        self.msi = self.order_msi(phy) if hasattr(phy, "msi_cdc") else phy.msi

    def order_msi(self, phy):
        """The PHY crosses clocks: an MSI waits until the TLPs before it have crossed. Returns its sink."""
        beyond      = phy.tx_datapath.source
        self.passed = passed = Passed([beyond.valid & beyond.ready & beyond.last])
        self.order  = order  = PostedOrder()
        self.comb += [
            order.entered.eq(phy.sink.valid & phy.sink.ready & phy.sink.last),
            order.passed.eq(passed.count),
            order.reset.eq(~self.link_up),
        ]
        return order.behind(phy.msi, packets=False)

    def resync(self, signal):
        synced = Signal()
        self.specials += MultiReg(signal, synced)
        return synced

    def align(self, phy, ports):
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
