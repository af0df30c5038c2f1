# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The command line of every board: help, what cannot be, tools that are missing or fail, the driver's folder. A script
stands in for Vivado: the tests look at what it is called with. test_programmers.py has openFPGALoader."""

import gc
import os
import subprocess

from types import SimpleNamespace

import pytest

from litepcie_soc.build import main
from test.targets.boards import BOARDS, build_name, run
from test.targets.checks import check_nothing_written

OPTIONS = ("--build", "--load", "--flash", "--driver", "--no-compile", "--gen", "--lanes", "--data-width",
    "--dma-channels", "--streams", "--patterns", "--user-bus", "--host-buffers", "--interrupts", "--tags",
    "--with-ddr", "--with-litescope", "--sys-clk-freq", "--output-dir", "--toolchain", "--cable",
    "--vivado-place-directive", "--log-level")


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """Sets the PATH to a folder and the system's folders; ``add`` puts a script into this folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def add(name, text):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    return add


# What help says of it on two boards.
DDR = {"sqrl_acorn": "16 bit DDR3-1000, 1 GiB, instead of 1 MiB of block RAM.",
    "xilinx_kcu105": "64 bit DDR4-1250, 2 GiB, 10000 MB/s for both directions together, instead of 1 MiB of block RAM."}


@pytest.mark.parametrize("name", BOARDS)
def test_help_names_every_option(name, capsys):
    assert run(name, "--help") == 0
    said = capsys.readouterr()
    assert said.err == "" and all((option in said.out) == (option != "--with-ddr" or BOARDS[name].memory.ddr > 0)
        for option in OPTIONS)
    assert "--cpu-type" not in said.out and len(said.out.splitlines()) < 80
    assert (f"Endpoint memory in {DDR.get(name, '')}" in " ".join(said.out.split())) == (BOARDS[name].memory.ddr > 0)


BAD_INPUT = [
    ((),                                    "nothing to do; give one of --build, --load, --flash, --driver"),
    (("--build", "--gen", 4),          "argument --gen: invalid choice: 4 (choose from "),
    (("--build", "--pcie-gen", 2),          "--pcie-gen has become --gen, as in the simulator and litepcie_util"),
    (("--build", "--dma-channels", 0),      "--dma-channels 0 is not supported; choose 1 to "),
    (("--build", "--streams", 7),           "--streams 7 is not supported with --dma-channels 1; "),
    (("--build", "--streams", 1, "--patterns", 2), "--patterns 2 is not supported with --streams 1; choose at most 1"),
    (("--build", "--tags", 48),             "--tags 48 is not supported; choose 32"),
    (("--build", "--sys-clk-freq", 1),      "--sys-clk-freq 1 is not supported; choose "),
    (("--build", "--sys-clk-freq", "fast"), "argument --sys-clk-freq: invalid float value: 'fast'"),
    (("--build", "--device", "xc7a200t-2", "--with-ddr"), "--with-ddr is not supported with --device xc7a200t-2: "),
    (("--build", "--cpu-type", "vexriscv"), "unrecognized arguments: --cpu-type vexriscv"),
]


@pytest.mark.parametrize("name, args, message", [*(("sqrl_acorn", *case) for case in BAD_INPUT),
    *((name, *BAD_INPUT[n]) for n, name in enumerate(BOARDS) if name != "sqrl_acorn")])
def test_bad_input_is_one_line_and_status_2(name, args, message, tmp_path, capsys):
    folder = tmp_path / "out"
    assert run(name, *args, "--output-dir", folder) == 2
    check_nothing_written(folder, capsys, message)


def test_links_that_the_board_has_not(tmp_path, capsys):
    """Every combination of the generations, lanes and widths that are offered: it can be, or it is one line."""
    board = BOARDS["sqrl_acorn"]
    for gen in board.gens:
        for lanes in board.lanes:
            for width in board.data_widths:
                if width not in board.links.get((gen, lanes), ()):
                    assert run(board.name, "--build", "--output-dir", tmp_path / "out", "--gen", gen, "--lanes",
                        lanes, "--data-width", width) == 2
                    check_nothing_written(tmp_path / "out", capsys, "--data-width" if (gen, lanes) in board.links
                        else "--lanes")


def test_clock_that_the_pll_cannot_make(tmp_path, capsys):
    assert run("kosagi_netv2", "--build", "--sys-clk-freq", "249.1e6", "--output-dir", tmp_path / "out") == 2
    check_nothing_written(tmp_path / "out", capsys, "the board's PLL cannot make this clock; choose another")
    assert gc.isenabled()

