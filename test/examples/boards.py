# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The modules of the example boards."""

import importlib.util

from pathlib import Path

GATEWARE = Path(__file__).resolve().parents[2] / "examples" / "gateware"


def example(name):
    """The module of an example board."""
    spec   = importlib.util.spec_from_file_location(name, GATEWARE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
