# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""litepcie_soc_new: what it writes builds and passes its own tests. It and `make demo` refuse in one line."""

import errno
import re
import subprocess
import sys

from pathlib import Path

import pytest

from litepcie_sim import new, user
from litepcie_sim.demo import __main__ as demo

NEW = [sys.executable, "-m", "litepcie_sim.new"]


def run(command, folder, status=0):
    result = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True)
    assert result.returncode == status, result.stdout[-2000:] + result.stderr[-2000:]
    return result.stdout + result.stderr


def refused(folder, name):
    said = run([*NEW, name], folder, status=2)
    assert said.startswith("litepcie_soc_new: ") and said.count("\n") == 1
    return said


@pytest.mark.timeout(120)
def test_a_new_project_passes_the_test_of_its_core(tmp_path):
    assert "cd blinker; " in run([*NEW, "blinker"], tmp_path)
    folder = tmp_path / "blinker"
    files  = sorted(path.name for path in folder.iterdir())
    assert files == ["README.md", "board.py", "core.py", "program.c", "sim.py", "test.py"]
    assert not any(word in (folder / name).read_text() for name in files for word in ("NAME", "TARGET"))
    assert "OK" in run([sys.executable, "test.py", "Core"], folder)


def check_board(folder, board):
    """The real board is emitted; the program compiles with its driver's folder, as README.md says."""
    run([sys.executable, "board.py", "--build", "--no-compile", "--driver"], folder)
    build, = (folder / "build").glob(f"{board}_gen*")
    for name in ("kernel/pci.c", "generated/soc.h", "Makefile"):
        assert (build / "driver" / name).is_file()
    assert "StreamPort" not in (build / "gateware" / f"{build.name}.v").read_text()
    csr = (build / "driver" / "generated" / "csr.h").read_text()
    assert "CSR_CORE_OFFSET_ADDR" in csr and "CONFIG_PCIE_STREAMS 1\n" in (
        build / "driver" / "generated" / "soc.h").read_text()
    line, = [line for line in (folder / "README.md").read_text().splitlines() if line.startswith("    cc ")]
    include = [f"-I{build}/{word[2:]}" for word in line.split() if word.startswith("-I")]
    run(["cc", "-fsyntax-only", "-Wall", "-Werror=implicit-function-declaration", *include, "program.c"], folder)
    return build


# Boards of each family. The width of the hard block, if the fabric has a completion buffer, is only in soc.h of
# the simulated board.
FAMILIES = {"sqrl_acorn": 0, "xilinx_kc705": 0, "xilinx_kcu105": 256, "xilinx_alveo_u200": 512, "lattice_versa_ecp5": 0}


@pytest.mark.full
@pytest.mark.parametrize("board", FAMILIES)
def test_a_project_for_each_family(board, tmp_path):
    """Both boards are written from the same logic, with the same link, clock and registers of the logic."""
    run([*NEW, "mine", "--board", board], tmp_path)
    real = check_board(tmp_path / "mine", board)
    run([sys.executable, "sim.py", "--no-compile"], tmp_path / "mine")
    sim  = tmp_path / "mine" / "build" / "sim"
    assert "litepcie_soc_sim" in (sim / "gateware" / "litepcie_soc_sim.v").read_text()
    generated = Path("software", "include", "generated")
    boards    = [(folder / generated / "soc.h").read_text() for folder in (real, sim)]
    for name in ("CLOCK_FREQUENCY", *(f"PCIE_{name}" for name in ("GEN", "LANES", "DATA_WIDTH", "TAGS", "STREAMS",
        "CHANNELS", "PHY_SPLIT", "COMPLETION_HEADERS", "COMPLETION_DATA", "ENDIANNESS_LITTLE"))):
        first, second = (re.findall(rf"^#define CONFIG_{name} (\d+)$", text, re.M) for text in boards)
        assert first == second and len(first) == 1, name
    assert f"CONFIG_PCIE_FABRIC_WIDTH {FAMILIES[board]}\n" in boards[1]
    first, second = (re.findall(r"^#define CSR_CORE_\w+ADDR .*$", (folder / generated / "csr.h").read_text(), re.M)
        for folder in (real, sim))
    assert first == second and len(first) == 2