BUILD = build_name("sqrl_acorn", ["--lanes", "1"])
SMALL = ("--lanes", 1)


def test_without_vivado_all_is_written_and_said(tmp_path, tools, capsys):
    assert run("sqrl_acorn", "--build", *SMALL, "--output-dir", tmp_path / "out") == 1
    gateware = tmp_path / "out" / "gateware"
    assert capsys.readouterr().err == ("sqrl_acorn.py: vivado is not on the PATH; all files are written: run "
        f"`vivado -mode batch -source {BUILD}.tcl` in {gateware}\n")
    assert (gateware / f"{BUILD}.tcl").is_file()


@pytest.mark.parametrize("script, status, said", [
    (f"echo timing is met > {BUILD}_verdict.txt\nhead -c 2500000 /dev/zero > {BUILD}.bit", 0, ""),
    (f"echo timing is not met: > {BUILD}_verdict.txt\nexit 1", 1, "timing is not met:; see "),
    ("true",   1, f"{BUILD}_verdict.txt: No such file or directory"),
    (f"echo timing is met > {BUILD}_verdict.txt", 1, f"{BUILD}.bit: No such file or directory"),
    ("exit 7", 1, f"vivado -mode batch -source {BUILD}.tcl: exit status 7")])
def test_vivado_runs_and_its_timing_counts(script, status, said, tmp_path, tools, capsys, monkeypatch):
    """The files of the build are there already."""
    gateware = tmp_path / "out" / "gateware"
    gateware.mkdir(parents=True)
    (gateware / f"{BUILD}.tcl").touch()
    monkeypatch.setattr(main, "emit_files", lambda *_: SimpleNamespace(board=BOARDS["sqrl_acorn"]))
    tools("vivado", f'test "$*" = "-mode batch -source {BUILD}.tcl" && test -f {BUILD}.tcl || exit 9\n{script}')
    assert run("sqrl_acorn", "--build", *SMALL, "--output-dir", tmp_path / "out") == status
    output = capsys.readouterr()
    assert said in output.err and len(output.err.splitlines()) == status
    assert output.out == ("" if status else "timing is met\nfrom flash the FPGA takes 100 ms (calculated: 2500000 "
        f"bytes, 4 bits at 50 MHz)\n{gateware}/{BUILD}.bit\n")


@pytest.mark.parametrize("name, action", [(name, ("--load", "--flash")[n % 2]) for n, name in enumerate(BOARDS)])
def test_without_bitstream_one_line(name, action, tmp_path, tools, capsys):
    assert run(name, action, "--output-dir", tmp_path / "out") == 1
    check_nothing_written(tmp_path / "out", capsys, "; add --build to build it")


@pytest.mark.full
def test_driver_is_laid_out(tmp_path, capsys):
    """It is laid out again over files of somebody else, which stay, and it makes the tool wherever the folder is."""
    out, folder = tmp_path / "out", tmp_path / "out" / "driver"
    for name in ("kernel/mine.txt", "user/old.c"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine\n")
    assert run("sqrl_acorn", "--driver", *SMALL, "--output-dir", out) == 0
    assert capsys.readouterr().out == f"make -C {folder}\nsudo make -C {folder} load\n"
    assert (folder / "user" / "old.c").read_text() == (folder / "kernel" / "mine.txt").read_text() == "mine\n"
    assert {path.name for path in folder.iterdir()} == {"Makefile", "kernel", "user", "generated"}
    generated = out / "software" / "include" / "generated"
    assert (folder / "generated" / "soc.h").read_text() == (generated / "soc.h").read_text()
    # Laid out again, what the project has no more is gone.
    (folder / "user" / "gone.c").touch()
    assert run("sqrl_acorn", "--driver", *SMALL, "--output-dir", out) == 0
    assert not (folder / "user" / "gone.c").exists()
    folder = folder.rename(tmp_path / "elsewhere")
    plan   = subprocess.run(["make", "-n", "-C", folder, "KDIR=/no/such"], capture_output=True, text=True,
        env={**os.environ, "MAKEFLAGS": ""})
    assert f"O={folder}/build/kernel" in plan.stdout
    tool = subprocess.run(["make", "-C", folder / "user", f"BUILD={folder}/build/user"], capture_output=True, text=True)
    assert tool.returncode == 0, tool.stderr
    assert subprocess.run([folder / "build" / "user" / "litepcie_util", "version"]).returncode == 0
