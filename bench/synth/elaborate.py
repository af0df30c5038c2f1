#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Elaborates and maps the Verilog of a board, with the vendor's blocks as black boxes.

Yosys knows the primitives and reads LitePCIe's Verilog around the hard block. The hard block itself is declared from
the connections of its instance (``boxes.py``).
"""

import inspect
import json

from litepcie_bench.synth import boxes, tools
from litepcie_bench.synth.boxes import PORTS, declarations, wrong_ports
from litepcie_bench.timing import levels

PRIMITIVES = "read_verilog -lib +/xilinx/cells_sim.v +/xilinx/cells_xtra.v; write_rtlil library.il"
LIBRARY    = "read_rtlil library.il"  # Reads the primitives in an eighth of the time; a board reads them three times.
READ       = (LIBRARY + "; read_verilog {verilog}; hierarchy -top {top} -purge_lib; proc; blackbox =A:whitebox; "
    "write_json netlist.json; delete =A:blackbox; write_rtlil design.il")
# In the top module every used wire must have exactly one driver, and there must be no combinatorial loop. Only the top
# module is checked: LitePCIe's wrappers of the UltraScale blocks have undriven ports.
CHECK      = LIBRARY + "; read_rtlil design.il; read_verilog boxes.v; hierarchy -check -top {top}; check -assert {top}"
MAP        = ("read_rtlil design.il; read_verilog boxes.v; "
    "synth_xilinx -family {family} -flatten -noiopad -noclkbuf -top {top}; tee -q -o stat.json stat -json; "
    "write_json mapped.json")
CLOCKS     = ("sys_clk", "pcie_clk")  # Nets of LiteX's clock domains.
GOAL       = 7  # Levels of logic.


def link_library(folder):
    """Links ``library.il``, the ports of all primitives, into ``folder``."""
    def make(folder):
        tools.yosys(folder, PRIMITIVES, "library.log")
        return {}

    made = tools.once(["library", PRIMITIVES], make)["folder"]
    (folder / "library.il").hardlink_to(made / "library.il")


def elaborate(project, hard_block):
    """Elaborates and checks a ``Project``. Only the module ``hard_block`` may lack a source.

    Returns a dict whose ``folder`` contains ``design.il``, ``boxes.v`` and ``library.il``. Raises ``ToolError``.
    """
    verilog = " ".join(name for name in project.sources if name.endswith(".v"))
    read    = READ.format(verilog=verilog, top=project.name)
    check   = CHECK.format(top=project.name)

    def make(folder):
        for name, text in project.sources.items():
            (folder / name).write_text(text, encoding="utf-8")
        link_library(folder)
        tools.yosys(folder, read, "read.log")
        netlist = folder / "netlist.json"
        design  = json.loads(netlist.read_text(encoding="utf-8"))
        found   = declarations(design)
        netlist.unlink()
        unknown = sorted(set(found) - {hard_block})
        if unknown:
            raise tools.ToolError(f"{project.name}: no source of module {', '.join(unknown)}")
        wrong = list(wrong_ports(design, hard_block))
        if wrong:
            raise tools.ToolError(f"{project.name}: {'; '.join(wrong)}")
        (folder / "boxes.v").write_text("".join(found.values()), encoding="utf-8")
        tools.yosys(folder, check, "check.log")
        return {"boxes": list(found)}

    return tools.once(["elaborate", project.sources, read, check, hard_block, PORTS.read_text(encoding="utf-8")], make)


def cells(folder, _):
    return tools.cells(folder / "stat.json")


def cells_and_levels(folder, top):
    netlist = folder / "mapped.json"
    mapped  = levels.Mapped(json.loads(netlist.read_text(encoding="utf-8"))["modules"][top])
    netlist.unlink()
    return [cells(folder, top), {clock: depth.record() for clock, depth in mapped.depths(CLOCKS, GOAL).items()}]


def figures(command, project, family, hard_block, read=cells):
    """Elaborates a ``Project``, runs a yosys command on it and returns ``read(folder, top)``.

    By default that is the number of cells by type.

    command : yosys command with the fields ``{family}`` and ``{top}``. It reads ``design.il``, ``boxes.v`` and
              ``library.il``, and writes what ``read`` reads.

    Raises ``ToolError``.
    """
    command = command.format(family=family, top=project.name)

    def count():
        elaborated = elaborate(project, hard_block)["folder"]

        def make(folder):
            for name in ("design.il", "boxes.v", "library.il"):
                (folder / name).hardlink_to(elaborated / name)
            tools.yosys(folder, command, "yosys.log")
            return {"figures": read(folder, project.name)}

        return tools.once(["figures", elaborated.name, command, code], make)["figures"]

    # All that the result depends on, also the code of this program.
    code = [inspect.getsource(part) for part in (boxes, elaborate, tools.cells, read, levels)]
    return tools.remembered([project.name, project.sources, PRIMITIVES, READ, CHECK, hard_block, command, code], count)


def synthesise(project, family, hard_block):
    """Maps a ``Project`` to the family's cells and returns their number by type, and the record of each clock's
    ``Depth``. Raises ``ToolError``.
    """
    return figures(MAP, project, family, hard_block, cells_and_levels)