def test_a_board_that_does_not_exist(tmp_path):
    said = run([*NEW, "mine", "--board", "kc706"], tmp_path, status=2)
    assert said.startswith("litepcie_soc_new: --board kc706 is not supported; choose kosagi_netv2, ")
    assert said.count("\n") == 1 and not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["Blinker", "9lives", "a" * 33, "."])
def test_a_bad_name(tmp_path, name):
    assert "is not a name; give a lower-case letter" in refused(tmp_path, name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_exists_is_left_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "core.py").write_text("text")
    assert "mine exists; give another name" in refused(tmp_path, "mine")
    assert (tmp_path / "mine" / "core.py").read_text() == "text"


def test_no_space_leaves_nothing(tmp_path, monkeypatch, capsys):
    write = Path.write_text

    def full(path, text):
        if path.name == "program.c":
            write(path, text[:10])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "write_text", full)
    assert new.main(["mine"]) == 2
    assert capsys.readouterr().err == "litepcie_soc_new: cannot write mine: No space left on device\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("board", ["sqrl_acorn", "lattice_versa_ecp5"])
def test_all_tests_of_a_new_project_pass(board, tmp_path):
    """Also of its program, in the guest on the simulated board."""
    run([*NEW, "mine", "--board", board], tmp_path)
    said = run([sys.executable, "test.py"], tmp_path / "mine")
    assert "Ran 2 tests" in said and "OK" in said


@pytest.mark.parametrize("args, message", [
    (("--phy", "split"),      "argument --phy: invalid choice: 'split'"),
    (("--lcrc-every", "9"),   "argument --lcrc-every: 9 is not 0, nor 10 or more"),
    (("--lcrc-every", "one"), "argument --lcrc-every: invalid int value: 'one'")])
def test_bad_input_of_the_demo_is_one_line_and_status_2(capsys, args, message):
    with pytest.raises(SystemExit) as end:
        demo.main(args)
    said = capsys.readouterr()
    assert (end.value.code, said.out) == (2, "") and message in said.err


def test_the_end_of_the_demo_says_what_to_type_next(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(demo, "ROOT", tmp_path)
    monkeypatch.setattr(demo, "RESULT", tmp_path / "build" / "result.json")
    monkeypatch.setattr(demo, "handle_signals", lambda: None)
    monkeypatch.setattr(demo, "run", lambda args, result: None)
    assert demo.main([]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("demo: next: ./targets/sim.py --build --load ") and "docs/start.md" in last


@pytest.mark.parametrize("load", [False, True])
def test_python_and_a_shared_folder_reach_the_guest_of_a_users_board(monkeypatch, tmp_path, load):
    asked = {}

    class Guest:
        def __init__(self, folder, **options):
            asked.update(options)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def run(self, command, **options):
            asked["command"] = command
            return self

        status = 7

    monkeypatch.setattr(user, "build", lambda soc, folder, compile_simulator: None)
    monkeypatch.setattr(user, "programs", lambda sources, folder, board: [])
    monkeypatch.setattr(user, "handle_signals", lambda: None)
    monkeypatch.setattr(user, "Guest", Guest)
    monkeypatch.setattr(user.subprocess, "run", lambda command: asked.update(shell=command) or
        subprocess.CompletedProcess(command, 7))
    words = ["--output-dir", str(tmp_path), "--python", "--share", "here", *(["--load"] if load else ["own.py", "3"])]
    assert user.main(dict, "name", [], "true", words) == 7
    assert load == ("--with-python" in asked.get("shell", ()) and "--share=here" in asked["shell"])
    assert load or asked == {"files": [], "with_python": True, "share": "here", "command": "own.py 3"}
