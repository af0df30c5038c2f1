# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Tests of guests with a board: set-up of the board, the runner's command line, a simulator that ends early."""

import os
import pty
import select
import signal
import subprocess
import sys
import time

import pytest

from litepcie_sim.guest import GuestError


GUEST = {"mps": 512, "mrrs": 1024}


@pytest.mark.full
def test_sizes_are_set_before_the_module_loads(guest):
    assert "MPS 512, MRRS 1024 bytes" in guest.run("litepcie_util info").output


@pytest.mark.full
def test_a_payload_the_board_does_not_have(board, boot):
    with pytest.raises(GuestError, match="pcie_sizes: MPS 1024 is not supported by the board; the most is 512 bytes"):
        boot(board, mps=1024)


@pytest.mark.full
def test_everything_at_once(board, boot):
    guest = boot(board, iommu=True, cpus=2, strict_writes=True, memory="1G",
        simulator_arguments=["--reorder", "--seed", "3"])
    assert guest.run("nproc").output == "2\n"
    assert guest.run("ls -d /sys/bus/pci/devices/0000:01:00.0/iommu_group").status == 0
    assert guest.run("litepcie_util dma_test --iterations 2 --length 10000").status == 0


@pytest.mark.full
def test_the_death_of_the_simulator_is_said(board, boot):
    guest = boot(board)
    os.kill(guest.simulator.process.pid, signal.SIGKILL)
    with pytest.raises(GuestError, match="the simulator was killed by signal 9: "):
        guest.run("sleep 60")


def test_an_unknown_argument_of_the_simulator(board, boot):
    with pytest.raises(GuestError, match="the simulator ended with status 2: .*--no-such-option"):
        boot(board, simulator_arguments=["--no-such-option"])


def command(verb, board, tmp_path, *arguments):
    return [sys.executable, "-m", "litepcie_sim.guest", verb, "--board", str(board),
        "--log", str(tmp_path / "log"), *arguments]


@pytest.mark.full
@pytest.mark.guest
def test_run_gives_output_and_status(board, tmp_path):
    (tmp_path / "input").write_text("from the machine\n")
    result = subprocess.run(command("run", board, tmp_path, "--file",
        f"{tmp_path}/input:/root/input",
        "--", "sh", "-c", "cat input; ls /dev/litepcie0; exit 42"), capture_output=True, text=True)
    assert result.stdout == "from the machine\n/dev/litepcie0\n"
    assert result.returncode == 42
    assert "guest: error" not in result.stderr


@pytest.mark.full
@pytest.mark.guest
def test_run_says_when_it_took_too_long(board, tmp_path):
    result = subprocess.run(command("run", board, tmp_path, "--timeout", "0.5", "--", "sleep 60"),
        capture_output=True, text=True)
    assert result.returncode == 124
    assert "guest: error: the command did not end in 0.5 s: sleep 60" in result.stderr


def talk(fd, keys, wanted, seconds=120):
    """Types `keys`; returns what the terminal showed until `wanted`."""
    os.write(fd, keys)
    shown, deadline = b"", time.monotonic() + seconds
    while wanted not in shown:
        assert time.monotonic() < deadline, shown
        if select.select([fd], [], [], 0.1)[0]:
            shown += os.read(fd, 4096)
    return shown


@pytest.mark.full
@pytest.mark.guest
@pytest.mark.parametrize("end, status", [(b"exit 4\r", 4), (b"\x1d", 0)])
def test_shell_on_a_terminal(board, tmp_path, end, status):
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(sys.executable, command("shell", board, tmp_path))
    try:
        assert b"type `exit` to leave, or Ctrl-] to end" in talk(fd, b"", b"# ")
        assert b"\r\n25\r\n" in talk(fd, b"expr 5 \\* 5\r", b"25\r\n")
        # The program itself says that it runs: Ctrl-C before the terminal is its own would end nothing.
        talk(fd, b"sh -c 'echo be\"\"gun; exec sleep 10000'\r", b"begun")
        talk(fd, b"\x03", b"# ")
        talk(fd, b"true\r", b"# ")
        os.write(fd, end)
        with pytest.raises(OSError):  # The terminal is closed.
            while True:
                assert select.select([fd], [], [], 60)[0]
                os.read(fd, 4096)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == status
    finally:
        os.close(fd)
