#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Beside the model: the report of a board, and stock LitePCIe of another version.

The report of a board (``litepcie_util report``) is shown beside the model of that board, on the host that is nearest.

``make bench BENCH="--stock PATH"`` shows another version of stock beside the one that the project pins. PATH is a
checkout of LitePCIe; ``LITEPCIE:LITEX`` adds one of LiteX for a version that needs another LiteX. Only the boards with
stock import them.
"""

import json
import math
import os
import re
import subprocess

from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from litepcie_bench import claims, figures, hardware
from litepcie_bench.hardware import board_name
from litepcie_bench.points import HOSTS, OURS, PENDING, STOCK, Point
from litepcie_bench.stock import VERSION
from litepcie_bench.sweeps import SWEEPS
from litepcie_bench.waits import WAITS, spent
from litepcie_soc.dma.engine import DIRECT_BITS

# Report of a board --------------------------------------------------------------------------------

WRONG = 0.1  # From this share of the board's rate on, a difference is called out.

KINDS = [name.removeprefix("wait_") for name in WAITS]

# Sequences of dma_test and of the model: in the first, one direction is measured at a time.
SEQUENCES = {"read-then-write": "write-then-read", "read-and-write": "read-and-write"}


@dataclass(frozen=True)
class Row:
    """Rates in bytes/s of a sequence in one direction, and what the engine waited for in % of its active cycles."""
    sequence:    str
    direction:   str
    board:       float
    model:       float
    board_waits: dict
    model_waits: dict

    @property
    def ratio(self):
        return self.board/self.model

    @property
    def reason(self):
        """The wait in which board and model differ most, or an empty string if the rates are near each other."""
        if abs(self.ratio - 1) < WRONG:
            return ""
        kind = max(KINDS, key=lambda kind: abs(self.board_waits[kind] - self.model_waits[kind]))
        board, model = self.board_waits[kind], self.model_waits[kind]
        return f"waits for {kind}: {board:.0f} % of the time, in the model {model:.0f} %"


def load(path):
    """Returns {sequence: document of dma_test} of a report. Raises ``ValueError`` if it has none to compare."""
    try:
        parts = json.loads(path.read_text(encoding="utf-8"))["parts"]
        found = [document for part in parts if part["command"].startswith("dma_test")
            for document in part["documents"] if document["ok"] and document["in_flight"] == 1]
        # Of the sizes, the usual one.
        return {name: max((one for one in found if one["sequence"] == name), key=lambda one: one["transfer_bytes"])
            for name in SEQUENCES}
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: no report of litepcie_util, or its dma_test failed") from error


def hardware_of(document):
    """Returns the ``Hardware`` of the board of a document. Raises ``ValueError``."""
    board = next((board for board in hardware.with_hard_block() if document["target"].startswith(board.name)), None)
    if board is None:
        raise ValueError(f"no model of {document['target']}; there are models of {', '.join(hardware.names())}")
    found = hardware.hardware(board, board.configure(document["gen"], document["lanes"], document["datapath_bits"]))
    return replace(found, clock_hz=document["clock_hz"])


def points(documents):
    """Returns {(host, sequence): point} for each host that has a slot for the board."""
    found, result = hardware_of(next(iter(documents.values()))), {}
    for host in figures.fitting(found):
        for sequence, document in documents.items():
            result[host, sequence] = Point("compare", OURS, *found.link, found.width, SEQUENCES[sequence],
                bytes=document["transfer_bytes"], mps=min(document["mps_bytes"], HOSTS[host].mps),
                mrrs=document["mrrs_bytes"], tags=found.tags, phy="split" if found.split else "shared",
                direct=found.width >= DIRECT_BITS, host=host, hardware=found)
    return result


def rows(documents, results):
    """Returns {host: rows}. ``results`` is {(host, sequence): result}. Raises ``ValueError``."""
    found = {}
    for (host, sequence), result in results.items():
        if result.failure:
            raise ValueError(f"{result.point} on {host}: {result.failure}")
        for direction in ("read", "write"):
            board = documents[sequence][direction]
            waits = spent(result, direction)
            found.setdefault(host, []).append(Row(sequence, direction, board["counter_bytes_per_second"]["average"],
                result.data[direction]["average_bytes_per_second"], board["wait_percent_of_active_cycles"],
                {kind: 100*waits[f"wait_{kind}"] for kind in KINDS}))
    return found


def distance(found):
    """Returns the mean difference of the rows of a host, as a factor's logarithm."""
    return sum(abs(math.log(row.ratio)) for row in found)/len(found)


def show(documents, results):
    """Returns the lines for the user: the nearest host, and each rate of the board beside the model's."""
    found   = rows(documents, results)
    nearest = min(found, key=lambda host: distance(found[host]))
    one     = next(iter(documents.values()))
    away    = 100*(math.exp(distance(found[nearest])) - 1)
    lines   = [f"{one['target']}, Gen{one['gen']} x{one['lanes']}, MPS {one['mps_bytes']}, MRRS {one['mrrs_bytes']}: "
        f"of the model's hosts, {nearest} is the nearest, {away:.1f} % away on average",
        f"{'sequence':<16} {'direction':<9} {'board MB/s':>10} {'model MB/s':>10}  ratio"]
    for row in found[nearest]:
        wrong = row.reason and f"  differs: {row.reason}"
        lines.append(f"{row.sequence:<16} {row.direction:<9} {row.board/1e6:>10.0f} {row.model/1e6:>10.0f} "
            f"{row.ratio:>6.2f}{wrong}")
    return lines

# Another version of stock -------------------------------------------------------------------------


def describe(folder):
    """Returns the version of a checkout, as git names it, or else the name of its folder."""
    git = subprocess.run(["git", "-C", folder, "describe", "--tags", "--always", "--dirty"], capture_output=True,
        text=True)
    return re.sub(r"[^\w.-]", "_", git.stdout.strip() or folder.name)


def use_stock(paths):
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


def stock_points(quick):
    """Returns the points of the sweep "stock" that are stock's: every board, 8, 16 and 32 pending requests."""
    return [point for point in SWEEPS["stock"](quick) if point.design == STOCK]


def show_stock(version, results):
    """Yields lines: shares of the bound in % of this version, and of the pinned one in brackets."""
    known = claims.read()
    yield f"stock LitePCIe {version}, in brackets {metadata.version('litepcie')}: {figures.STOCK_CAPTION}"
    yield f"{'':50}" + "".join(f"{f'{n} pending':>20}" for n in PENDING)
    by_place = {(result.point.hardware, result.point.pending): result for result in results}
    for found in dict.fromkeys(result.point.hardware for result in results):
        name = board_name(found)
        for direction in ("read", "write"):
            line = f"{name:43}{direction:7}"
            for pending in PENDING:
                result = by_place[found, pending]
                value  = "failed" if result.failure else f"{figures.share(result, direction):.1f}" + \
                    "*"*(not figures.safe(found, pending))
                before = known.get(("stock", name, direction, str(pending)), "-")
                line  += f"{f'{value} ({before})':>20}"
            yield line
