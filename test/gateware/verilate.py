# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Verilog and C++ compiled by Verilator: the one way for all tests. A compiled model is an entry of the project's cache
(`litepcie_sim.guest.cache`), which all clones share; its key has the text of every file, options, and tools."""

import ctypes
import functools
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from migen import ClockDomain
from litex.gen.fhdl.verilog import convert

from litepcie_sim.guest import cache
from litepcie_soc.build.emit import numbered_alike
from test.tracing import named

# Options for every model. Migen's Verilog causes many harmless warnings about style and width.
VERILATOR = ["verilator", "--cc", "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-COMBDLY", "-Wwarn-UNOPTFLAT",
    "--output-split", "20000", "--x-initial", "0", "--no-timing"]
COMPILER  = ["g++", "-std=c++17", "-fPIC", "-pthread"]
TIMING    = ["--timing"], ["-std=c++20", "-fcoroutines"]
# For C++ of this tree, and for C++ that Verilator writes.
STRICT, GENERATED = ["-Wall", "-Wextra", "-Werror"], ["-w"]

PRELUDE = '#include "verilated.h"\n#include <cstdint>\n#include <cstdio>\n#include <vector>\n'


@dataclass(frozen=True)
class Model:
    """path : the program, or the shared object. messages : the warnings of Verilator."""
    path:     Path
    messages: str


def run(command, folder):
    """Runs a command and returns the text of its two streams. Raises ``AssertionError`` if it fails."""
    result = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, f"{command[0]} failed:\n{result.stdout}{result.stderr}"
    return result.stdout + result.stderr


@functools.cache
def versions():
    return run(["verilator", "--version"], None) + run(["g++", "--version"], None)


@functools.cache
def include():
    """Options to find Verilator's own headers."""
    root = Path(run(["verilator", "--getenv", "VERILATOR_ROOT"], None).strip()) / "include"
    return [f"-I{root}", f"-I{root / 'vltstd'}"]


@functools.cache
def runtime(optimise, timing=False):
    """Folder with ``runtime.o`` of Verilator, and ``prelude.h`` precompiled for one level of optimisation."""
    compiler = [*COMPILER, *TIMING[1]*timing]
    def make(folder):
        root    = include()[0].removeprefix("-I")
        sources = [f'#include "{root}/verilated{part}.cpp"\n' for part in ("", "_threads", *["_timing"]*timing)]
        (folder / "runtime.cpp").write_text("".join(sources))
        (folder / "prelude.h").write_text(PRELUDE)
        run([*compiler, *GENERATED, "-O1", *include(), "-c", "runtime.cpp", "-o", "runtime.o"], folder)
        run([*compiler, optimise, *include(), "-x", "c++-header", "prelude.h"], folder)
    return cache.entry("verilator-runtime", cache.digest(versions(), optimise, PRELUDE, *compiler), make,
        "Verilator's runtime")


def to_verilog(make, ports, name="top"):
    """(the design that `make()` returns, LiteX's output for it). `ports(design)` has the Signals at its top.

    The text is the same whatever the process has made before, so that a model is found in the cache. The design has
    one clock domain, `sys`, unless it has others of its own.
    """
    with numbered_alike(), named():
        design = make()
        if not hasattr(design, "cd_sys"):
            design.clock_domains.cd_sys = ClockDomain("sys")
        return design, convert(design, {*ports(design), design.cd_sys.clk, design.cd_sys.rst}, name=name)


def without_comments(verilog):
    """Verilog without lines that are comments: LiteX writes the date into them."""
    return "".join(line for line in verilog.splitlines(True) if not line.startswith("//"))


def verilate(files, *, top="top", options=(), optimise="-O0", shared=False, waves=False, timing=False):
    """The ``Model`` of ``top``: compiled now, or taken from the cache.

    files    : text by file name: Verilog, C++, and what these read (headers, contents of memories). A name may have
               folders.
    options  : further options of Verilator.
    optimise : of C++. ``-O0`` unless the model runs for longer than the compiler.
    shared   : a shared object, not a program.
    waves    : with what writes waveforms; C++ sees VM_TRACE.
    timing   : a bench with delays, a program by itself if there is no C++. No delay has 2**31 units of its precision.
    """
    files    = {name: without_comments(text) if name.endswith(".v") else text for name, text in files.items()}
    verilog  = [name for name in files if name.endswith(".v")]
    sources  = [name for name in files if name.endswith(".cpp")]
    options  = [*options, *["--trace"]*waves, *TIMING[0]*timing, *["--main"]*(timing and not sources)]
    command  = [*VERILATOR, *options, "--prefix", f"V{top}", "--top-module", top, "--Mdir", ".", *verilog]
    compiler = [*COMPILER, *TIMING[1]*timing, optimise, *["-DVM_TRACE=1"]*waves, *include(), "-I."]
    library  = runtime(optimise, timing)
    def compile_one(folder, name, warnings):
        run([*compiler, "-include", library / "prelude.h", *warnings, "-c", name, "-o", f"{name}.o"], folder)
        return f"{name}.o"
    def remove(path):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    def make(folder):
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        messages  = run(command, folder)
        generated = sorted(path.name for path in folder.glob(f"V{top}*.cpp"))
        # One compilation: most of the time goes into headers.
        (folder / "generated.cpp").write_text("".join(f'#include "{name}"\n' for name in generated))
        objects = [compile_one(folder, "generated.cpp", GENERATED)]
        objects += [compile_one(folder, name, GENERATED if waves or timing else STRICT) for name in sources]
        if waves:
            (folder / "waves.cpp").write_text(f'#include "{include()[0].removeprefix("-I")}/verilated_vcd_c.cpp"\n')
            objects.append(compile_one(folder, "waves.cpp", GENERATED))
        objects += [library / "runtime.o"]
        run([*COMPILER, *["-shared"]*shared, *objects, "-o", "model"], folder)
        for path in set(folder.iterdir()) - {folder / "model"}:
            remove(path)
        (folder / "messages").write_text(messages)
        (folder / "digest").write_text(cache.digest((folder / "model").read_bytes(), messages))
        cache.prune("model")
    key = cache.digest(versions(), *command, *compiler, *STRICT, str(shared), *[part for file in files.items()
        for part in file])
    entry = cache.entry("model", key, make, f"the model of {top}")
    if not is_whole(entry):
        cache.discard(entry)
        entry = cache.entry("model", key, make, f"the model of {top}")
    return Model(entry / "model", (entry / "messages").read_text())


