#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A core as its user gets it: files from `litepcie_soc_gen`, compiled by Verilator, its ports by name.

Nothing here knows what is inside: the ports are read from the module's header.
"""

import ctypes
import re
import subprocess
import sys

from pathlib import Path

from test.gateware.verilate import verilate

ROOT      = Path(__file__).resolve().parents[3]
GENERATOR = Path(sys.executable).with_name("litepcie_soc_gen")
EXAMPLES  = ROOT / "gateware" / "standalone" / "examples"

# Generate -----------------------------------------------------------------------------------------


def generate(config, folder, *options):
    """Runs the command on a configuration (a path) and returns what it did."""
    return subprocess.run([GENERATOR, config, "--output-dir", folder, *options], capture_output=True, text=True,
        timeout=120)


def header_ports(verilog):
    """Name to (direction, bits), from the text of a module."""
    header = re.search(r"^module \w+ \((.*?)^\);", verilog, flags=re.MULTILINE | re.DOTALL)[1]
    header = re.sub(r"\(\*.*?\*\)", "", header)  # Attributes.
    ports  = {}
    for line in header.split(","):
        way, high, name = re.fullmatch(r"\s*(input|output)\s+(?:wire|reg)\s+(?:\[(\d+):0\])?\s*(\w+)\s*", line).groups()
        ports[name] = (way, int(high or 0) + 1)
    return ports

# Compile ------------------------------------------------------------------------------------------

WRAPPER = """\
#include "V@TOP@.h"
#include "verilated.h"
extern "C" {
V@TOP@ *create() { return new V@TOP@; }
void destroy(V@TOP@ *top) { delete top; }
void *port(V@TOP@ *top, int n) { void *all[] = {@PORTS@}; return all[n]; }
void settle(V@TOP@ *top) { top->sys_clk = 0; top->eval(); }
void edge(V@TOP@ *top) { top->sys_clk = 1; top->eval(); }
}
"""


def compile_core(folder, name):
    """Path of the shared object of ``NAME.v``."""
    verilog = (folder / f"{name}.v").read_text()
    ports   = header_ports(verilog)
    wrapper = WRAPPER.replace("@TOP@", name).replace("@PORTS@", ", ".join(f"&top->{port}" for port in ports))
    return verilate({f"{name}.v": verilog, "wrapper.cpp": wrapper}, top=name, shared=True).path

# Core ---------------------------------------------------------------------------------------------


class Core:
    """A compiled core. ``core["port"]`` is a port's value now; assigning sets an input."""
    def __init__(self, folder, name):
        library = ctypes.CDLL(str(compile_core(folder, name)))
        library.create.restype = ctypes.c_void_p
        library.port.restype   = ctypes.c_void_p
        self.library = library
        self.handle  = ctypes.c_void_p(library.create())
        self.ports   = header_ports((folder / f"{name}.v").read_text())
        self.places  = {}
        for n, (port, (_, bits)) in enumerate(self.ports.items()):
            size = next((size for size in (1, 2, 4, 8) if bits <= 8 * size), (bits + 31) // 32 * 4)
            self.places[port] = (ctypes.c_char * size).from_address(library.port(self.handle, n))

    def __getitem__(self, port):
        return int.from_bytes(self.places[port].raw, "little")

    def __setitem__(self, port, value):
        place = self.places[port]
        place.raw = int(value).to_bytes(len(place), "little")

    def settle(self):
        """Outputs follow the inputs of this cycle."""
        self.library.settle(self.handle)

    def edge(self):
        """The clock edge that ends this cycle."""
        self.library.edge(self.handle)

    def close(self):
        self.places.clear()
        self.library.destroy(self.handle)
