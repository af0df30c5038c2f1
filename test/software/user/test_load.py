# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""load, flash, reset: what they run or reset, and why not; litepcie_rescan, on files in place of /sys."""

import errno
import json
import os
import signal
import subprocess

import pytest

from test.software.user.conftest import LIMIT, until, USER, write


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder in PATH with both programs, which print their arguments."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("litepcie_rescan", "litepcie_soc_target"):
        (programs / name).write_text("#!/bin/sh\necho ${0##*/} $*\nexit 7\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return programs


@pytest.fixture
def sysfs(tmp_path):
    card = tmp_path / "sys" / "class" / "litepcie" / "litepcie0"
    write(card, {"target": "kc705 gen2 x4 128 bit"})
    (card / "device").symlink_to("../../../devices/0000:02:00.0")
    return tmp_path / "sys"


@pytest.mark.parametrize("line, run", [
    ("load", "litepcie_rescan --card 0000:02:00.0 litepcie_soc_target kc705 --load"),
    ("load sqrl_acorn --gen 2 --lanes 4 --data-width 64 --cable ft2232 --output-dir out",
        "litepcie_rescan --card 0000:02:00.0 litepcie_soc_target sqrl_acorn --load --gen 2 --lanes 4 --data-width 64 "
        "--output-dir out --cable ft2232"),
    ("load --port 0000:00:01.0", "litepcie_rescan --port 0000:00:01.0 litepcie_soc_target kc705 --load"),
    ("load kc705 -c 3", "litepcie_rescan litepcie_soc_target kc705 --load"),
    ("flash --lanes 4", "litepcie_soc_target kc705 --flash --lanes 4"),
])
def test_what_is_run(card, folder, sysfs, line, run):
    """The exit status is that of the program. Writing the flash needs no scan."""
    if line.startswith("flash"):
        (folder / "litepcie_rescan").unlink()
    assert card(*line.split(), sysfs=sysfs) == (7, f"{run}\n", "")


@pytest.mark.parametrize("line, missing, code, said", [
    ("load kc705", "litepcie_soc_target", 1, "litepcie_soc_target is not installed: run 'pip install .' and 'make -C "
        "software/user install' in the project, or put it into PATH"),
    ("load kc705", "litepcie_rescan", 1, "litepcie_rescan is not installed: run"),
    ("load -c 3", None, 2, "/dev/litepcie3: no card tells its board; give the name, as in litepcie_util load "
        "sqrl_acorn"),
    ("flash kc705 --port 0000:00:01.0", None, 2, "unknown option --port"),
    ("flash kc705 --gen 5", None, 2, "--gen: 5 is too large; the most is 4"),
    ("flash kc705 --json", None, 2, "--json is not possible: the output is that of litepcie_soc_target"),
])
def test_what_cannot_be_run(card, folder, sysfs, monkeypatch, line, missing, code, said):
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    if missing:
        (folder / missing).unlink()
    result = card(*line.split(), sysfs=sysfs)
    assert result.code == code and said in result.err and result.err.count("\n") == 1


SCRIPT  = USER / "litepcie_rescan"
CARD    = "0000:01:00.0"
PORT    = "0000:00:01.0"
EXPRESS = 0x40  # Offset of the port's PCI Express capability (PCIe 4.0 7.5.3).
CONTROL = EXPRESS + 0x10
DISABLE = 0x10


class Tree:
    """/sys with one port and one card below it, as plain files."""
    def __init__(self, folder, hot_plug=False):
        self.root = folder
        port      = folder / "devices" / "pci0000:00" / PORT
        card      = port / CARD
        self.rescan = port / "pci_bus" / "0000:01" / "rescan"
        self.power  = port / "power" / "control"
        self.config = port / "config"
        write(port, {"class": "0x060400", "power/control": "auto", "pci_bus/0000:01/rescan": "", f"{CARD}/remove": "",
            f"{CARD}/litepcie/litepcie0/target": "board_gen2_x4_128"})
        self.config.write_bytes(self.space(hot_plug))
        for path, target in (("bus/pci/devices/" + PORT, port), ("bus/pci/devices/" + CARD, card)):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).symlink_to(target)
        (folder / "bus" / "pci" / "rescan").write_text("")
        (folder / "class" / "litepcie" / "litepcie0").mkdir(parents=True)
        (folder / "class" / "litepcie" / "litepcie0" / "device").symlink_to(card)

    @staticmethod
    def space(hot_plug):
        """Configuration space: power management, then PCI Express with its link up and ASPM on."""
        space = bytearray(256)
        space[0x34], space[0x80], space[0x81], space[EXPRESS] = 0x80, 0x01, EXPRESS, 0x10
        space[EXPRESS + 0x03] = 0x01 * hot_plug
        space[EXPRESS + 0x14] = 0x42 * hot_plug
        space[EXPRESS + 0x0e] = 0x10
        space[EXPRESS + 0x13] = 0x20
        space[CONTROL:CONTROL + 2] = b"\x43\x01"
        space[EXPRESS + 0x08:EXPRESS + 0x0a] = b"\x2f\x59"
        space[0x04:0x06] = b"\x07\x05"
        return bytes(space)

    @property
    def control(self):
        return int.from_bytes(self.config.read_bytes()[CONTROL:CONTROL + 2], "little")

    def start(self, *arguments):
        return subprocess.Popen(["sh", SCRIPT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=os.environ | {"LITEPCIE_SYS": str(self.root), "LC_ALL": "C"})

    def run(self, *arguments):
        with self.start(*arguments) as process:
            out, err = process.communicate(timeout=LIMIT)
        return process.returncode, out, err


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


@pytest.mark.parametrize("setting, arguments, status", [
    ("auto", ("--port", PORT, "true"), 0), ("on", ("true",), 0), ("auto", ("--port", PORT, "false"), 1),
    ("auto", ("sh", "-c", "kill $PPID"), 143)])
def test_the_port_is_kept_awake_until_the_card_is_found(tree, setting, arguments, status):
    """A suspended port answers no scan (Linux, runtime power management). Its setting is restored however it ends."""
    tree.power.write_text(f"{setting}\n")
    seen = tree.root / "seen"
    rest = [word for word in arguments if word not in ("--port", PORT)]
    code, _, _ = tree.run(*arguments[:len(arguments) - len(rest)],
        "sh", "-c", f'cp {tree.power} {seen}; exec "$@"', "sh", *rest)
    assert (code, seen.read_text(), tree.power.read_text()) == (status, "on\n", f"{setting}\n")


# Command, Device Control and Link Control during the load: no SERR#, no fatal errors reported, link disabled.
LOOK      = "; ".join(f'od -An -tx1 -j {offset} -N 2 "$0"' for offset in (0x04, EXPRESS + 0x08, CONTROL))
MEANWHILE = " 07 04\n 2b 59\n 53 01\n"


@pytest.mark.parametrize("where", [(), ("--card", CARD), ("--port", PORT)])
def test_the_link_is_disabled_and_no_error_for_the_command_alone(tree, where):
    before = tree.config.read_bytes()
    code, out, err = tree.run(*where, "sh", "-c", LOOK, str(tree.config))
    assert (code, out, err) == (0, f"{MEANWHILE}{CARD} is /dev/litepcie0: board_gen2_x4_128\n", "")
    assert tree.config.read_bytes() == before
    assert (tree.root / f"bus/pci/devices/{CARD}/remove").read_text() == "1\n"
    assert tree.rescan.read_text() == "1\n"


def test_a_failed_command_is_the_exit_status_and_the_link_enabled(tree):
    before = tree.config.read_bytes()
    code, out, err = tree.run("sh", "-c", f"{LOOK}; exit 9", str(tree.config))
    assert (code, out) == (9, MEANWHILE) and "failed with exit status 9" in err
    assert tree.config.read_bytes() == before


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_enables_the_link_and_looks_for_the_card(tree, number, status):
    before = tree.config.read_bytes()
    go = tree.root / "go"
    with tree.start("sh", "-c", f"until [ -e {go} ]; do sleep 0.05; done") as process:
        until(lambda: tree.control & DISABLE)
        assert tree.control == 0x0153
        process.send_signal(number)
        go.touch()
        process.communicate(timeout=LIMIT)
    assert (process.returncode, tree.config.read_bytes()) == (status, before)
    assert tree.rescan.read_text() == "1\n"


def test_a_link_that_stays_down_is_reported(tree):
    space = bytearray(tree.config.read_bytes())
    space[EXPRESS + 0x13] = 0
    tree.config.write_bytes(space)
    code, _, err = tree.run("--timeout", "1")
    assert (code, err) == (0, f"litepcie_rescan: the link below {PORT} is not up after 1 s\n")


def test_a_slot_that_can_switch_off_the_power_is_reported(tmp_path):
    """And that two cards need a choice."""
    tree = Tree(tmp_path, hot_plug=True)
    assert "can switch off the power" in tree.run()[2]
    (tree.root / "class/litepcie/litepcie1").mkdir()
    assert tree.run() == (1, "", "litepcie_rescan: the litepcie driver has 2 cards: choose one with --card\n")


@pytest.mark.parametrize("arguments, said", [
    ("--card 01:00.0",               "'01:00.0' is not a PCI address; give one such as 0000:01:00.0 (lspci -D)"),
    (f"--card {CARD} --port {PORT}", "give --card or --port, not both"),
    ("--timeout 0",                  "--timeout 0 is not supported; give 1 to 60 seconds"),
    ("--port",                       "--port needs a value"),
    ("--fast",                       "unknown option '--fast'")])
def test_a_wrong_option_is_one_line(tree, arguments, said):
    before = tree.config.read_bytes()
    assert tree.run(*arguments.split()) == (2, "", f"litepcie_rescan: {said}; see litepcie_rescan --help\n")
    assert tree.config.read_bytes() == before


@pytest.mark.parametrize("arguments, settings, engines", [
    ("engines",             {},                                   ["reader 0", "writer 0"]),
    ("reader",              {},                                   ["reader 0"]),
    ("writer",              {"channels": 2},                      ["writer 0", "writer 1"]),
    ("engines --channel 1", {"channels": 2},                      ["reader 1", "writer 1"]),
    ("engines",             {"capabilities": 0x1d},               ["reader 0"])])
def test_engines(card, arguments, settings, engines):
    result = card("reset", *arguments.split(), **settings)
    assert result == (0, "".join(f"{one} was reset; its transfers start again\n" for one in engines), "")
    result = json.loads(card("reset", "--json", *arguments.split(), **settings).out)
    assert [f"{one['engine']} {one['channel']}" for one in result["engines"]] == engines
    assert result["ok"] and not result["function"]


def test_function(card, tmp_path):
    folder = tmp_path / "bus" / "pci" / "devices" / "0000:01:00.0"
    write(folder, {"reset": ""})
    assert card("reset", "function", sysfs=tmp_path) == (0, "the function at 0000:01:00.0 was reset\n", "")
    assert (folder / "reset").read_text() == "1"
    assert json.loads(card("reset", "function", "--json", sysfs=tmp_path).out)["function"]


NO_CHANNELS = "/dev/litepcie0: the card has no memory channels; its streams are for the command stream"
CHOOSE = "choose one of reader, writer, engines, function"


@pytest.mark.parametrize("arguments, settings, status, message", [
    ("",                     {}, 2, f"reset: nothing to reset is given; {CHOOSE}"),
    ("card",                 {}, 2, f"reset: 'card' is not known; {CHOOSE}"),
    ("reader --channel 1",   {}, 2, "--channel: 1 is too large; the most is 0"),
    ("engines",              {"channels": 0, "streams": 1}, 1, NO_CHANNELS),
    ("writer --channel 0",   {"channels": 0, "streams": 1}, 1, NO_CHANNELS),
    ("function --channel 0", {}, 2, "--channel: a reset of the function has no channel"),
    ("function",             {}, 1, "/dev/litepcie0: function at 0000:01:00.0: the kernel knows no way to reset this "
                                    "card: remove it and scan again (litepcie_rescan)"),
    ("engines", {"reset_errno": errno.EPERM}, 1, "/dev/litepcie0: reader 0: resetting needs CAP_SYS_ADMIN: run as "
                                                 "root"),
    ("writer",  {"reset_errno": errno.EIO},   1, "/dev/litepcie0: writer 0: the reset did not end: reset the card "
                                                 "(litepcie_util reset function)"),
    ("writer",  {"reset_errno": errno.ENODEV}, 4, "/dev/litepcie0: writer 0: the card is gone, or the driver was "
                                                  "unbound"),
])
def test_errors(card, arguments, settings, status, message):
    assert card("reset", *arguments.split(), **settings) == (status, "", f"litepcie_util: {message}\n")
    error = json.loads(card("reset", "--json", *arguments.split(), **settings).out)["error"]
    assert error["message"] == message and error["exit_status"] == status
