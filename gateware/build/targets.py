#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The boards of the tree: each file in ``targets/`` that is about one."""

import functools
import importlib.util
import sys

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "targets"
OTHERS = ("environment", "sim")  # They are about this machine.
PATHS  = {path.stem: path for path in sorted(FOLDER.glob("*.py")) if path.stem not in OTHERS}
NAMES  = tuple(PATHS)


@functools.cache
def load(name):
    """The module of a target; its neighbours can be imported meanwhile."""
    sys.path.insert(0, str(FOLDER))
    try:
        spec   = importlib.util.spec_from_file_location(name, PATHS[name])
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(FOLDER))


def boards():
    """``Board`` of every target, in the order of the names."""
    return [load(name).BOARD for name in NAMES]
