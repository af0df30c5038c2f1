# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""/dev/litepcie0_user: the registers and the RAM of the simulated board's user core."""

import json
import socket
import types

import pytest
from litex.tools.litex_client import RemoteClient
from litex.tools.litex_server import RemoteServer

from litepcie_sim.guest  import DEBUG_KERNEL
from litepcie_soc.build  import user_server
from test.guest.conftest import CARD, DRIVER, KERNEL

NODE   = "/dev/litepcie0_user"


class GuestFiles:
    """The calls of ``os`` that ``user_server`` makes, on a file of a guest, which has no Python."""
    O_RDWR = 2

    def __init__(self, guest):
        self.guest = guest

    def open(self, path, _):
        self.guest.run(f"test -c {path}")
        return path

    def close(self, _):
        pass

    def pread(self, path, count, offset):
        text = self.guest.run(f"dd if={path} bs=4 skip={offset//4} count={count//4} 2>/dev/null | od -An -v -tx1")
        return bytes.fromhex(text)

    def pwrite(self, path, data, offset):
        text = "".join(f"\\x{byte:02x}" for byte in data)
        self.guest.run(f"printf '{text}' | dd of={path} bs=4 seek={offset//4} conv=notrunc 2>/dev/null")


@pytest.fixture
def port():
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def csr_csv(board):
    """Text of LiteX's csr.csv with the registers of the board's user core."""
    found = json.loads((board / "software" / "include" / "generated" / "csr.json").read_text())["csr_registers"]
    lines = [f"csr_register,{name},0x{csr['addr']:08x},{csr['size']},{csr['type']}"
        for name, csr in found.items() if name.startswith("core_")]
    return "\n".join(["csr_base,core,0x00000000,,", *lines, "constant,config_csr_data_width,32,,",
        "constant,config_bus_address_width,32,,", ""])


def test_every_call(guest):
    assert "checks passed" in guest.run("user")
    assert guest.run("cat /sys/class/litepcie_user/litepcie0_user/origin").strip() == "0x0"
    assert "user" in guest.run("litepcie_util info")
    guest.works()


@pytest.mark.skipif(KERNEL == DEBUG_KERNEL, reason="LiteX's client waits at most 2 s for a reply")
def test_litex_remote_client(guest, full_board, tmp_path, monkeypatch, port):
    """From LiteX's client over ``user_server`` and the driver to the user core's registers and RAM."""
    (tmp_path / "csr.csv").write_text(csr_csv(full_board))
    origin = int(guest.run("cat /sys/class/litepcie_user/litepcie0_user/origin"), 0)
    monkeypatch.setattr(user_server, "os", types.SimpleNamespace(**{name: getattr(GuestFiles(guest), name)
        for name in ("open", "close", "pread", "pwrite", "O_RDWR")}))
    server = RemoteServer(user_server.CommUser(NODE, origin), "localhost", port)
    server.open()
    server.start(4)
    client = RemoteClient(port=port, csr_csv=str(tmp_path / "csr.csv"))
    client.open()
    try:
        client.regs.core_operand.write(0x1234_5678)
        assert client.regs.core_operand.read() == 0x1234_5678
        assert client.regs.core_result.read() == 0xffff_ffff ^ 0x1234_5678
        client.write(0x1_0000, [1, 2, 3])
        assert client.read(0x1_0000, 3) == [1, 2, 3]
    finally:
        client.close()


def test_a_slave_that_does_not_answer_does_not_stop_the_card(guest):
    """Reads of nothing in a loop beside transfers that are compared."""
    assert "checks passed" in guest.run("user & litepcie_util dma_test --sequence read-then-write "
        "--length 100001 --iterations 2; wait")


def test_a_reset_removes_the_mapping_until_it_is_over(guest):
    assert guest.run(f"user 'echo 1 > {CARD}/reset'").split() == ["same"]
    guest.works()


def test_unbind_ends_mapping_and_calls(guest):
    said = guest.run(f"user 'echo 0000:01:00.0 > {DRIVER}/unbind'")
    assert said.split("\n")[0] == "SIGBUS ENODEV"
    guest.run(f"test ! -e {NODE}")
    guest.run(f"echo 0000:01:00.0 > {DRIVER}/bind; test -c {NODE}")
    assert "checks passed" in guest.run("user")
    guest.works()
