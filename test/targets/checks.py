#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Checks of the files of any build of any board."""

import json
import re

from litex.build.generic_platform import Pins, Subsignal

from litepcie_soc.board.identity import phy_config, pci_id
from litepcie_soc.common import abi
from litepcie_soc.soc.regs import COMMITTED

from test.targets.boards import BOARDS, HEADERS, emitted
from test.targets.vivado import check_script

# Of the user logic: programs know these addresses on the bus.
BASES      = {"core": 0x0000, "user_copier": 0x0800, "user_mover": 0x1000}
INTERRUPTS = ("LEVEL", "PULSE", "STORM", "TIMER", "COPIED")

# Files --------------------------------------------------------------------------------------------


def constants(soc_h):
    return {name: int(value) for name, value in re.findall(r"^#define CONFIG_(\w+) (\d+)$", soc_h, flags=re.MULTILINE)}


def ip_config(tcl):
    """Returns the settings that the Tcl script gives to the hard block."""
    return dict(re.findall(r"CONFIG\.(\w+) \{([^}]*)\}", tcl))


def check_files(folder, build, c):
    gateware = {f"{build}.v", f"{build}.xdc", f"{build}.tcl", f"build_{build}.sh"}
    assert {path.name for path in (folder / "gateware").iterdir() if path.suffix != ".init"} == gateware
    headers  = {"csr.h", "soc.h", "csr.json", "litepcie_regs.h"}
    assert {path.name for path in (folder / HEADERS).iterdir()} == headers
    assert (folder / "litescope").is_dir() == c.with_litescope


def check_headers(folder, board, c):
    """The link in ``soc.h`` matches the options; the register map is the committed one, byte for byte."""
    soc_h = constants((folder / HEADERS / "soc.h").read_text())
    assert soc_h.items() >= {
        "PCIE_GEN":        c.gen,
        "PCIE_LANES":      c.lanes,
        "PCIE_DATA_WIDTH": c.data_width,
        "PCIE_TAGS":       c.tags,
        "PCIE_BAR0_SIZE":  abi.BAR0_SIZE,
        "CLOCK_FREQUENCY": int(c.sys_clk_freq),
        "MEMORY_SIZE":     board.memory_size(c),
        "PCIE_STREAMS":    c.user.streams,
    }.items()
    interrupts = {name for name in soc_h if name.startswith("PCIE_INTERRUPT_")}
    assert interrupts == {f"PCIE_INTERRUPT_{name}" for name in INTERRUPTS if c.user.interrupts}
    csr = json.loads((folder / HEADERS / "csr.json").read_text())
    assert {name: csr["csr_bases"].get(name) for name in BASES} == (BASES if c.user.core else dict.fromkeys(BASES))
    assert ("ram" in csr["memories"]) == c.user.user_bus
    for n in range(board.channels):
        assert (f"stream{n}_loop" in csr["csr_registers"]) == (n < c.user.streams)
    assert (folder / HEADERS / "litepcie_regs.h").read_text() == COMMITTED.read_text()
    return soc_h


def check_identity(soc_h, config, board):
    """The identity in ``soc.h``, which the simulator and the driver's table use, is that of the hard block."""
    said = {key: soc_h[f"PCIE_{key.upper()}"] for key in pci_id(board.family)}
    assert said == pci_id(board.family)
    for key, value in phy_config(said, board.family).items():
        assert config[key] == str(value), key

# Constraints --------------------------------------------------------------------------------------


def check_constraints(tcl, xdc):
    """The reference clock and the slot's reset are constrained, and synthesis is followed by the clock groups."""
    assert re.search(r"^create_clock -name pcie_\w+_clk_p -period 10.0 \[get_ports pcie_\w+\]$", xdc, re.MULTILINE)
    assert re.search(r"^set_false_path -from \[get_ports pcie_\w+_rst_n\]$", xdc, re.MULTILINE)
    place  = tcl.index("set_clock_groups -asynchronous ")
    assert tcl.index("synth_design ") < place < tcl.index("place_design ")


def pins_of(board, resource):
    """Returns the pins that the platform has for number 0 of a resource."""
    entry = next(entry for entry in board.platform().constraint_manager.available if entry[:2] == (resource, 0))
    return {pin for signal in entry[2:] if isinstance(signal, Subsignal)
        for constraint in signal.constraints if isinstance(constraint, Pins) for pin in constraint.identifiers}


def check_ddr(verilog, xdc, board, c):
    """Only builds with DDR use its pins. DDR4 has an MMCM of its own, with an oscillator that no other part uses."""
    placed = dict(re.findall(r"^set_property LOC (\w+) \[get_ports {?([^\s}]+)}?\]", xdc, flags=re.MULTILINE))
    used   = {pin for pin, port in placed.items() if re.match(r"ddram\d*_", port) and port != "ddram_reset_gate"}
    assert used == (pins_of(board, "ddram") if c.with_ddr else set())
    if "ultrascale" not in board.family:
        return
    mmcms = re.findall(r"^MMCME\d_ADV ", verilog, flags=re.MULTILINE)
    assert len(mmcms) == 1 + c.with_ddr
    pairs = re.findall(r"^IBUFDS IBUFDS\w*\(.*?\.I *\((\w+)\)", verilog, flags=re.DOTALL | re.MULTILINE)
    assert len(set(pairs)) == len(pairs) == 1 + c.with_ddr
    assert ("assign ddram_reset_gate = 1'd0;" in verilog) == (c.with_ddr and board.name == "xilinx_alveo_u200")

# All of a build -----------------------------------------------------------------------------------


def slow_parts(board, c):
    """Returns the names of the parts that standard error must report as slower than the link."""
    rates = {"data path": c.data_path_rate, "DDR": board.memory_rate(c) or c.link_rate}
    return [name for name, rate in rates.items() if rate < c.link_rate]


def check_build(name, options, folder, capsys):
    """Emits a board into ``folder`` and checks all of its files."""
    board = BOARDS[name]
    c     = emitted(name, options, folder)
    build = c.name(board)
    check_files(folder, build, c)
    soc_h = check_headers(folder, board, c)
    tcl   = (folder / "gateware" / f"{build}.tcl").read_text()
    check_identity(soc_h, ip_config(tcl), board)
    xdc   = (folder / "gateware" / f"{build}.xdc").read_text()
    check_constraints(tcl, xdc)
    check_script(folder / "gateware", build, board, c)
    assert str(folder) not in tcl
    device = board.platform().device
    assert f"-part {device[:-1]}{(c.device or device)[-1]}" in tcl
    verilog = (folder / "gateware" / f"{build}.v").read_text()
    assert f"module {build} (" in verilog
    assert "Hierarchy" not in verilog
    assert bool(re.search(r"assign \w*rst_n = \(\w*slot_rst_n & \(~\w*retry\)\);", verilog)) == c.retry_link
    check_ddr(verilog, xdc, board, c)
    # Parts that are slower than the link are reported, other parts are not.
    said = capsys.readouterr()
    assert re.findall(r"the ([\w ]+) \(\d+ MB/s\) is slower than the link", said.err) == slow_parts(board, c)
    assert said.out == ""

# Command line -------------------------------------------------------------------------------------


def check_nothing_written(folder, capsys, message):
    """A command is refused in one line."""
    said = capsys.readouterr()
    assert message in said.err
    assert (len(said.err.splitlines()), said.out) == (1, "")
    assert not folder.exists()
