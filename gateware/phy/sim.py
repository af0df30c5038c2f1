#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The PHY of the simulation: its far side are the top-level ports that the link model drives."""

from migen import *

from litex.gen import *

from litex.build.generic_platform import Pins, Subsignal
from litex.soc.interconnect import stream

from litepcie_soc.common import check_data_width, phy_layout

# Ports --------------------------------------------------------------------------------------------

def sim_phy_io(data_width):
    """Platform resources of the simulation PHY: top-level ports `tx_*`, `rx_*`, `phy_*` and `msi_*`."""
    def beat():
        return [
            Subsignal("valid", Pins(1)), Subsignal("ready", Pins(1)),
            Subsignal("first", Pins(1)), Subsignal("last",  Pins(1)),
            Subsignal("dat", Pins(data_width)), Subsignal("be", Pins(data_width//8)),
        ]
    return [
        ("tx", 0, *beat()),
        ("rx", 0, *beat()),
        ("phy", 0,
            Subsignal("id",                Pins(16)),
            Subsignal("max_payload_size",  Pins(16)),
            Subsignal("max_request_size",  Pins(16)),
            Subsignal("extended_tag",      Pins(1)),
            Subsignal("bus_master_enable", Pins(1)),
            Subsignal("link_up",           Pins(1)),
            Subsignal("msi_enable",        Pins(1)),
        ),
        ("msi", 0, Subsignal("valid", Pins(1)), Subsignal("ready", Pins(1)), Subsignal("dat", Pins(8))),
    ]

# Simulation PHY -----------------------------------------------------------------------------------

class SimPHY(LiteXModule):
    """PHY in the shared shape of LitePCIe's 7-series one, without a hard block behind it.

    Parameters
    ----------
    data_width : int, bits.
    pads       : dict with the resources `tx`, `rx`, `phy`, `msi` of `sim_phy_io`; none in unit tests.
    endianness : "big" or "little", of payload dwords.
    bar0_size  : int, bytes.

    Attributes
    ----------
    sink, source : streams of `phy_layout`, **in** (card to host) and **out**, `sys`.
    msi          : stream of `dat[8]` (vector), **in**, `sys`; stands behind every TLP taken before it.
    id           : Signal(16), **out**, bus, device, function.
    max_payload_size, max_request_size : Signal(16), **out**, bytes.
    extended_tag, bus_master_enable, link_up, msi_enable : Signal(), **out**.
    """
    qword_aligned = False
    def __init__(self, data_width, *, pads=None, endianness="big", bar0_size=0x200000):
        check_data_width(data_width)
        if endianness not in ("big", "little"):
            raise ValueError(f"endianness must be 'big' or 'little', not {endianness!r}")
        self.data_width = data_width
        self.endianness = endianness
        self.bar0_size  = bar0_size

        self.sink   = stream.Endpoint(phy_layout(data_width))
        self.source = stream.Endpoint(phy_layout(data_width))
        self.msi    = stream.Endpoint([("dat", 8)])

        self.id                = Signal(16)
        self.max_payload_size  = Signal(16)
        self.max_request_size  = Signal(16)
        self.extended_tag      = Signal()
        self.bus_master_enable = Signal()
        self.link_up           = Signal()
        self.msi_enable        = Signal()

        # # #

        if pads is not None:
            self.connect_pads(pads)

    def connect_pads(self, pads):
        tx, rx, phy, msi = (pads[name] for name in ("tx", "rx", "phy", "msi"))
        for name in ("valid", "first", "last", "dat", "be"):
            self.comb += [
                getattr(tx, name).eq(getattr(self.sink, name)),
                getattr(self.source, name).eq(getattr(rx, name)),
            ]
        self.comb += [
            self.sink.ready.eq(tx.ready),
            rx.ready.eq(self.source.ready),
            msi.valid.eq(self.msi.valid),
            msi.dat.eq(self.msi.dat),
            self.msi.ready.eq(msi.ready),
        ]
        for name in ("id", "max_payload_size", "max_request_size", "extended_tag", "bus_master_enable",
            "link_up", "msi_enable"):
            self.comb += getattr(self, name).eq(getattr(phy, name))
