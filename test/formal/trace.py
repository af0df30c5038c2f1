#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A counterexample as text: one line for each signal of the top module, one column for each cycle."""

import re

VARIABLE = re.compile(r"\$var \w+ (\d+) (\S+) (\S+)")
OWN      = ("smt_", "is_", "assume_", "assert_", "sys_clk")   # Of the proof, not of the unit.
WIDE     = 20   # Hexadecimal digits; the names of wider values are left out.


def read(path):
    """{name: [value in each cycle]} of a VCD file that yosys-smtbmc wrote."""
    names, values = {}, {}
    current = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        variable = VARIABLE.match(line)
        if variable:
            names.setdefault(variable[2], variable[3])
        elif line.startswith("b"):
            bits, key = line[1:].split()
            current[key] = bits
        elif line[:1] in "01" and len(line) > 1:
            current[line[1:]] = line[0]
        elif line.startswith("#") and current:
            for key, bits in current.items():
                values.setdefault(key, []).append(bits)
    # Two times for each cycle: the clock is high, then low.
    return {names[key]: bits[::2] for key, bits in values.items() if key in names}


def table(path):
    """The signals that are not constant 0 or 1, in hexadecimal."""
    values = read(path)
    lines     = []
    for name, bits in sorted(values.items()):
        digits = [f"{int(value.replace('x', '0'), 2):x}" for value in bits]
        width  = max(map(len, digits))
        if width <= WIDE and not (set(digits) <= {"0"} or name.startswith(OWN)):
            lines.append(f"{name:32} " + " ".join(f"{digit:>{width}}" for digit in digits))
    return "\n".join(lines)
