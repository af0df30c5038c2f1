# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The command: what it writes, what it refuses, and what other tools say of its Verilog."""

import csv
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from litepcie_soc.standalone import docs, gen
from litepcie_soc.standalone.config import config_of, leaves
from test.gateware.standalone.model import EXAMPLES, GENERATOR, generate
from test.gateware.verilate import header_ports

HEADERS = {"litepcie_regs.h", "csr.h", "csr.json", "soc.h"}


@pytest.fixture(scope="module", params=("small", pytest.param("everything", marks=pytest.mark.full)))
def example(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("core") / "new" / "folder"
    result = generate(EXAMPLES / f"{request.param}.yml", folder)
    assert (result.returncode, result.stderr) == (0, "")
    return f"{request.param}_core", folder


def test_files(example):
    name, folder = example
    assert {path.name for path in folder.iterdir()} == HEADERS | {f"{name}.v", f"{name}.md"}


@pytest.mark.full
def test_the_same_again_byte_for_byte(example, tmp_path):
    """Whatever Python's hashes are, the folder and the day; no path and no date is in it."""
    name, folder = example
    subprocess.run([GENERATOR, EXAMPLES / f"{name.removesuffix('_core')}.yml"], cwd=tmp_path, check=True,
        capture_output=True, env={**os.environ, "PYTHONHASHSEED": "12345"}, timeout=120)
    for path in folder.iterdir():
        text = path.read_bytes()
        assert (tmp_path / name / path.name).read_bytes() == text, path.name
        assert not re.search(rb"\d{4}-\d\d-\d\d", text), path.name
        for place in (Path(__file__).parents[3], folder, tmp_path, Path.home()):
            assert bytes(place) not in text, path.name


def test_the_sheet_has_the_ports_of_the_verilog(example):
    name, folder = example
    rows = re.findall(r"^\| `(\w+)` \| (input|output) \| (\d+) \| \S", (folder / f"{name}.md").read_text(), re.M)
    assert {port: (way, int(bits)) for port, way, bits in rows} == header_ports((folder / f"{name}.v").read_text())


def test_everything_has_every_key():
    data  = yaml.safe_load((EXAMPLES / "everything.yml").read_text())
    names = {f"{key}.{name}" for key, section in data.items() if isinstance(section, dict) for name in section}
    names = names | {key for key, value in data.items() if not isinstance(value, dict)}
    # Of the kind of memory and of the block that exclude those of this example.
    others = {"memory.clock", "memory.timeout_us", "phy.completion_buffer_bytes"}
    assert names == {name for name, *_ in leaves()} - others


@pytest.mark.full
def test_slow_data_path_is_said(tmp_path):
    (tmp_path / "core.yml").write_text("pcie: {gen: 3, lanes: 8}\ndata_width: 64\nphy: {block: ultrascale+}")
    result = generate(tmp_path / "core.yml", tmp_path / "core")
    assert result.returncode == 0
    assert result.stderr == ("litepcie_soc_gen: the data path (2000 MB/s) is slower than the link (7877 MB/s) and "
        "limits it\n")


@pytest.mark.parametrize("text, message", [
    (b"pcie: {lanes: 3}", "pcie.lanes: 3 is not one of 1, 2, 4, 8, 16"), (b"\x7fELF\0\0", "not YAML: ")])
def test_one_line_and_nothing_written(tmp_path, text, message):
    config = tmp_path / "config.yml"
    config.write_bytes(text)
    result = subprocess.run([GENERATOR, "config.yml"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"litepcie_soc_gen: config.yml: {message}")
    assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == [config]


def refuses(capsys, *args):
    status = gen.main([str(arg) for arg in args])
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    return status, err


def test_no_such_file_or_folder(tmp_path, capsys):
    assert refuses(capsys, tmp_path / "x.yml") == (
        2, f"litepcie_soc_gen: {tmp_path}/x.yml: No such file or directory\n")
    assert refuses(capsys, tmp_path) == (2, f"litepcie_soc_gen: {tmp_path}: Is a directory\n")
    (tmp_path / "x.yml").write_text("name: x")
    (tmp_path / "file").touch()
    assert refuses(capsys, tmp_path / "x.yml", "--output-dir", tmp_path / "file" / "core") == (
        1, f"litepcie_soc_gen: {tmp_path}/file/core: Not a directory\n")
    assert refuses(capsys, tmp_path / "x.yml", "--output-dir", tmp_path / "file") == (
        1, f"litepcie_soc_gen: {tmp_path}/file: File exists\n")


def test_a_disk_that_fills_up_leaves_nothing(tmp_path, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")
    (tmp_path / "x.yml").write_text("name: x\ndata_width: 64")
    monkeypatch.setattr(gen, "export_verilog", full)
    assert refuses(capsys, tmp_path / "x.yml", "--output-dir", tmp_path / "core") == (
        1, f"litepcie_soc_gen: {tmp_path}/core: No space left on device\n")
    assert [path.name for path in tmp_path.iterdir()] == ["x.yml"]


@pytest.mark.parametrize("args, message", [
    ((), "the following arguments are required: CONFIG.yml"), (("a.yml", "--turbo"), "unrecognized arguments: --turbo"),
    (("a.yml", "b.yml"), "unrecognized arguments: b.yml")])
def test_command_line(capsys, args, message):
    with pytest.raises(SystemExit) as end:
        gen.main(args)
    assert end.value.code == 2
    assert capsys.readouterr().err == f"litepcie_soc_gen: error: {message}\n"


def test_help_names_every_option_and_key(capsys):
    with pytest.raises(SystemExit):
        gen.main(["--help"])
    text = capsys.readouterr().out
    for name in ("--output-dir", "--no-sheet", *[name for name, *_ in leaves()]):
        assert name in text

# What Verilator warns of in all Verilog from Migen: widths that are extended, <= in combinational blocks, cases whose
# default is the assignment before them, comparisons that are constant, bits that nobody reads.
MIGEN_HABITS = ("WIDTH", "COMBDLY", "CASEINCOMPLETE", "CMPCONST", "UNSIGNED", "UNUSEDSIGNAL")


def test_lint(example):
    name, folder = example
    habits = [f"-Wno-{habit}" for habit in MIGEN_HABITS]
    lint   = subprocess.run(["verilator", "--lint-only", "-Wall", *habits, "--top-module", name, folder / f"{name}.v"],
        capture_output=True, text=True, timeout=120)
    assert (lint.returncode, lint.stderr) == (0, "")


def test_port_list(example):
    name, folder = example
    config = config_of(yaml.safe_load((EXAMPLES / f"{name.removesuffix('_core')}.yml").read_text()))
    word   = config.data_width // 8
    stream = config.stream_port.width
    sizes  = {"S": stream, "S/8": stream // 8,
        "W": 8 * word, "W/8": word, "A": (config.memory.size // word - 1).bit_length()}
    rows   = list(csv.DictReader(docs.PORTS.read_text().splitlines()))
    listed = {(row["port"], row["direction"], sizes.get(row["bits"]) or int(row["bits"])) for row in rows}
    for port, (way, bits) in header_ports((folder / f"{name}.v").read_text()).items():
        assert (re.sub(r"^stream\d+", "streamN", port), way, bits) in listed
