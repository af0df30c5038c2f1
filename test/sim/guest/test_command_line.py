# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The runner without a guest: its command line and messages, its protocol with the guest, kernels, pcie_sizes.sh."""

import base64
import json
import os
import random
import signal
import socket
import stat
import struct
import subprocess
import sys

from pathlib import Path

import pytest

from litepcie_sim.guest              import DEBUG_KERNEL, Guest, qemu
from litepcie_sim.guest.arm64        import ARM64_KERNELS, Arm64Kernel, VirtMachine
from litepcie_sim.guest.board        import BuiltBoard, Simulator
from litepcie_sim.guest.debug_kernel import CONFIG, DebugKernel, check_config, kernel
from litepcie_sim.guest.errors       import GuestError
from litepcie_sim.guest.kernels      import Kernel
from litepcie_sim.guest.machine      import Reply


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
        "invalid choice: '5.10' (choose from '6.1', '6.12', 'newest', '6.12-rt', '6.12-arm64', '6.12-arm64-16k', "
        "'6.1-i386', '6.1-debug')"),
    (["run", "--board", "x", "--memory", "12X", "--", "true"], "'12X' is not a size such as 512M or 1G"),
    (["run", "--board", "x", "--timeout", "-1", "--", "true"],
        "'-1' is not a number of seconds above 0"),
    (["run", "--board", "x", "--file", "a", "--", "true"],
        "'a' is not HOST:GUEST with an absolute path GUEST")])
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


def test_a_folder_that_cannot_be_shared(board, tmp_path):
    assert error(run("run", "--board", board, "--share", tmp_path / "none", "--", "true")) == \
        f"cannot read the folder {tmp_path}/none"


@pytest.mark.parametrize("text, why", [
    ("exit 1", "it does not start"),
    ("echo QEMU emulator version 10.0.9",
        "it is version 10.0.9, and 10.1 or newer is needed"),
    ("echo QEMU emulator version 10.1.0",
        "it has no vfio-user-pci device")])
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
    ('echo "$@"; exit 2\n', "the simulator ended with status 2: --socket {socket} --seed 1")])
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


TOKEN = "0123456789abcdef0123456789abcdef"


def feed(reply, data, sizes):
    """Returns all output of `reply` when `data` arrives in pieces of `sizes`."""
    output, at = b"", 0
    for size in sizes:
        output += reply.feed(data[at:at + size])
        at     += size
    return output + reply.feed(data[at:])


def test_request_is_one_line_whatever_the_command():
    line = Reply(TOKEN).request("run", "echo 'a\nb' \\ $x \xe4")
    token, mode, code = line.decode().rstrip("\n").split(" ")
    assert (token, mode) == (TOKEN, "run")
    assert base64.b64decode(code).decode() == "echo 'a\nb' \\ $x \xe4"
    assert line.count(b"\n") == 1


