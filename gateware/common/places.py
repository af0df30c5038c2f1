#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Where the files are that travel with the Python code: in a clone, or in an installed package."""

from pathlib import Path

# A clone has these folders beside gateware/. In an installed package they are inside litepcie_soc, as setup.py says.
CLONE     = Path(__file__).resolve().parents[2]
PACKAGE   = Path(__file__).resolve().parents[1]
INSTALLED = (PACKAGE / "software").is_dir()
SOFTWARE  = (PACKAGE if INSTALLED else CLONE) / "software"
TARGETS   = (PACKAGE if INSTALLED else CLONE) / "targets"
# The simulator's sources are in a package of their own.
SIM       = PACKAGE.parent / "litepcie_sim" if INSTALLED else CLONE / "sim"
# Build folders: of the clone, or of the folder in which an installed program is started.
BUILD     = (Path.cwd() if INSTALLED else CLONE) / "build"
