#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A core as its user gets it: files from `litepcie_soc_gen`, compiled by Verilator, its ports by name.

Nothing here knows what is inside: the ports are read from the module's header. Compiled cores are kept in
``build/test/core``, by content.
"""

import ctypes
import fcntl
import hashlib
import os
import re
import subprocess
import sys

from pathlib import Path

ROOT      = Path(__file__).resolve().parents[3]
BUILD     = ROOT / "build" / "test" / "standalone"
GENERATOR = Path(sys.executable).with_name("litepcie_soc_gen")
EXAMPLES  = ROOT / "gateware" / "standalone" / "examples"

# Generate -----------------------------------------------------------------------------------------


def generate(config, folder, *options):
    """Runs the command on a configuration (a path) and returns what it did."""
    return subprocess.run([GENERATOR, config, "--output-dir", folder, *options], capture_output=True, text=True,
        timeout=120)


def header_ports(verilog):
    """Name to (direction, bits), from the text of a module."""
    header = re.search(r"^module \w+ \((.*?)\);", verilog, flags=re.MULTILINE | re.DOTALL)[1]
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
double sc_time_stamp() { return 0; }
"""


def run(*command, cwd):
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert result.returncode == 0, f"{command[0]} failed:\n{result.stdout}{result.stderr}"


def compile_core(folder, name):
    """Path of the shared object of ``NAME.v``; built once, safe for several processes."""
    verilog = (folder / f"{name}.v").read_text()
    ports   = header_ports(verilog)
    wrapper = WRAPPER.replace("@TOP@", name).replace("@PORTS@", ", ".join(f"&top->{port}" for port in ports))
    key     = hashlib.sha256((verilog + wrapper).encode()).hexdigest()[:16]
    place   = BUILD / f"{name}_{key}"
    place.mkdir(parents=True, exist_ok=True)
    with open(place / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "model.so").exists():
            (place / f"{name}.v").write_text(verilog)
            (place / "wrapper.cpp").write_text(wrapper)
            run("verilator", "--cc", f"{name}.v", "--top-module", name, "--Mdir", "obj", "-O3", "--x-assign", "fast",
                "-Wno-fatal", "-Wno-lint", "-Wno-COMBDLY", cwd=place)
            root = subprocess.run(["verilator", "--getenv", "VERILATOR_ROOT"], check=True, capture_output=True,
                text=True).stdout.strip()
            include = Path(root) / "include"
            sources = [str(path.relative_to(place)) for path in sorted((place / "obj").glob("*.cpp"))]
            sources += [str(include / f"verilated{part}.cpp") for part in ("", "_threads")]
            run("g++", "-std=c++20", "-O0", "-fPIC", "-shared", "-w", "-pthread", f"-I{include}",
                f"-I{include}/vltstd", "-Iobj", "wrapper.cpp", *sources, "-o", "model.tmp", cwd=place)
            os.rename(place / "model.tmp", place / "model.so")
    return place / "model.so"

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
