#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A harness of registers with three pins around a design, for place and route.

A long shift register drives every input of the core. A flip-flop samples every output and feeds a pipelined parity. So
nothing can be optimised away, no path of the harness is longer than one LUT, and every path of the core begins and ends
in a register, as it does at a PHY.
"""

import re

from litepcie_bench.synth import designs

TOP = "harness"

_PORT = re.compile(r"^\s*(input|output)\s+(?:wire|reg)\s*(?:\[(\d+):0\])?\s*(\w+),?\s*$")


def ports(verilog, module):
    """Returns (direction, width, name) of the ports of a module in LiteX's style. Raises ``ValueError``."""
    header = re.search(rf"^module {module} \((.*?)^\);", verilog, re.MULTILINE | re.DOTALL)
    found  = [_PORT.match(line) for line in header[1].splitlines()] if header else []
    found  = [(match[1], int(match[2] or 0) + 1, match[3]) for match in found if match]
    if not found:
        raise ValueError(f"found no ports of module {module}")
    return found


def _parity(bits, fan=4):
    """Returns declarations, statements and name of registers that reduce the vector ``taken`` to one bit."""
    declared, clocked, name, stage = [], [], "taken", 0
    while bits > 1:
        groups = -(-bits // fan)
        declared.append(f"reg [{groups - 1}:0] parity{stage};")
        for n in range(groups):
            high = min(bits, fan * (n + 1)) - 1
            clocked.append(f"parity{stage}[{n}] <= ^{name}[{high}:{fan * n}];")
        bits, name, stage = groups, f"parity{stage}", stage + 1
    return declared, clocked, name


def harness(verilog, core):
    """Returns the module ``harness`` around ``core``, whose clock is ``sys_clk``."""
    found   = [port for port in ports(verilog, core) if port[2] != "sys_clk"]
    inputs  = [port for port in found if port[0] == "input"]
    outputs = [port for port in found if port[0] == "output"]
    given   = sum(width for _, width, _ in inputs)
    taken   = sum(width for _, width, _ in outputs)
    connections, offset = [".sys_clk(clk)"], {"input": 0, "output": 0}
    for direction, width, name in inputs + outputs:
        vector = "given" if direction == "input" else "outs"
        first  = offset[direction]
        connections.append(f".{name}({vector}[{first + width - 1}:{first}])")
        offset[direction] += width
    declared, clocked, result = _parity(taken)
    newline = "\n    "
    return f"""module {TOP}(input clk, input serial_in, output reg serial_out);
    reg  [{given - 1}:0] given;
    wire [{taken - 1}:0] outs;
    reg  [{taken - 1}:0] taken;
    {newline.join(declared)}
    {core} core({("," + newline + "    ").join(connections)});
    always @(posedge clk) begin
        given      <= {{given[{given - 2}:0], serial_in}};
        taken      <= outs;
        serial_out <= {result};
        {(newline + "    ").join(clocked)}
    end
endmodule
"""


def sources(design):
    """Returns the sources of a ``Design`` with the harness around it."""
    found = design.sources()
    return {**found, f"{TOP}.v": harness(found[f"{designs.TOP}.v"], designs.TOP)}
