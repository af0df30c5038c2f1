#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Clock crossings of the boards: emits a board and compares its paths between two clocks with its timing exceptions.

For Vivado the netlist is that of ``elaborate.py`` before mapping, and the exceptions are those of XDC and Tcl. nextpnr
times no path between two clocks, so on ECP5 every crossing must be safe by its structure.
"""

import json

from collections import Counter
from dataclasses import dataclass

from litepcie_bench.synth import project, tools
from litepcie_bench.synth.elaborate import link_library
from litepcie_bench.timing import exceptions
from litepcie_bench.timing.crossings import KINDS, Crossings
from litepcie_bench.timing.declared import DECLARED
from litepcie_bench.timing.netlist import Netlist, UnknownCell
from litepcie_bench.timing.primitives import recorded
from litepcie_soc.build import generated
from litepcie_soc.build.targets import PATHS, boards

LIBRARY = {"vivado": "read_rtlil library.il", "trellis": "read_verilog -lib +/ecp5/cells_sim.v +/ecp5/cells_bb.v"}
READ    = ("{library}; read_verilog {verilog}; hierarchy -top {top} -purge_lib; proc; blackbox =A:whitebox; flatten; "
    "write_json flat.json")
HEAD    = ("build", "clocks", *KINDS, "faults")


@dataclass(frozen=True)
class Board:
    """A build of the target ``name``."""
    name:      str
    toolchain: str
    with_ddr:  bool

    @property
    def options(self):
        return ["--with-ddr"]*self.with_ddr


def builds(names=None):
    """Returns a ``Board`` for each target, and for each with its DDR."""
    return [Board(board.name, board.toolchain, with_ddr) for board in boards() if names is None or board.name in names
        for with_ddr in (False, *[True]*bool(board.memory.ddr))]


def netlist(emitted, toolchain):
    """Returns the ``Netlist`` of a ``Project``. Raises ``ToolError``."""
    verilog = " ".join(name for name in emitted.sources if name.endswith(".v"))
    read    = READ.format(library=LIBRARY[toolchain], verilog=verilog, top=emitted.name)

    def make(folder):
        for name, text in emitted.sources.items():
            (folder / name).write_text(text, encoding="utf-8")
        if toolchain == "vivado":
            link_library(folder)
        tools.yosys(folder, read, "flat.log")
        return {}

    folder = tools.once(["flat", emitted.sources, read], make)["folder"]
    design = json.loads((folder / "flat.json").read_text(encoding="utf-8"))
    return Netlist(design["modules"][emitted.name], recorded("clock"), recorded("direction"))


def crossings(emitted, toolchain):
    """Returns the ``Crossing``s of a ``Project`` and its number of clocks. Raises ``ToolError``."""
    try:
        flat  = netlist(emitted, toolchain)
        flat.check()
        vivado = toolchain == "vivado"
        found  = Crossings(flat, exceptions.Timing(flat, exceptions.read(emitted.constraints) if vivado else None),
            vivado, DECLARED)
        return found.found(), found.clocks
    except (UnknownCell, ValueError) as error:
        raise tools.ToolError(f"{emitted.name}: {error}") from None


def record(board):
    """Emits a ``Board`` and returns its record: build, number of clocks, bits by kind and faults."""
    emitted       = project.emit(PATHS[board.name], board.options)
    found, clocks = crossings(emitted, board.toolchain)
    bits          = Counter()
    for crossing in found:
        bits[crossing.kind] += crossing.bits
    return {"build": emitted.name, "clocks": clocks, **{kind: bits[kind] for kind in KINDS}, "faults": bits[None],
        "wrong": [str(crossing) for crossing in found if crossing.kind is None],
        "reasons": sorted({crossing.why for crossing in found if crossing.kind == "declared"})}


def table(records):
    """Returns the text of the table: a row for each build, with the bits that cross in each way."""
    return generated.table(HEAD, [tuple(record[column] for column in HEAD) for record in records])