def is_whole(entry):
    """False if a file of a model is missing, or is other than it was when it was written."""
    try:
        return (entry / "digest").read_text() == cache.digest((entry / "model").read_bytes(),
            (entry / "messages").read_bytes())
    except OSError:
        return False


def header_ports(verilog):
    """Name to (direction, bits), from the text of a module."""
    header = re.search(r"^module \w+ \((.*?)^\);", verilog, flags=re.MULTILINE | re.DOTALL)[1]
    header = re.sub(r"\(\*.*?\*\)", "", header)  # Attributes.
    ports  = {}
    for line in header.split(","):
        way, high, name = re.fullmatch(r"\s*(input|output)\s+(?:wire|reg)\s+(?:\[(\d+):0\])?\s*(\w+)\s*", line).groups()
        ports[name] = (way, int(high or 0) + 1)
    return ports


WRAPPER = """\
#include "V@TOP@.h"
#if VM_TRACE
#include "verilated_vcd_c.h"
static VerilatedVcdC *vcd;
static uint64_t now;
static void dump() { if (vcd) { vcd->dump(now++); vcd->flush(); } }
#else
static void dump() {}
#endif
extern "C" {
V@TOP@ *create() { Verilated::traceEverOn(true); return new V@TOP@; }
void destroy(V@TOP@ *top) { delete top; }
void *port(V@TOP@ *top, int n) { void *all[] = {@PORTS@}; return all[n]; }
void settle(V@TOP@ *top) { top->sys_clk = 0; top->eval(); dump(); }
void edge(V@TOP@ *top) { top->sys_clk = 1; top->eval(); dump(); }
#if VM_TRACE
void waves(V@TOP@ *top, const char *path) {
    if (vcd)
        vcd->close();
    vcd = new VerilatedVcdC;
    top->trace(vcd, 99);
    vcd->open(path);
    now = 0;
}
#endif
}
"""


@functools.cache
def library_of(verilog, top, options=(), waves=False):
    """(shared object, ports, warnings of Verilator) of a module with the clock ``sys_clk``."""
    ports   = header_ports(verilog)
    wrapper = WRAPPER.replace("@TOP@", top).replace("@PORTS@", ", ".join(f"&top->{port}" for port in ports))
    model   = verilate({f"{top}.v": verilog, "wrapper.cpp": wrapper}, top=top, options=options, shared=True,
        waves=waves)
    library = ctypes.CDLL(str(model.path))
    library.create.restype = library.port.restype = ctypes.c_void_p
    return library, ports, model.messages


class Core:
    """A module compiled by ``library_of``. ``core["port"]`` is a port's value now; assigning sets an input.

    waves : path of a waveform to write, or None.
    """
    def __init__(self, verilog, top, options=(), waves=None):
        self.library, self.ports, self.messages = library_of(verilog, top, options, waves is not None)
        self.handle = ctypes.c_void_p(self.library.create())
        if waves:
            self.library.waves(self.handle, str(waves).encode())
        self.places = {}
        for n, (port, (_, bits)) in enumerate(self.ports.items()):
            size = next((size for size in (1, 2, 4, 8) if bits <= 8 * size), (bits + 31) // 32 * 4)
            self.places[port] = (ctypes.c_char * size).from_address(self.library.port(self.handle, n))

    def get(self, port):
        return int.from_bytes(self.places[port].raw, "little")

    def set(self, port, value):
        place = self.places[port]
        place.raw = int(value).to_bytes(len(place), "little")

    __getitem__, __setitem__ = get, set

    def settle(self):
        """Outputs follow the inputs of this cycle."""
        self.library.settle(self.handle)

    def edge(self):
        """The clock edge that ends this cycle."""
        self.library.edge(self.handle)

    def close(self):
        self.places.clear()
        self.library.destroy(self.handle)
