#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Stock LitePCIe of another version, beside the one that the project pins: ``make bench BENCH="--stock PATH"``.

PATH is a checkout of LitePCIe; ``LITEPCIE:LITEX`` adds one of LiteX for a version that needs another LiteX. Only the
boards with stock import them.
"""

import os
import re
import subprocess

from importlib import metadata
from pathlib   import Path

from litepcie_bench import board_rows, claims, stock_best
from litepcie_bench.hardware import board_name
from litepcie_bench.points import PENDING, STOCK
from litepcie_bench.stock.names import VERSION
from litepcie_bench.sweeps import SWEEPS


def describe(folder):
    """Returns the version of a checkout, as git names it, or else the name of its folder."""
    git = subprocess.run(["git", "-C", folder, "describe", "--tags", "--always", "--dirty"], capture_output=True,
        text=True)
    return re.sub(r"[^\w.-]", "_", git.stdout.strip() or folder.name)


def use(paths):
    """Lets the boards with stock import packages of these folders, separated by colons. Returns LitePCIe's version.

    Raises ``ValueError`` with one line if none of them has LitePCIe.
    """
    folders = [Path(path).resolve() for path in paths.split(os.pathsep)]
    for folder in folders:
        if not any((folder/name/"__init__.py").exists() for name in ("litepcie", "litex")):
            raise ValueError(f"--stock {folder}: there is no folder litepcie/ or litex/ in it; give a checkout")
    with_litepcie = [folder for folder in folders if (folder/"litepcie").exists()]
    if not with_litepcie:
        raise ValueError(f"--stock {paths}: there is no folder litepcie/ in it; give a checkout of LitePCIe")
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([*map(str, folders), *([before] if before else [])])
    os.environ[VERSION]      = describe(with_litepcie[0])
    return os.environ[VERSION]


def points(quick):
    """Returns the points of the sweep "stock" that are stock's: every board, 8, 16 and 32 pending requests."""
    return [point for point in SWEEPS["stock"](quick) if point.design == STOCK]


def show(version, results):
    """Yields lines: shares of the bound in % of this version, and of the pinned one in brackets."""
    known = claims.read()
    yield f"stock LitePCIe {version}, in brackets {metadata.version('litepcie')}: {stock_best.CAPTION}"
    yield f"{'':50}" + "".join(f"{f'{n} pending':>20}" for n in PENDING)
    by_place = {(result.point.hardware, result.point.pending): result for result in results}
    for found in dict.fromkeys(result.point.hardware for result in results):
        name = board_name(found)
        for direction in ("read", "write"):
            line = f"{name:43}{direction:7}"
            for pending in PENDING:
                result = by_place[found, pending]
                value  = "failed" if result.failure else f"{board_rows.share(result, direction):.1f}" + \
                    "*"*(not stock_best.safe(found, pending))
                before = known.get(("stock", name, direction, str(pending)), "-")
                line  += f"{f'{value} ({before})':>20}"
            yield line
