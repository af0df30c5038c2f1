#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Finds the boards of the tree: one file per board in ``targets/``."""

import functools
import importlib.util
import sys

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "targets"
OTHERS = ("environment", "sim")  # Files in targets/ that are not about an FPGA board.
PATHS  = {path.stem: path for path in sorted(FOLDER.glob("*.py")) if path.stem not in OTHERS}
NAMES  = tuple(PATHS)


@functools.cache
def load(name):
    """Returns the module of a target. It can import other files of ``targets/``."""
    sys.path.insert(0, str(FOLDER))
    try:
        spec   = importlib.util.spec_from_file_location(name, PATHS[name])
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(FOLDER))


def boards():
    """Returns the ``Board`` of every target, sorted by name."""
    return [load(name).BOARD for name in NAMES]
