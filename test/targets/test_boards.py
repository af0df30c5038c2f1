#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Every board of targets/: what it emits, that its hard block says what its headers say, and one register map for all.

No Vivado is needed: what is emitted is looked at, not built.
"""

import os
import re
import subprocess
import sys

import pytest

from litepcie_soc.board.identity import phy_config, pci_id
from litepcie_soc.soc import abi
from litepcie_soc.soc.regs import COMMITTED

from test.targets.boards import BOARDS, HEADERS, TARGETS, build_name, emitted, options_of

# Every link with every data path; what else there is to choose on each board; all channels on the smallest link of one.
LINKS    = [(name, options_of(c)) for name, board in BOARDS.items() for c in board.configurations()]
CHANNELS = [("sqrl_acorn", ["--pcie-lanes", "1", "--dma-channels", str(abi.MAX_CHANNELS)])]
CHOICES  = [(name, ["--dma-channels", "2", "--with-litescope", "--tags", "32"]) for name in BOARDS]
DDR      = [(name, [*link, "--with-ddr"]) for name, board in BOARDS.items() if board.memory.ddr
    for link in ([], ["--data-width", "64"])]
BUILDS   = LINKS + CHANNELS + CHOICES + DDR

# Helpers ------------------------------------------------------------------------------------------


def constants(soc_h):
    return {name: int(value) for name, value in re.findall(r"^#define CONFIG_(\w+) (\d+)$", soc_h, flags=re.MULTILINE)}


def ip_config(tcl):
    """What the script configures the hard block with."""
    return dict(re.findall(r"CONFIG\.(\w+) \{([^}]*)\}", tcl))


def check_headers(folder, board, c):
    """The link in ``soc.h`` is that of the options; the register map is the committed one, byte for byte."""
    soc_h = constants((folder / HEADERS / "soc.h").read_text())
    assert soc_h.items() >= {
        "PCIE_GEN":        c.gen,
        "PCIE_LANES":      c.lanes,
        "PCIE_DATA_WIDTH": c.data_width,
        "PCIE_TAGS":       c.tags,
        "PCIE_BAR0_SIZE":  abi.BAR0_SIZE,
        "CLOCK_FREQUENCY": int(c.sys_clk_freq),
        "MEMORY_SIZE":     board.memory_size(c),
    }.items()
    assert (folder / HEADERS / "litepcie_regs.h").read_text() == COMMITTED.read_text()
    return soc_h


def check_identity(soc_h, config, board):
    """What ``soc.h`` says, which the simulator and the driver's table go by, is what the hard block will say."""
    said = {key: soc_h[f"PCIE_{key.upper()}"] for key in pci_id(board.family)}
    assert said == pci_id(board.family)
    for key, value in phy_config(said, board.family).items():
        assert config[key] == str(value), key


def check_constraints(tcl, xdc):
    """Reference clock, reset of the slot, and link and board apart from each other: that behind synthesis."""
    assert re.search(r"^create_clock -name pcie_\w+_clk_p -period 10.0 \[get_ports pcie_\w+\]$", xdc, re.MULTILINE)
    assert re.search(r"^set_false_path -from \[get_ports pcie_\w+_rst_n\]$", xdc, re.MULTILINE)
    groups = tcl.index("set_clock_groups -asynchronous -group "
        "[get_clocks -include_generated_clocks -of_objects [get_nets sys_clk]] -group "
        "[get_clocks -include_generated_clocks -of_objects [get_nets pcie_clk]]\n")
    assert tcl.index("synth_design ") < groups < tcl.index("place_design ")


def check_files(folder, build, c):
    gateware = {f"{build}.v", f"{build}.xdc", f"{build}.tcl", f"build_{build}.sh"}
    assert {path.name for path in (folder / "gateware").iterdir() if path.suffix != ".init"} == gateware
    headers  = {"csr.h", "soc.h", "csr.json", "litepcie_regs.h"}
    assert {path.name for path in (folder / HEADERS).iterdir()} == headers
    assert (folder / "litescope").is_dir() == c.with_litescope

# Emitted files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", TARGETS, ids=lambda path: path.stem)
def test_target_is_a_program_named_after_its_board(path):
    assert os.access(path, os.X_OK)
    assert BOARDS[path.stem].name == path.stem


@pytest.mark.parametrize("name, options", BUILDS, ids=[build_name(*build) for build in BUILDS])
def test_build_without_compile(name, options, tmp_path, capsys):
    board = BOARDS[name]
    c     = emitted(name, options, tmp_path)
    build = c.name(board)
    check_files(tmp_path, build, c)
    soc_h = check_headers(tmp_path, board, c)
    tcl   = (tmp_path / "gateware" / f"{build}.tcl").read_text()
    check_identity(soc_h, ip_config(tcl), board)
    check_constraints(tcl, (tmp_path / "gateware" / f"{build}.xdc").read_text())
    assert str(tmp_path) not in tcl
    assert f"-part {board.platform().device}" in tcl
    verilog = (tmp_path / "gateware" / f"{build}.v").read_text()
    assert f"module {build} (" in verilog
    assert "Hierarchy" not in verilog
    # A data path slower than the link is told, any other not.
    said = capsys.readouterr()
    slow = "is slower than the link" in said.err
    assert (slow, said.out) == (c.data_path_rate < c.link_rate, "")


@pytest.mark.parametrize("path", TARGETS, ids=lambda path: path.stem)
def test_two_builds_are_the_same_byte_for_byte(path, tmp_path):
    """The second, in a Python that orders its sets otherwise, touches no file: each is as before."""
    seen    = []
    options = ["--build", "--no-compile", *["--with-ddr"] * bool(BOARDS[path.stem].memory.ddr)]
    for seed in ("1", "2"):
        result = subprocess.run([sys.executable, path, *options, "--output-dir", tmp_path],
            capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONHASHSEED": seed})
        assert (result.returncode, result.stdout) == (0, "")
        seen.append({path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")})
    assert seen[0] == seen[1]


def test_names_are_unique():
    """No two builds share a folder."""
    names = [build_name(*build) for build in BUILDS]
    assert len(set(names)) == len(names)
