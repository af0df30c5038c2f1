#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Generates the table of keys of `docs/standalone-core.md`, and the list of ports `ports.csv`, from the gateware.

    python3 -m litepcie_soc.standalone.docs --write     updates them
    python3 -m litepcie_soc.standalone.docs --check     compares them; exit status 1 if they differ

Users rely on the committed port list: within a major version ports may be added, but no port changes.
"""

import csv
import io
import logging
import re
import sys

from pathlib import Path

from migen import log2_int

from litepcie_soc.build import generated
from litepcie_soc.build.generated import table
from litepcie_soc.standalone.config import STREAM_KEYS, config_of, leaves
from litepcie_soc.standalone.core import Core
from litepcie_soc.standalone.ports import match, meaning, place, ports_of
from litepcie_soc.standalone.sheet import default_text

COMMITTED = Path(__file__).resolve().parents[2] / "docs" / "standalone-core.md"
PORTS     = Path(__file__).resolve().parent / "ports.csv"

# Keys ---------------------------------------------------------------------------------------------


def key_table():
    keys = list(leaves())
    at   = [name for name, *_ in keys].index("streams") + 1
    keys[at:at] = leaves(STREAM_KEYS, "streams[].")
    rows = [(f"`{name}`", default_text(name, kind), kind.allowed, about) for name, kind, about in keys]
    return table(("key", "default", "allowed", "meaning"), rows)

# Ports --------------------------------------------------------------------------------------------

# Keys that add ports. The other variants are compared with the first.
AXI = {"streams": 1, "stream_port": {"face": "axi", "clock": "own"}, "user_bus": {"face": "axi-lite", "clock": "own"},
    "host_buffers": {"count": 1, "descriptors": True}, "memory": {"kind": "axi", "clock": "own"}}
VARIANTS = (
    ("phy.shape: shared",       {}),
    ("phy.shape: split",        {"phy": {"shape": "split"}}),
    ("memory.user_ports: true", {"memory": {"user_ports": True}}),
    ("memory.kind: external",   {"memory": {"kind": "external"}}),
    ("streams: N from 0",       {"streams": 1}),
    ("AXI",                     AXI),
)

# Which key adds a port of the last variant: (pattern of the name, key).
AXI_KEYS = (
    (r"stream\d+_a\w+", "stream_port.clock: own"),
    (r"stream\w+",      "stream_port.face: axi"),
    (r"user_a(clk|resetn)", "user_bus.clock: own"),
    (r"user_\w+",       "user_bus.face: axi-lite"),
    (r"memory_a(clk|resetn)", "memory.clock: own"),
    (r"memory_\w+",     "memory.kind: axi"),
    (r"host_\w+",       "host_buffers.count"),
    (r"(descriptor|end)_\w+", "host_buffers.descriptors"),
)

# Cores of two sizes show which widths depend on data width, memory size and stream width: SMALL for each of VARIANTS,
# and two LARGE cores that together have all ports.
SMALL, LARGE = (64, 64 << 10, 32), (256, 1 << 20, 128)
ALL_IN_TWO   = (
    {"memory": {"user_ports": True}, "streams": 1},
    {"phy": {"shape": "split"}, **AXI},
)


def ports(keys, size):
    """Returns the ports in the Verilog of a core with a data width, memory size and stream width, by name."""
    data_width, memory_size, stream_width = size
    keys   = {**keys, "data_width": data_width, "memory": {**keys.get("memory", {}), "size": memory_size}}
    if "stream_port" in keys:
        keys["stream_port"] = {**keys["stream_port"], "width": stream_width}
    config = config_of(keys)
    core   = Core(config)
    core.finalize()
    return {port.name: port for port in ports_of(core.platform.get_verilog(core, name=config.name).main_source)}


def width(name, small, large):
    """Returns the width of a port as a formula, from its bits in two cores. Raises ``ValueError`` if none fits."""
    def formulas(data_width, size, stream_width):
        return {str(small): small, "W": data_width, "W/8": data_width // 8, "A": log2_int(8 * size // data_width),
            "S": stream_width, "S/8": stream_width // 8}

    fitting = [text for text, bits in formulas(*SMALL).items() if bits == small and formulas(*LARGE)[text] == large]
    if len(fitting) != 1:
        raise ValueError(f"no formula for the width of {name}: {small} and {large} bits")
    return fitting[0]


def port_rows():
    """Yields (port, direction, bits, condition, meaning) of every port that a core can have."""
    small  = {when: ports(keys, SMALL) for when, keys in VARIANTS}
    large  = {name: port.bits for keys in ALL_IN_TWO for name, port in ports(keys, LARGE).items()}
    shared, split = [small[when] for when, _ in VARIANTS[:2]]
    rows   = [("always", port) for name, port in shared.items() if name in split]
    for when, found in small.items():
        other = split if found is shared else shared
        rows += [(AXI_KEYS[match(name, AXI_KEYS)][1] if when == "AXI" else when, port)
            for name, port in found.items() if name not in other]
    for when, port in sorted(rows, key=lambda row: place(row[1])):
        name = re.sub(r"^stream0", "streamN", port.name)
        yield name, port.way, width(name, port.bits, large[port.name]), when, meaning(port.name).replace("`", "")


def port_list(_):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("port", "direction", "bits", "present with", "meaning"),
        *port_rows()])
    return text.getvalue()

# Document -----------------------------------------------------------------------------------------


def renewed(text):
    """Returns the document with its table updated. Raises ``ValueError`` if the table has no place in it."""
    return generated.renewed(text, {"keys": key_table()})


def main(argv=None):
    logging.basicConfig(level=logging.WARNING)  # LiteX logs much at INFO.
    return generated.main(argv, "litepcie_soc.standalone.docs",
        "The keys in docs/standalone-core.md, and ports.csv, generated from the gateware.",
        {COMMITTED: renewed, PORTS: port_list},
        note="A port that changes or disappears needs a new major version")


if __name__ == "__main__":
    sys.exit(main())
