# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The command line of targets/sim.py and the files it emits."""

import fcntl
import importlib.util
import re
import shutil
import subprocess
import sys

from pathlib import Path

import pytest

from litepcie_soc.endpoint.serdes.interface import SERDES_LAYOUT, SimSerDes

ROOT   = Path(__file__).resolve().parents[2]
TARGET = ROOT / "targets" / "sim.py"


def run(*args, target=TARGET, python=(sys.executable,)):
    return subprocess.run([*python, str(target), *map(str, args)], capture_output=True, text=True, timeout=300)

@pytest.fixture(scope="module")
def target():
    """The target as a module of this Python, which starts faster than a program."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(TARGET.parent)
        spec   = importlib.util.spec_from_file_location("sim_target", TARGET)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


def test_help_names_every_option():
    result = run("--help")
    assert result.returncode == 0
    for option in ("--build", "--load", "--gen", "--lanes", "--data-width", "--memory-size", "--sys-clk-freq",
        "--with-ddr", "--phy", "--endianness", "--tags", "--channels", "--output-dir"):
        assert option in result.stdout


@pytest.mark.parametrize("args, message", [
    ((),                                      "nothing to do; give --build, --load or both"),
    (("--build", "--gen", 5),                 "--gen: invalid choice: 5 (choose from 1, 2, 3, 4)"),
    (("--build", "--phy", "soft", "--gen", 2),    "--gen: 2 is not supported with --phy soft, which has 1"),
    (("--build", "--phy", "soft", "--with-ddr"),  "--with-ddr: not supported with --phy soft"),
    (("--build", "--phy", "soft", "--sys-clk-freq", 300e6), "3e+08 is not from 50e6 to 250e6 Hz, as --phy soft"),
    (("--build", "--memory-size", 3000000),   "must be a power of two from 1048576"),
    (("--build", "--memory-size", 1 << 31),   "to 1073741824, not 2147483648"),
    (("--build", "--memory-size", "lots"),    "--memory-size: 'lots' is not a size; give bytes, such as "),
    (("--build", "--channels", 0),            "--channels 0 is not supported; choose 1 to 7, or 0 with --streams"),
    (("--build", "--channels", 7, "--streams", 1), "--streams 1 is not supported with --channels 7; the card has 7 "
        "channels of both kinds, so choose 0"),
    (("--build", "--completion-space", "72"), "--completion-space: '72' is not supported; give 16 to 4096 completions"),
    (("--build", "--completion-space", "64,64"), "'64,64' is not supported"),
    (("--build", "--completion-space", f"72,{10**20}"), "1024 to 1048576 bytes, as in 72,13600"),
    (("--build", "--fabric-width", 128),      "--fabric-width: not supported with --phy shared; add --phy split"),
    (("--build", "--fabric-width", 512, "--phy", "split"),
        "--fabric-width: 512 is not supported with --data-width 128; give the same width or half of it"),
    (("--build", "--sys-clk-freq", 10),       "--sys-clk-freq: 10 is not from 1e6 to 1e9 Hz"),
    (("--build", "--with-ddr", "--sys-clk-freq", 250e6), "must be from 75e6 to 200e6 Hz"),
    (("--build", "--streams", 1, "--patterns", 2), "--patterns 2 is not supported with --streams 1; choose at most 1"),
])
def test_bad_input_is_one_line_and_status_2(args, message, target, capsys):
    with pytest.raises(SystemExit) as stop:
        target.main([str(arg) for arg in args])
    said = capsys.readouterr()
    assert (stop.value.code, len(said.err.splitlines()), said.out) == (2, 1, "") and message in said.err


def test_folder_that_cannot_be_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    result = run("--build", "--no-compile", "--output-dir", tmp_path / "file" / "board")
    assert (result.returncode, result.stderr) == (1, f"sim.py: error: {tmp_path}/file/board: Not a directory\n")


@pytest.fixture
def clone(tmp_path):
    """A tree with the target alone, for a Python that finds no packages."""
    shutil.copytree(ROOT / "targets", tmp_path / "targets")
    return tmp_path


BARE = (sys.executable, "-S")


def test_without_litex(clone):
    """One line; with an environment, it starts again in this one."""
    result = run("--help", target=clone / "targets" / "sim.py", python=BARE)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1) and "run `make setup`" in result.stderr
    python = clone / "build" / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "again: $*"\n')
    python.chmod(0o755)
    result = run("--build", "--gen", 3, target=clone / "targets" / "sim.py", python=BARE)
    assert (result.returncode, result.stdout) == (0, f"again: {clone / 'targets' / 'sim.py'} --build --gen 3\n")


def ports(width, phy):
    """The ports of docs/contracts/phy-boundary.md: name to (direction, bits)."""
    beat  = {"valid": 1, "first": 1, "last": 1, "dat": width, "be": width // 8}
    sides = ("req", "cmp") if phy == "split" else ("",)
    tx    = ["_".join(("tx", side)).strip("_") for side in sides]
    rx    = ["_".join(("rx", side)).strip("_") for side in sides]
    return {
        "sys_clk": ("input", 1), "sys_rst": ("input", 1),
        **{f"{side}_{name}": ("output", bits) for side in tx for name, bits in beat.items()},
        **{f"{side}_{name}": ("input",  bits) for side in rx for name, bits in beat.items()},
        **{f"{side}_ready": ("input", 1) for side in tx}, **{f"{side}_ready": ("output", 1) for side in rx},
        **{f"phy_{name}": ("input", 16) for name in ("id", "max_payload_size", "max_request_size")},
        **{f"phy_{name}": ("input", 1) for name in ("extended_tag", "bus_master_enable", "link_up", "msi_enable",
            "msix_enable", "msix_function_mask", "relaxed_ordering_enable", "no_snoop_enable", "rcb_128",
            "function_reset")},
        **{f"phy_{name}": ("output", 1) for name in ("function_reset_done", "error_completion_timeout",
            "error_unexpected_completion", "error_poisoned", "error_unsupported_request", "error_completer_abort")},
        "msi_valid": ("output", 1), "msi_ready": ("input", 1), "msi_dat": ("output", 8),
    }


def emitted_ports(verilog):
    declarations = re.findall(
        r"^ +(input|output) +(?:wire|reg) +(?:\[(\d+):0\])? +(\w+),?$", verilog, flags=re.MULTILINE)
    return {name: (way, int(high or 0) + 1) for way, high, name in declarations}


# Verilator's warnings about all Verilog from Migen: widths that are extended, <= in combinational
# blocks, cases whose default is the assignment before them, comparisons that are constant.
MIGEN_HABITS = [f"-Wno-{name}" for name in ("WIDTH", "COMBDLY", "CASEINCOMPLETE", "CMPCONST", "UNSIGNED")]


def constants(soc_h):
    return {name: int(value) for name, value in re.findall(r"^#define CONFIG_(\w+) (\d+)$", soc_h, flags=re.MULTILINE)}


@pytest.mark.parametrize("gen, lanes, width, phy, endianness, tags", [
    (1, 1, 64, "shared", "big", 32), pytest.param(3, 8, 256, "split", "little", 64, marks=pytest.mark.full)])
def test_build_without_compile(tmp_path, gen, lanes, width, phy, endianness, tags):
    args = ("--build", "--no-compile", "--gen", gen, "--lanes", lanes, "--data-width", width, "--phy", phy,
        "--endianness", endianness, "--tags", tags, "--output-dir", tmp_path)
    # It waits for another build in this folder.
    with open(tmp_path / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        first = subprocess.Popen([sys.executable, TARGET, *map(str, args)], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        assert first.stderr.readline() == f"sim.py: waiting for another build of {tmp_path}\n"
        assert not (tmp_path / "gateware").exists()
    assert (first.communicate(timeout=120), first.returncode) == (("", ""), 0)
    files = {path.relative_to(tmp_path): path.stat().st_mtime_ns
        for path in tmp_path.rglob("*") if path.is_file() and path.name != ".lock"}
    generated = Path("software/include/generated")
    assert set(files) == {Path("gateware/litepcie_soc_sim.v"),
        *(generated / name for name in ("csr.h", "soc.h", "csr.json", "litepcie_regs.h"))}
    verilog = tmp_path / "gateware" / "litepcie_soc_sim.v"
    assert emitted_ports(verilog.read_text()) == ports(width, phy)
    assert constants((tmp_path / generated / "soc.h").read_text()).items() >= {
        "PCIE_GEN": gen, "PCIE_LANES": lanes, "PCIE_DATA_WIDTH": width, "PCIE_PHY_SPLIT": int(phy == "split"),
        "PCIE_ENDIANNESS_LITTLE": int(endianness == "little"), "PCIE_TAGS": tags, "PCIE_CHANNELS": 1, "PCIE_STREAMS": 0,
        "PCIE_COMPLETION_HEADERS": 512, "PCIE_COMPLETION_DATA": 32768, "PCIE_FABRIC_WIDTH": 0,
    }.items()
    # One array for the endpoint memory, filled by nothing.
    assert re.search(rf"reg \[{width - 1}:0\] \w+\[0:{(64 << 20) * 8 // width - 1}\];", verilog.read_text())
    assert "readmemh" not in verilog.read_text()
    # Nothing is written by a second build.
    assert run(*args).returncode == 0
    assert {path: (tmp_path / path).stat().st_mtime_ns for path in files} == files
    lint = subprocess.run(["verilator", "--lint-only", *MIGEN_HABITS, "--top-module", "litepcie_soc_sim", verilog],
        capture_output=True, text=True)
    assert lint.returncode == 0, lint.stderr


@pytest.mark.full
def test_the_endpoint_in_gateware(tmp_path):
    """Its ports are two clocks, those of the SerDes and a serial port; the options that it needs are its defaults."""
    result = run("--build", "--no-compile", "--phy", "soft", "--output-dir", tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    verilog = tmp_path / "gateware" / "litepcie_soc_sim.v"
    serdes  = {f"serdes_{name}": ("output" if name in SimSerDes.OUTPUTS else "input", bits)
        for name, bits in SERDES_LAYOUT}
    clocks  = {f"{domain}_{name}": ("input", 1) for domain in ("sys", "pcie") for name in ("clk", "rst")}
    serial  = {"serial_tx": ("output", 1), "serial_rx": ("input", 1)}
    assert emitted_ports(verilog.read_text()) == {**clocks, **serdes, **serial}
    assert constants((tmp_path / "software/include/generated/soc.h").read_text()).items() >= {
        "PCIE_GEN": 1, "PCIE_LANES": 1, "PCIE_DATA_WIDTH": 64, "PCIE_TAGS": 32, "CLOCK_FREQUENCY": 100000000,
        "PCIE_PHY_SOFT": 1}.items()


@pytest.mark.parametrize("options, name", [
    (("--phy", "split", "--endianness", "little"), "sim_gen2_x4_128_split_little"),
    (("--gen", 3, "--lanes", 8, "--data-width", 512, "--tags", 256), "sim_gen3_x8_512_tags256")])
def test_folder_says_what_is_not_default(clone, options, name):
    """`--load` without a board names the folder it looked in, and says what to type, in one line."""
    result = run("--load", *options, target=clone / "targets" / "sim.py")
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert f"no simulator in {clone}/build/{name};" in result.stderr and "add --build" in result.stderr
