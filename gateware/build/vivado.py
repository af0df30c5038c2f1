#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs Vivado on what was emitted, and reads whether the result keeps its timing."""

import re

from litepcie_soc.build.tools import ToolError, run_tool

# Columns of the line of numbers in Vivado's "Design Timing Summary": the slack of setup, hold and pulse width, ns.
SLACKS = {"setup": 0, "hold": 4, "pulse width": 8}


def slacks(report):
    """Worst slack of each kind in ns, of the text of ``report_timing_summary``. Raises ``ToolError`` if it has none."""
    rule = r"^ *WNS\(ns\).*\n[ -]+\n(.*)$"
    found = re.search(rule, report, flags=re.MULTILINE)
    try:
        values = found[1].split()
        return {kind: float(values[column]) for kind, column in SLACKS.items()}
    except (TypeError, IndexError, ValueError):  # None, or too few, or "NA": nothing is constrained.
        raise ToolError("no Design Timing Summary in Vivado's report") from None


def check_timing(report, path):
    """Raises ``ToolError`` unless every slack is there and none is negative. ``path`` : of the report, to be named."""
    failing = {kind: slack for kind, slack in slacks(report).items() if slack < 0}
    if failing:
        text = ", ".join(f"{kind} by {-slack:.3f} ns" for kind, slack in failing.items())
        raise ToolError(f"timing is not met: {text}; see {path}")


def build(name, folder):
    """Makes ``name.bit`` from the emitted files in ``folder``. Raises ``ToolError``."""
    run_tool(["vivado", "-mode", "batch", "-source", f"{name}.tcl"], folder,
        hint=f"all is written: run `vivado -mode batch -source {name}.tcl` in {folder}")
    report = folder / f"{name}_timing.rpt"
    try:
        text = report.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ToolError(f"{report}: {error.strerror}") from error
    check_timing(text, report)
