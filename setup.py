#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Maps the folders of the tree onto package names: gateware/ is litepcie_soc, sim/ is
litepcie_sim, bench/ is litepcie_bench.
"""

from setuptools import find_packages, setup

FOLDERS = {"litepcie_soc": "gateware", "litepcie_sim": "sim", "litepcie_bench": "bench"}


def packages():
    names = []
    for name, folder in FOLDERS.items():
        names += [name] + [f"{name}.{package}" for package in find_packages(folder)]
    return names


setup(
    name             = "litepcie_soc",
    version          = "0.1.0",
    description      = "Host to FPGA over PCI Express: gateware, driver, tool and simulator",
    license          = "BSD-2-Clause",
    python_requires  = ">=3.11",
    package_dir      = FOLDERS,
    packages         = packages(),
    package_data     = {"litepcie_sim": ["guest/init.sh"], "litepcie_soc.standalone": ["examples/*.yml"]},
    entry_points     = {"console_scripts": ["litepcie_soc_gen = litepcie_soc.standalone.gen:main"]},
    install_requires = ["litex==2024.12", "litepcie==2024.12", "litedram==2024.12", "litescope==2024.12",
        "litex-boards==2023.12", "migen==0.10.0", "pyyaml"],
)
