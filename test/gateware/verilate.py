#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Verilog and C++ compiled by Verilator: the one way for all tests.

A compiled model is an entry of the project's cache (`litepcie_sim.guest.cache`). Its key covers the text of every
file, the options, and the versions of the tools. All clones of a user share it.
"""

import functools
import shutil
import subprocess

from dataclasses import dataclass
from pathlib import Path

from migen import ClockDomain

from litex.gen.fhdl.verilog import convert

from litepcie_sim.guest import cache
from litepcie_soc.build.numbering import numbered_alike

from test.tracing import named

# Options for every model. Migen's Verilog causes many harmless warnings about style and width.
VERILATOR = ["verilator", "--cc", "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-COMBDLY", "-Wwarn-UNOPTFLAT",
    "--output-split", "20000", "--x-initial", "0", "--no-timing"]
COMPILER  = ["g++", "-std=c++17", "-fPIC", "-pthread"]
# For C++ of this tree, and for C++ that Verilator writes.
STRICT, GENERATED = ["-Wall", "-Wextra", "-Werror"], ["-w"]

PRELUDE = '#include "verilated.h"\n#include <cstdint>\n#include <cstdio>\n#include <vector>\n'


@dataclass(frozen=True)
class Model:
    """path : the program, or the shared object. messages : the warnings of Verilator."""
    path:     Path
    messages: str

# Tools --------------------------------------------------------------------------------------------


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
def runtime(optimise):
    """Folder with ``runtime.o`` of Verilator, and ``prelude.h`` precompiled for one level of optimisation."""
    def make(folder):
        root    = include()[0].removeprefix("-I")
        sources = [f'#include "{root}/verilated{part}.cpp"\n' for part in ("", "_threads")]
        (folder / "runtime.cpp").write_text("".join(sources))
        (folder / "prelude.h").write_text(PRELUDE)
        run([*COMPILER, *GENERATED, "-O1", *include(), "-c", "runtime.cpp", "-o", "runtime.o"], folder)
        run([*COMPILER, optimise, *include(), "-x", "c++-header", "prelude.h"], folder)

    return cache.entry("verilator-runtime", cache.digest(versions(), optimise, PRELUDE, *COMPILER), make,
        "Verilator's runtime")

# Verilog ------------------------------------------------------------------------------------------


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


# Models -------------------------------------------------------------------------------------------


def without_comments(verilog):
    """Verilog without lines that are comments: LiteX writes the date into them."""
    return "".join(line for line in verilog.splitlines(True) if not line.startswith("//"))


def verilate(files, *, top="top", options=(), optimise="-O0", shared=False, waves=False):
    """The ``Model`` of ``top``: compiled now, or taken from the cache.

    files    : text by file name: Verilog, C++, and what these read (headers, contents of memories). A name may have
               folders.
    options  : further options of Verilator.
    optimise : of C++. ``-O0`` unless the model runs for longer than the compiler.
    shared   : a shared object, not a program.
    waves    : with what writes waveforms; C++ sees VM_TRACE.
    """
    files    = {name: without_comments(text) if name.endswith(".v") else text for name, text in files.items()}
    verilog  = [name for name in files if name.endswith(".v")]
    sources  = [name for name in files if name.endswith(".cpp")]
    options  = [*options, *["--trace"]*waves]
    command  = [*VERILATOR, *options, "--prefix", f"V{top}", "--top-module", top, "--Mdir", ".", *verilog]
    compiler = [*COMPILER, optimise, *["-DVM_TRACE=1"]*waves, *include(), "-I."]

    def compile_one(folder, name, warnings):
        run([*compiler, "-include", runtime(optimise) / "prelude.h", *warnings, "-c", name, "-o", f"{name}.o"], folder)
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
        objects += [compile_one(folder, name, GENERATED if waves else STRICT) for name in sources]
        if waves:
            (folder / "waves.cpp").write_text(f'#include "{include()[0].removeprefix("-I")}/verilated_vcd_c.cpp"\n')
            objects.append(compile_one(folder, "waves.cpp", GENERATED))
        objects += [runtime(optimise) / "runtime.o"]
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
