#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Verilog declarations of modules without source, derived from the connections of their instances.

The hard block of PCI Express comes from Vivado's IP catalogue, so its source is not here. A port of its instance is an
output if nothing else drives the connected wire. ``ports.csv`` has name, direction and width of each port that boards
connect, of the three blocks: what public designs that run on boards connect (pcileech-fpga and verilog-pcie), and
PG054, PG156 and PG213 for what those leave open. The width depends on ``lanes`` and on ``data``, the bits of the data
path; "88 or 183" is the width below 512 bit, and the one at 512 bit. The clock is for ``litepcie_bench.timing``.
"""

import csv

from pathlib import Path

PORTS = Path(__file__).parents[1] / "timing" / "ports.csv"


def _driven(module):
    """Returns the bits of a module, numbered as in yosys' JSON, that an input or a cell with known ports drives."""
    found = {bit for port in module["ports"].values() if port["direction"] != "output" for bit in port["bits"]}
    for cell in module["cells"].values():
        ways = cell.get("port_directions", {})
        found.update(bit for port, bits in cell["connections"].items() if ways.get(port) == "output" for bit in bits)
    return found


def _port(name, bits, driven):
    """Returns the declaration of one port. Constants are text in the JSON."""
    given = any(isinstance(bit, str) or bit in driven for bit in bits)
    return f"{'input' if given else 'output'} [{max(len(bits), 1) - 1}:0] {name}"


def declarations(netlist):
    """Returns Verilog for each module that ``netlist`` (``write_json``) instantiates but does not define, by name."""
    modules, found = netlist["modules"], {}
    for module in modules.values():
        unknown = [cell for cell in module["cells"].values()
            if cell["type"] not in modules and not cell["type"].startswith("$")]
        driven = _driven(module) if unknown else set()
        for cell in unknown:
            ports = ",\n    ".join(_port(name, bits, driven) for name, bits in cell["connections"].items())
            found[cell["type"]] = f"(* blackbox *) module {cell['type']}(\n    {ports}\n);\nendmodule\n"
    return found


def _recorded(block, lanes, data):
    """Returns {port: (direction, width)} of a hard block."""
    found = {}
    with PORTS.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["ip"] == block:
                narrow, _, wide = row["width"].partition(" or ")
                factor, _, part = (wide if wide and data == 512 else narrow).partition("/")
                width = {"lanes": lanes, "data": data}.get(factor) or int(factor)
                found[row["port"]] = (row["direction"], width // int(part or 1))
    return found


def _others(module, cell):
    """Returns the bits that something else in a module than ``cell`` is connected to, without constants."""
    found = {bit for port in module["ports"].values() for bit in port["bits"]}
    for other in module["cells"].values():
        if other is not cell:
            found.update(bit for bits in other["connections"].values() for bit in bits)
    return {bit for bit in found if not isinstance(bit, str)}


def wrong_ports(netlist, block):
    """Yields a line for each port of an instance of a hard block that is not as recorded in ``ports.csv``.

    A port may be connected to fewer or more bits than it has if nothing is lost: these bits are constant, or nobody
    reads them.
    """
    for module in netlist["modules"].values():
        for cell in [cell for cell in module["cells"].values() if cell["type"] == block]:
            ports   = cell["connections"]
            stream  = next(name for name in ("m_axis_rx_tdata", "m_axis_rc_tdata") if name in ports)
            known   = _recorded(block, len(ports["pci_exp_rxp"]), len(ports[stream]))
            driven  = _driven(module)
            others  = _others(module, cell)
            for name, bits in ports.items():
                given = any(isinstance(bit, str) or bit in driven for bit in bits)
                direction, width = known.get(name, (None, 0))
                if direction is None:
                    yield f"{block} has no port {name} in {PORTS.name}"
                elif given and direction == "output":
                    yield f"{block}, {name}: something drives this output"
                elif bits and not given and direction == "input":
                    yield f"{block}, {name}: nothing drives this input"
                elif [bit for bit in (bits if len(bits) < width else bits[width:]) if bit in others]:
                    yield f"{block}, {name}: {len(bits)} bits are connected to an {direction} of {width}"
