#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What a target writes for Vivado, read by others: part and Verilog."""

import hashlib
import json
import re
import sys
import tempfile

from dataclasses import dataclass
from pathlib import Path

from litepcie_bench import processes
from litepcie_bench.synth.tools import ToolError


@dataclass(frozen=True)
class Project:
    """``name`` of the build and of its top module; ``sources``: text by file name, Verilog first."""
    name:    str
    part:    str
    sources: dict

    @property
    def digest(self):
        """Eight digits that are others when anything in ``sources`` is."""
        return hashlib.sha256(json.dumps(self.sources, sort_keys=True).encode()).hexdigest()[:8]


def _one(pattern, text, what):
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise ToolError(f"{what} has no line {pattern}")
    return found[1]


def read(folder):
    """The ``Project`` in a target's folder ``gateware``: what its script gives to Vivado."""
    (script,) = Path(folder).glob("*.tcl")
    text      = script.read_text(encoding="utf-8")
    verilog   = [script.parent / name for name in re.findall(r"^read_verilog \{(.*)\}$", text, re.MULTILINE)]
    contents  = sorted(script.parent.glob("*.init"))
    return Project(
        name    = _one(r"-top (\S+)", text, script.name),
        part    = _one(r"^create_project .*-part (\S+)", text, script.name),
        sources = {path.name: path.read_text(encoding="utf-8") for path in [*verilog, *contents]},
    )


def emit(target, options):
    """The ``Project`` that a target, ``targets/NAME.py``, writes without running Vivado. Raises ``ToolError``.

    In a process of its own: LiteX numbers some names through all SoCs of a process.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, target, "--build", "--no-compile", "--output-dir", folder, *options]
        status, text = processes.run(command)
        if status:
            raise ToolError(f"{target.name} {' '.join(options)}: {(text.strip().splitlines() or [status])[-1]}")
        return read(Path(folder) / "gateware")
