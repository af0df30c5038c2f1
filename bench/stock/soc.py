#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Stock LitePCIe with the simulation PHY: its endpoint, crossbar and DMA, connected as in LiteX's ``add_pcie``.

Only the PHY is from this project.

    python -m litepcie_bench.stock.soc --data-width 128                           build/stock_128/
    python -m litepcie_bench.stock.soc --data-width 128 --pending-requests 16     build/stock_128_pending16/
    python -m litepcie_bench.stock.soc --data-width 128 --address-width 64        build/stock_128_address64/
"""

import argparse
import logging
import subprocess
import sys

from pathlib import Path

from migen import *

from litex.gen import *

from litex.build.generic_platform import GenericPlatform, Pins
from litex.soc.integration import export
from litex.soc.integration.soc_core import SoCMini
from litex.soc.interconnect import stream
from litex.soc.interconnect.csr import CSRStatus, CSRStorage

from litepcie.common import dma_layout, get_bar_mask
from litepcie.core import LitePCIeEndpoint, LitePCIeMSI
from litepcie.frontend.dma import LitePCIeDMA
from litepcie.frontend.wishbone import LitePCIeWishboneMaster

from litepcie_bench.stock import ADDRESS_WIDTH, MAX_PENDING_REQUESTS, folder_name
from litepcie_soc.phy.sim import SimPHY, sim_phy_io
from litepcie_soc.soc.export import export_verilog, reproducible, write_if_changed
from litepcie_soc.soc.link import PCI_ID

ROOT = Path(__file__).resolve().parents[2]

# Defaults of add_pcie, in addition to those of __init__.py.
BUFFERING_DEPTH = 1024
BAR0_SIZE       = 0x100000

# The user's logic ---------------------------------------------------------------------------------


def word_of(first, data_width):
    """Returns a word of ``data_width`` bits: the dwords ``first``, ``first`` + 1, ... of which the lowest comes first.

    ``first`` is a multiple of the dwords of a word.
    """
    count = data_width//32
    return Cat(*(Cat(Constant(lane, log2_int(count)), first[log2_int(count):]) for lane in range(count)))


class CountingSource(LiteXModule):
    """``source``: a word in every cycle, each dword one more than the one before it."""
    def __init__(self, data_width):
        self.source = source = stream.Endpoint(dma_layout(data_width))

        # # #

        first = Signal(32)
        self.comb += [source.valid.eq(1), source.data.eq(word_of(first, data_width))]
        self.sync += If(source.ready, first.eq(first + data_width//32))


class CountingCheck(LiteXModule):
    """``sink``: takes a word in every cycle and counts those that are not the next one.

    Attributes
    ----------
    length : CSR, dwords of a descriptor, after which the numbers begin again at 0; a write clears the counts.
    words  : CSR, words that came.
    wrong  : CSR, words of these with a wrong dword.
    """
    def __init__(self, data_width):
        self.sink   = sink = stream.Endpoint(dma_layout(data_width))
        self.length = CSRStorage(32, description="Dwords of a descriptor. A write clears the counts.")
        self.words  = CSRStatus(32, description="Words that came.")
        self.wrong  = CSRStatus(32, description="Words of these that had a wrong dword.")

        # # #

        first, following = Signal(32), Signal(32)
        self.comb += [sink.ready.eq(1), following.eq(first + data_width//32)]
        self.sync += [
            If(sink.valid,
                first.eq(following),
                If(following == self.length.storage, first.eq(0)),
                self.words.status.eq(self.words.status + 1),
                If(sink.data != word_of(first, data_width), self.wrong.status.eq(self.wrong.status + 1)),
            ),
            If(self.length.re,
                first.eq(0),
                self.words.status.eq(0),
                self.wrong.status.eq(0),
            ),
        ]

# SoC ----------------------------------------------------------------------------------------------


class StockSoC(SoCMini):
    """One DMA with its reader and writer.

    Parameters
    ----------
    platform   : GenericPlatform with the resources of ``sim_phy_io``, ``sys_clk`` and ``sys_rst``.
    data_width : bits of PHY and streams.
    pending    : reads that may be outstanding, ``max_pending_requests`` of ``add_pcie``.
    address    : bits of a host address, ``address_width`` of ``add_pcie``.
    dma        : further arguments of ``LitePCIeDMA``.
    """
    mem_map = {"csr": 0x0000_0000}

    def __init__(self, platform, data_width, pending=MAX_PENDING_REQUESTS, address=ADDRESS_WIDTH, sys_clk_freq=125e6,
        **dma):
        self.cd_sys = ClockDomain()
        self.comb += [
            self.cd_sys.clk.eq(platform.request("sys_clk")),
            self.cd_sys.rst.eq(platform.request("sys_rst")),
        ]
        SoCMini.__init__(self, platform, sys_clk_freq, csr_data_width=32, with_ctrl=False)

        # PHY --------------------------------------------------------------------------------------
        self.pcie_phy = phy = SimPHY(data_width,
            pads      = {name: platform.request(name) for name in ("tx", "rx", "phy", "msi")},
            bar0_size = BAR0_SIZE,
        )
        phy.bar0_mask = get_bar_mask(BAR0_SIZE)

        # Core -------------------------------------------------------------------------------------
        self.pcie_endpoint = LitePCIeEndpoint(phy,
            max_pending_requests = pending,
            endianness           = phy.endianness,
            address_width        = address,
        )
        self.pcie_mmap = LitePCIeWishboneMaster(self.pcie_endpoint,
            base_address = self.mem_map["csr"])
        self.bus.add_master(name="pcie_mmap", master=self.pcie_mmap.wishbone)
        self.pcie_msi = LitePCIeMSI()
        self.comb += [
            phy.msi.valid.eq(self.pcie_msi.source.valid),
            self.pcie_msi.source.ready.eq(phy.msi.ready),
        ]

        # DMA --------------------------------------------------------------------------------------
        self.pcie_dma0 = dma = LitePCIeDMA(phy, self.pcie_endpoint, **{
            "with_buffering":  True,
            "buffering_depth": BUFFERING_DEPTH,
            "with_loopback":   True,
            "address_width":   address,
            **dma,
        })
        self.comb += self.pcie_msi.irqs.eq(Cat(dma.writer.irq, dma.reader.irq))
        self.add_streams(dma)

        # For the simulator's board. It has no endpoint memory.
        for name, value in {"gen": 2, "lanes": 4, "data_width": data_width,
            "bar0_size": BAR0_SIZE, **PCI_ID}.items():
            self.add_config(f"PCIE_{name}", value)
        self.add_config("MEMORY_SIZE", 0)

    def add_streams(self, dma):
        """The reader's stream is taken at once, the writer's never runs dry: neither is what a figure waits for."""
        self.pcie_source = CountingSource(dma.data_width)
        self.pcie_check  = CountingCheck(dma.data_width)
        self.comb += [
            self.pcie_source.source.connect(dma.sink, keep={"valid", "ready", "data"}),
            dma.source.connect(self.pcie_check.sink, keep={"valid", "ready", "data"}),
        ]

# Build --------------------------------------------------------------------------------------------


def build(data_width, pending, address):
    """Emits the board's folder in build/ and its host program; returns make's exit status."""
    io       = [("sys_clk", 0, Pins(1)), ("sys_rst", 0, Pins(1))] + sim_phy_io(data_width)
    platform = GenericPlatform("sim", io, name="litepcie_soc_sim")
    folder   = ROOT / "build" / folder_name(data_width, pending, address)
    soc      = StockSoC(platform, data_width, pending, address)
    soc.finalize()
    headers  = folder / "software" / "include" / "generated"
    for name, text in {
        "csr.h": export.get_csr_header(soc.csr.regions, soc.constants,
            with_access_functions=False),
        "soc.h": export.get_soc_header(soc.constants, with_access_functions=False),
    }.items():
        write_if_changed(headers / name, reproducible(text))
    export_verilog(soc, platform, folder / "gateware", "litepcie_soc_sim")
    make = ["make", "--no-print-directory", "-C", str(Path(__file__).parent), f"BOARD={folder}", "PROFILE=1"]
    return subprocess.run(make).returncode


def main():
    logging.basicConfig(level=logging.WARNING)
    parser = argparse.ArgumentParser(description="Stock LitePCIe in simulation.")
    parser.add_argument("--data-width", type=int, choices=[64, 128, 256, 512], required=True,
        help="Data path, bits.")
    parser.add_argument("--pending-requests", type=int, choices=[8, 16, 32], default=MAX_PENDING_REQUESTS,
        help=f"Reads that may be outstanding ({MAX_PENDING_REQUESTS}).")
    parser.add_argument("--address-width", type=int, choices=[32, 64], default=ADDRESS_WIDTH,
        help=f"Bits of a host address ({ADDRESS_WIDTH}).")
    args = parser.parse_args()
    return build(args.data_width, args.pending_requests, args.address_width)


if __name__ == "__main__":
    sys.exit(main())