@pytest.mark.parametrize("size", [1, 2, 31, 32, 33, 1000])
def test_any_split(size):
    reply, status = Reply(TOKEN), 124
    data  = b"no newline at the end" + f"{TOKEN} {status}\n".encode()
    assert feed(reply, data, [size] * (len(data) // size)) == b"no newline at the end"
    assert reply.status == status


def test_output_that_looks_like_an_end():
    """Other tokens, beginnings of the right token, and statuses alone do not end a command."""
    token  = TOKEN.encode()
    tricky = b"f" * 32 + b" 0\n" + token[:31] + b" 0\n" + token[:5] * 9 + b"\0\r\n"
    for seed in range(50):
        rng   = random.Random(seed)
        reply = Reply(TOKEN)
        data  = tricky + f"{TOKEN} 3\n".encode()
        sizes = [rng.randint(1, 40) for _ in range(rng.randint(0, 20))]
        assert feed(reply, data, sizes) == tricky, f"seed {seed}"
        assert reply.status == 3


def test_the_names_of_kernels():
    assert kernel("6.12") == Kernel("6.12")
    assert isinstance(kernel(DEBUG_KERNEL), DebugKernel)
    assert kernel(DEBUG_KERNEL).suite == Kernel("6.1").suite
    assert Kernel("6.12-rt").flavour == "rt-amd64" and Kernel("6.12").flavour == "cloud-amd64"
    for name in ARM64_KERNELS:
        assert isinstance(kernel(name), Arm64Kernel) and kernel(name).suite == Kernel("6.12").suite
    assert kernel("6.1-i386").flavour == "686-pae" and kernel("6.1-i386").suite == Kernel("6.1").suite
    with pytest.raises(GuestError, match="there is no guest kernel '5.10'"):
        kernel("5.10")


def test_an_option_that_kconfig_dropped_is_an_error():
    wanted = CONFIG.read_text()
    check_config(wanted, wanted)
    with pytest.raises(GuestError, match="the debug kernel cannot have CONFIG_KASAN=y; change debug.config"):
        check_config(wanted, wanted.replace("CONFIG_KASAN=y\n", "# CONFIG_KASAN is not set\n"))


def test_a_guest_with_an_arm_processor_has_no_iommu_and_none_of_these_programs():
    with pytest.raises(GuestError, match="a guest with an ARM processor cannot have an IOMMU here; leave iommu out"):
        VirtMachine(iommu=True)
    with pytest.raises(GuestError, match="there is no fio for a guest on ARM; leave with_fio out"):
        Guest(kernel="6.12-arm64", with_fio=True)
    with pytest.raises(GuestError, match="there is no lspci for a guest on ARM; leave with_lspci out"):
        Guest(kernel="6.12-arm64", with_lspci=True)
    arguments = VirtMachine().arguments("kernel", "initrd", 3, 4)
    assert "cortex-a76" in arguments and not any("q35" in word or "ttyS" in word for word in arguments)


SCRIPT = Path(__file__).resolve().parents[3] / "sim" / "guest" / "pcie_sizes.sh"
CAP    = 0x70


def space(supported=2, control=0x2810, chain=((0x40, 0x01), (0x50, 0x05), (CAP, 0x10))):
    """Makes configuration space with a list of capabilities (offset, identifier)."""
    data = bytearray(256)
    data[0x34] = chain[0][0] if chain else 0
    for (offset, identifier), following in zip(chain, [*chain[1:], (0, 0)]):
        data[offset], data[offset + 1] = identifier, following[0]
        if identifier == 0x10:
            struct.pack_into("<HIH", data, offset + 2, 0x0002, 0x8000 | supported, control)
    return data


def run_script(tmp_path, data, *sizes):
    (tmp_path / "config").write_bytes(data)
    return subprocess.run(["sh", SCRIPT, *map(str, sizes), tmp_path], capture_output=True, text=True)


@pytest.mark.parametrize("mps, mrrs, before, after", [
    (256,  512, 0x2810, 0x2830),
    (128,  128, 0xffff, 0x8f1f),   # All other bits keep their value.
    (512, 4096, 0x0000, 0x5040)])
def test_pcie_sizes_writes_device_control(tmp_path, mps, mrrs, before, after):
    data   = space(control=before)
    result = run_script(tmp_path, data, mps, mrrs)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    struct.pack_into("<H", data, CAP + 8, after)
    assert (tmp_path / "config").read_bytes() == data


@pytest.mark.parametrize("data, sizes, message", [
    (space(),                        (300, 512),
        "'300' is not a size; choose 128, 256, 512, 1024, 2048 or 4096"),
    (space(supported=1),             (512, 512),  "MPS 512 is not supported by the board; the most is 256 bytes"),
    (space(chain=()),                (256, 512),  "the board has no PCI Express capability"),
    (space()[:64],                   (256, 512),  "cannot read")])
def test_pcie_sizes_refuses(tmp_path, data, sizes, message):
    result = run_script(tmp_path, data, *sizes)
    assert result.returncode == 1
    assert result.stderr.startswith(f"pcie_sizes: {message}")
    assert result.stderr.count("\n") == 1
    assert (tmp_path / "config").read_bytes() == data
