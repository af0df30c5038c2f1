#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Verilog declarations of modules without source, derived from the connections of their instances.

The hard block of PCI Express comes from Vivado's IP catalogue, so its source is not here. A port of its instance is an
output if nothing else drives the connected wire.
"""


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
