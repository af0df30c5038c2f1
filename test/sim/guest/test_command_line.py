#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tests of the runner's command line, and of its messages when something is missing. No guest is booted."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys

import pytest

from litepcie_sim.guest         import qemu
from litepcie_sim.guest.board   import BuiltBoard, Simulator
from litepcie_sim.guest.errors  import GuestError


def run(*arguments, **environ):
    return subprocess.run([sys.executable, "-m", "litepcie_sim.guest", *map(str, arguments)],
        capture_output=True, text=True, env={**os.environ, **environ}, timeout=60)


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def board(tmp_path):
    """A folder that looks like a built board, with a script as its simulator."""
    header = tmp_path / "board" / "software" / "include" / "generated" / "soc.h"
    header.parent.mkdir(parents=True)
    header.write_text("#define CONFIG_PCIE_GEN 3\n#define CONFIG_PCIE_LANES 8\n")
    script(tmp_path / "board" / "simulator" / "litepcie_simulator", "exit 0\n")
    return tmp_path / "board"


@pytest.mark.parametrize("arguments, message", [
    ([], "the following arguments are required: verb"),
    (["run", "--", "true"],
        "the following arguments are required: --board"),
    (["run", "--board", "x"],
        "the following arguments are required: COMMAND"),
    (["run", "--board", "x", "--kernel", "5.10", "--", "true"],
        "invalid choice: '5.10' (choose from '6.1', '6.12', 'newest', '6.12-arm64', '6.12-arm64-16k', '6.1-debug')"),
    (["run", "--board", "x", "--memory", "12X", "--", "true"], "'12X' is not a size such as 512M or 1G"),
    (["run", "--board", "x", "--timeout", "-1", "--", "true"],
        "'-1' is not a number of seconds above 0"),
    (["run", "--board", "x", "--file", "a", "--", "true"],
        "'a' is not HOST:GUEST with an absolute path GUEST"),
])
def test_bad_usage_is_one_line_and_status_2(arguments, message):
    result = run(*arguments)
    assert result.returncode == 2
    assert message.replace("'", "") in result.stderr.replace("'", "")
    assert result.stderr.count("\n") == 1


def error(result):
    """Returns the line that a failed runner printed."""
    assert result.returncode == 125
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("guest: error: "), result.stderr
    return lines[0].removeprefix("guest: error: ")


def test_a_board_that_is_not_built(tmp_path):
    assert error(run("run", "--board", tmp_path, "--", "true")) == \
        f"no board is built in {tmp_path}; type: ./targets/sim.py --build"


@pytest.mark.parametrize("text, why", [
    ("exit 1", "it does not start"),
    ("echo QEMU emulator version 10.0.9",
        "it is version 10.0.9, and 10.1 or newer is needed"),
    ("echo QEMU emulator version 10.1.0",
        "it has no vfio-user-pci device"),
])
def test_a_qemu_that_will_not_do(tmp_path, board, text, why):
    program = script(tmp_path / "qemu", text + "\n")
    assert error(run("run", "--board", board, "--", "true", LITEPCIE_QEMU=str(program))) == \
        f"LITEPCIE_QEMU={program}: {why}"


def test_the_machines_own_qemu_is_used_if_it_will_do(tmp_path, monkeypatch):
    program = script(tmp_path / "qemu-system-x86_64", 'echo "QEMU emulator version 11.1.3"; '
        'echo \'name "vfio-user-pci", bus PCI\'\n')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("LITEPCIE_QEMU", raising=False)
    assert qemu.find().command == (str(program),)
    assert qemu.find().version == (11, 1, 3)


def test_the_root_port_is_the_boards_link(board):
    found     = BuiltBoard(board)
    machine   = qemu.Machine(socket="/s", gen=found.gen, lanes=found.lanes, iommu=True, strict_writes=True)
    arguments = machine.arguments("k", "i", 3, 4)
    assert "pcie-root-port,id=root-port,slot=1,x-speed=8,x-width=8" in arguments
    assert "intel-iommu,intremap=on,caching-mode=on" in arguments
    assert '"x-no-posted-writes": true' in arguments[-1]
    assert "intel_iommu=on" in arguments[arguments.index("-append") + 1]
    assert "intel_iommu=on" not in qemu.Machine().kernel_arguments()


def test_each_board_has_a_root_port():
    arguments = qemu.Machine(socket="/s", others=(("/t", 3, 8),)).arguments("k", "i", 3, 4)
    assert "pcie-root-port,id=root-port,slot=1,x-speed=5,x-width=4" in arguments
    assert "pcie-root-port,id=root-port2,slot=2,x-speed=8,x-width=8" in arguments
    devices = [json.loads(word) for word in arguments if word.startswith("{")]
    assert [(one["bus"], one["socket"]["path"]) for one in devices] == [("root-port", "/s"), ("root-port2", "/t")]


def test_a_header_without_the_link(board):
    (board / "software/include/generated/soc.h").write_text("#define CONFIG_PCIE_GEN 2\n")
    with pytest.raises(GuestError, match="does not define CONFIG_PCIE_LANES; build it again: ./targets/sim.py --build"):
        BuiltBoard(board)


def start(board, tmp_path, text):
    script(board / "simulator" / "litepcie_simulator", text)
    simulator = Simulator(BuiltBoard(board), tmp_path / "socket", ["--seed", "1"], tmp_path / "log")
    try:
        simulator.start()
    finally:
        simulator.stop(grace=0)


@pytest.mark.parametrize("text, message", [
    ("echo first; echo a TLP is malformed >&2; exit 3\n",
        "the simulator ended with status 3: first\na TLP is malformed"),
    ("kill -SEGV $$\n", "the simulator was killed by signal 11 without output"),
    ('echo "$@"; exit 2\n', "the simulator ended with status 2: --socket {socket} --seed 1"),
])
def test_a_simulator_that_ends_at_once(board, tmp_path, text, message):
    with pytest.raises(GuestError) as caught:
        start(board, tmp_path, text)
    assert str(caught.value) == message.format(socket=tmp_path / "socket")


def test_an_interrupted_download_ends_at_once_and_leaves_nothing(tmp_path):
    """A mirror that accepts connections and never answers, like one that a firewall blocks."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        mirror = f"http://127.0.0.1:{silent.getsockname()[1]}/debian"
        runner = subprocess.Popen([sys.executable, "-m", "litepcie_sim.guest", "prepare"],
            stderr=subprocess.PIPE, text=True, env={**os.environ, "DEBIAN_MIRROR": mirror,
                "LITEPCIE_CACHE": str(tmp_path), "no_proxy": "127.0.0.1"})
        silent.settimeout(30)
        connection, _ = silent.accept()
        runner.send_signal(signal.SIGINT)
        runner.communicate(timeout=60)
        connection.close()
    assert runner.returncode == 130
    assert [path.name for path in (tmp_path / "v1").iterdir() if path.name not in ("locks", "tmp")] == []
    assert list((tmp_path / "v1" / "tmp").iterdir()) == []
