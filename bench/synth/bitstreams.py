#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Area and clocks of the open endpoint alone, and of boards whose bitstream yosys and nextpnr make.

Keys of a record: ``build`` (name), ``device``, ``luts``, ``ffs``, ``brams``; of a board also ``clocks`` ({net: (Hz
asked, Hz reached)}) and ``bytes`` of the bitstream.
"""

import inspect
import json
import re
import subprocess
import sys

from migen import *

from litex.gen import *
from litex.gen.fhdl.verilog import convert

from litepcie_bench.synth import tools
from litepcie_bench.synth.count import area
from litepcie_bench.synth.table import TOLERANCE
from litepcie_soc.board.identity import pci_id, soft_identity
from litepcie_soc.build import generated, trellis
from litepcie_soc.build.emit import numbered_alike
from litepcie_soc.build.targets import PATHS, boards
from litepcie_soc.common.abi import BAR0_SIZE
from litepcie_soc.endpoint import SerDesInterface, SoftPHY
from litepcie_soc.soc.export import reproducible

ENDPOINT = "endpoint alone"
FOLDER   = tools.ROOT / "build" / "bench" / "bitstreams"

# Endpoint -----------------------------------------------------------------------------------------

STATE = ("id", "max_payload_size", "max_request_size", "link_up", "bus_master_enable", "extended_tag",
    "relaxed_ordering_enable", "no_snoop_enable", "rcb_128", "msi_enable", "requests_stopped", "function_reset",
    "function_reset_done")


def endpoint_sources():
    """Returns texts by file name: ``SoftPHY`` as on the boards, with the SerDes and all it has in ``sys`` as ports."""
    with numbered_alike():
        top         = LiteXModule()
        serdes      = SerDesInterface("serdes")
        top.cd_sys  = ClockDomain()
        top.cd_pcie = ClockDomain()
        top.phy     = phy = SoftPHY(serdes, bar0_size=BAR0_SIZE, **soft_identity(pci_id("ecp5")))
        domains     = [signal for domain in (top.cd_sys, top.cd_pcie) for signal in (domain.clk, domain.rst)]
        ports       = [*domains, *serdes.flatten(), *phy.sink.flatten(), *phy.source.flatten(), *phy.msi.flatten(),
            *phy.errors.flatten(), *(getattr(phy, name) for name in STATE)]
        output      = convert(top.get_fragment(), set(ports), name="endpoint")
    return {"endpoint.v": reproducible(output.main_source), **output.data_files}


def endpoint():
    """Returns the record of the endpoint: scrambler to configuration space, and the crossing to ``sys``."""
    found = area(tools.synthesised_cells(endpoint_sources(), "ecp5", "endpoint"), "ecp5")
    return {"build": ENDPOINT, "device": "ECP5", "luts": found.luts, "ffs": found.ffs, "brams": found.brams}

# Boards -------------------------------------------------------------------------------------------


def open_boards():
    """Returns the boards that are built without a vendor's tool."""
    return [board for board in boards() if board.toolchain == "trellis"]


def record(board, folder):
    """Returns the record of a build of a ``Board`` without options in its build folder ``folder``."""
    name   = board.configure().name(board)
    path   = folder / "gateware" / name
    report = json.loads(path.with_name(f"{name}_report.json").read_text(encoding="utf-8"))
    used   = {cell: numbers["used"] for cell, numbers in report["utilization"].items()}
    return {
        "build":  name,
        "device": board.platform().device,
        "luts":   used["TRELLIS_COMB"],
        "ffs":    used["TRELLIS_FF"],
        "brams":  used["DP16KD"],
        "clocks": {net.removeprefix("$glbnet$"): (clock["constraint"]*1e6, clock["achieved"]*1e6)
            for net, clock in report["fmax"].items()},
        "bytes":  path.with_name(f"{name}.bit").stat().st_size,
    }


def run_target(board, *options):
    """Runs a target with ``--build`` as a user does; returns its build folder and output. Raises ``ToolError``."""
    folder = FOLDER / board.name
    done   = subprocess.run([sys.executable, PATHS[board.name], "--build", "--output-dir", folder, *options],
        capture_output=True, text=True)
    if done.returncode:
        raise tools.ToolError(done.stderr.strip())
    return folder, done.stdout


def build(board):
    """Builds a ``Board`` without options; returns its record, with the target's ``output``. Raises ``ToolError``."""
    folder, output = run_target(board)
    return {**record(board, folder), "output": output}


def built(board):
    """As ``build``, but returns the record of an earlier build whose Verilog, constraints and steps are the same."""
    folder, _ = run_target(board, "--no-compile")
    inputs    = {path.name: path.read_text(encoding="utf-8") for path in sorted((folder / "gateware").iterdir())
        if path.suffix in (".v", ".init") or path.name == f"{board.configure().name(board)}.lpf"}
    steps     = [inspect.getsource(module) for module in (trellis, trellis)]
    return tools.remembered(["bitstream", inputs, steps], lambda: build(board))


def measure(step):
    """Returns a record of the endpoint and of each board."""
    found = [endpoint()]
    step(ENDPOINT)
    for board in open_boards():
        found.append(build(board))
        step(board.name)
    return found

# Table --------------------------------------------------------------------------------------------

HEAD     = ("build", "device", "LUT4", "FFs", "DP16KD", "MHz reached of asked", "bitstream, bytes")
COMPARED = {"LUT4": "luts", "FFs": "ffs", "DP16KD": "brams"}


def row(line):
    clocks = ", ".join(f"`{name}` {reached/1e6:.0f} of {asked/1e6:g}"
        for name, (asked, reached) in sorted(line.get("clocks", {}).items()))
    return line["build"], line["device"], *(f"{line[key]:g}" for key in COMPARED.values()), clocks or "-", \
        f"{line.get('bytes', '-')}"


def tables(records):
    """Returns the text of the table, by its name in the document."""
    return {"bitstreams": generated.table(HEAD, [row(line) for line in records])}


def update(text, records):
    """Returns the document with the table replaced. Raises ``ValueError`` if it has no place for it."""
    return generated.renewed(text, tables(records))


def read(text):
    """Returns the rows of a document: {build: {column: text}}."""
    place = re.search(r"<!-- bitstreams -->\n(.*?)<!-- end of bitstreams -->", text, re.DOTALL)
    lines = place[1].splitlines()[2:] if place else []
    rows  = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    return {cells[0]: dict(zip(HEAD, cells)) for cells in rows if len(cells) == len(HEAD)}


def grown(records, text):
    """Returns a line per figure that exceeds the document by more than TOLERANCE, or that has no row in it."""
    written, lines = read(text), []
    for line in records:
        if line["build"] not in written:
            lines.append(f"{line['build']}: docs/resources.md has no such row")
            continue
        before = written[line["build"]]
        lines += [f"{line['build']}: {column} {line[key]:g}, the document has {before[column]}"
            for column, key in COMPARED.items() if line[key] > float(before[column])*(1 + TOLERANCE)]
    return lines
