#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Stock LitePCIe, with its own driver and tool, as the card of a virtual machine.

    python -m litepcie_sim.card.stock run --count-violations -- litepcie_util info
    python -m litepcie_sim.card.stock shell

SoC, DMA, driver and tool are those of the installed packages ``litex`` and ``litepcie``, unmodified. Only the PHY is
the simulated one.
"""

import shutil
import sys

from pathlib import Path

import litepcie

from litex.soc.integration import export
from litex.soc.integration.soc_core import SoCMini

from litepcie_sim.card.card import Card, CardError, Software
from litepcie_sim.card.litex import SimCardPHY, SimCRG, SimPlatform, build
from litepcie_sim.card.run import main
from litepcie_soc.build import processes
from litepcie_soc.soc.export import reproducible, write_if_changed

# A 7-series board with four lanes.
CARD = Card(gen=2, lanes=4, data_width=128, clock_hz=125_000_000, bars={0: 0x100000},
    vendor_id=0x10ee, device_id=0x7024, subsystem_vendor_id=0x10ee, subsystem_device_id=0x0007)


class StockSoC(SoCMini):
    """What a board of LiteX-Boards has with ``--with-pcie``: control registers, identifier, one DMA with loopback."""
    def __init__(self, card=CARD):
        platform = SimPlatform(card)
        self.crg = SimCRG(platform)
        SoCMini.__init__(self, platform, card.clock_hz, ident="stock LitePCIe")
        self.pcie_phy = SimCardPHY(platform, card)
        self.add_pcie(phy=self.pcie_phy, ndmas=1)


def lay_out_software(soc, folder):
    """Copies LitePCIe's driver and tool into ``folder`` with the headers of a finalised SoC, as its own generator does,
    but without the date. Builds the tool and returns the ``Software``. Raises ``CardError``.
    """
    shutil.copytree(Path(litepcie.__file__).parent / "software", folder, dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in {
        "csr.h": export.get_csr_header(soc.csr_regions, soc.constants, with_access_functions=False),
        "soc.h": export.get_soc_header(soc.constants, with_access_functions=False),
        "mem.h": export.get_mem_header(soc.mem_regions),
    }.items():
        write_if_changed(folder / "kernel" / name, reproducible(text))
    status, output = processes.run(["make", "-C", folder / "user", "litepcie_util", "LDFLAGS=-g -static"])
    if status:
        raise CardError(f"litepcie_util does not build: {output.strip()[-500:]}")
    return Software(folder / "kernel", ("litepcie.ko",), ((folder / "user" / "litepcie_util", "/bin/litepcie_util"),))


def make(folder):
    soc = StockSoC()
    soc.finalize()
    build(soc, CARD, folder, lay_out_software(soc, folder / "stock"))


if __name__ == "__main__":
    sys.exit(main(make, "stock"))
