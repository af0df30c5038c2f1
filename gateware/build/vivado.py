#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs Vivado on the emitted files and checks the timing of the result."""

import re

from litepcie_soc.build.tools import ToolError, run_tool

# Columns in Vivado's "Design Timing Summary": slack of setup, hold and pulse width in ns.
SLACKS = {"setup": 0, "hold": 4, "pulse width": 8}


def slacks(report):
    """Returns the worst slack of each kind in ns from the text of ``report_timing_summary``. Raises ``ToolError``."""
    rule = r"^ *WNS\(ns\).*\n[ -]+\n(.*)$"
    found = re.search(rule, report, flags=re.MULTILINE)
    try:
        values = found[1].split()
        return {kind: float(values[column]) for kind, column in SLACKS.items()}
    except (TypeError, IndexError, ValueError):  # No or too few values, or "NA": nothing is constrained.
        raise ToolError("Vivado's report has no Design Timing Summary") from None


def failing_pairs(report):
    """Returns (clock, clock) of each row of the report's Inter Clock Table with a negative slack."""
    rule  = r"^\| Inter Clock Table$.*?^From Clock .*?\n[ -]+\n(.*?)(?:^ *$|\Z)"
    table = re.search(rule, report, flags=re.DOTALL | re.MULTILINE)
    rows  = [line.split() for line in table[1].splitlines()] if table else []
    return [(row[0], row[1]) for row in rows if any(re.fullmatch(r"-\d+\.\d+", word) for word in row[2:])]


def check_timing(report, path):
    """Raises ``ToolError`` if a slack is missing or negative; ``path`` names the report in the message."""
    failing = {kind: slack for kind, slack in slacks(report).items() if slack < 0}
    if failing:
        text  = ", ".join(f"{kind} by {-slack:.3f} ns" for kind, slack in failing.items())
        pairs = ", ".join(f"{one} to {other}" for one, other in failing_pairs(report))
        raise ToolError(f"timing is not met: {text}{pairs and f'; between clocks: {pairs}'}; see {path}")


def build(name, folder, flash=None):
    """Builds ``name.bit`` from the emitted files in ``folder``. Raises ``ToolError``.

    flash : ``Flash`` of the board. Returns its report on the bitstream, one line.
    """
    run_tool(["vivado", "-mode", "batch", "-source", f"{name}.tcl"], folder,
        hint=f"all files are written: run `vivado -mode batch -source {name}.tcl` in {folder}")
    report = folder / f"{name}_timing.rpt"
    try:
        text = report.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ToolError(f"{report}: {error.strerror}") from error
    check_timing(text, report)
    try:
        size = (folder / f"{name}.bit").stat().st_size
    except OSError as error:
        raise ToolError(f"{error.filename}: {error.strerror}") from error
    return flash.report(size) if flash else ""
