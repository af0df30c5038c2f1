#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Reads the Vivado project that a target writes: part and Verilog."""

import hashlib
import json
import re
import sys
import tempfile

from dataclasses import dataclass
from pathlib import Path

from litepcie_bench.synth.tools import ToolError
from litepcie_soc.build import processes


@dataclass(frozen=True)
class Project:
    """A project: ``name`` of build and top module, ``part``, ``sources``: text by file name, Verilog first.

    constraints : XDC and Tcl; "" for nextpnr.
    """
    name:        str
    part:        str
    sources:     dict
    constraints: str = ""

    @property
    def digest(self):
        """Digest of ``sources``, eight hexadecimal digits."""
        return hashlib.sha256(json.dumps(self.sources, sort_keys=True).encode()).hexdigest()[:8]


def _one(pattern, text, what):
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise ToolError(f"{what} has no line that matches {pattern}")
    return found[1]


def _texts(paths):
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def read(folder):
    """Reads the ``Project`` from the folder ``gateware`` of a build: the files that its script gives to Vivado."""
    contents = sorted(Path(folder).glob("*.init"))
    for limits in Path(folder).glob("*.lpf"):  # For yosys and nextpnr.
        return Project(limits.stem, "", _texts([limits.with_suffix(".v"), *contents]))
    (script,) = Path(folder).glob("*.tcl")
    text      = script.read_text(encoding="utf-8")
    verilog   = [script.parent / name for name in re.findall(r"^read_verilog \{(.*)\}$", text, re.MULTILINE)]
    return Project(
        name    = _one(r"-top (\S+)", text, script.name),
        part    = _one(r"^create_project .*-part (\S+)", text, script.name),
        sources = _texts([*verilog, *contents]),
        constraints = "\n".join([*_texts(sorted(script.parent.glob("*.xdc"))).values(), text]),
    )


def emit(target, options):
    """Runs ``targets/NAME.py`` without Vivado and returns its ``Project``. Raises ``ToolError``.

    The target runs in a process of its own, because LiteX numbers some names across all SoCs of a process.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, target, "--build", "--no-compile", "--output-dir", folder, *options]
        status, text = processes.run(command)
        if status:
            raise ToolError(f"{target.name} {' '.join(options)}: {(text.strip().splitlines() or [status])[-1]}")
        return read(Path(folder) / "gateware")
