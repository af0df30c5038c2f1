# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Cores as their user gets them: files from `litepcie_soc_gen`. No test knows what is inside."""

import subprocess
import sys
from pathlib import Path

ROOT      = Path(__file__).resolve().parents[3]
GENERATOR = Path(sys.executable).with_name("litepcie_soc_gen")
EXAMPLES  = ROOT / "gateware" / "standalone" / "examples"


def generate(config, folder, *options):
    """Runs the command on a configuration (a path) and returns what it did."""
    return subprocess.run([GENERATOR, config, "--output-dir", folder, *options], capture_output=True, text=True,
        timeout=120)
