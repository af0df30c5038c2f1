# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A user's design: LiteX's RemoteClient over the server, and what LiteX's SoC builder refuses."""

import contextlib
import logging
import socket
import subprocess
import sys
import time

import pytest
from litex.tools.litex_client import RemoteClient

from litepcie_soc.build import user_server
from litepcie_soc.build.main import errors_of_litex

ORIGIN = 0x8200_0000
CSR    = f"""csr_base,core,0x{ORIGIN:08x},,
csr_register,core_operand,0x{ORIGIN + 8:08x},1,rw
csr_register,core_wide,0x{ORIGIN + 16:08x},2,rw
constant,config_csr_data_width,32,,
constant,config_bus_address_width,32,,
memory_region,csr,0x{ORIGIN:08x},65536,io
"""


@pytest.fixture
def port():
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


@pytest.fixture
def device(tmp_path):
    path = tmp_path / "litepcie0_user"
    path.write_bytes(bytes(range(64)))
    return path


def serve(*arguments):
    return subprocess.Popen([sys.executable, "-u", "-m", "litepcie_soc.build.user_server", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def connected(client):
    """Opens a client. LiteX's server says its port before it listens."""
    for _ in range(100):
        with contextlib.suppress(ConnectionRefusedError):
            client.open()
            return client
        time.sleep(0.1)
    pytest.fail("the server does not listen")


def test_remote_client(device, port, tmp_path):
    (tmp_path / "csr.csv").write_text(CSR)
    with serve("--device", device, "--origin", hex(ORIGIN), "--bind-port", port) as server:
        try:
            assert server.stdout.readline() == f"tcp port: {port}\n"
            client = connected(RemoteClient(port=port, csr_csv=str(tmp_path / "csr.csv")))
            assert client.regs.core_operand.read() == int.from_bytes(bytes(range(8, 12)), sys.byteorder)
            client.regs.core_operand.write(0x1234_5678)
            assert client.regs.core_operand.read() == 0x1234_5678
            client.regs.core_wide.write(0x1_0000_0002)
            assert client.read(ORIGIN + 16, 2) == [1, 2]
            # Beyond the range, and below it: all ones, and the server goes on.
            assert client.read(ORIGIN + 64) == client.read(ORIGIN - 4) == 0xffffffff
            assert client.regs.core_operand.read() == 0x1234_5678
            client.close()
        finally:
            server.terminate()
        assert f"user_server: 0x{ORIGIN + 64:08x}: beyond the range" in server.stderr.read()
    assert device.read_bytes()[8:12] == (0x1234_5678).to_bytes(4, sys.byteorder)


def test_without_a_card():
    server = serve("--device", "/dev/litepcie9_user")
    assert server.wait() == 1
    text = server.stderr.read()
    assert text.startswith("user_server: ") and "litepcie9_user" in text and text.count("\n") == 1


def test_the_driver_knows_the_origin(tmp_path, monkeypatch):
    (tmp_path / "litepcie0_user").mkdir()
    (tmp_path / "litepcie0_user" / "origin").write_text("0x82000000\n")
    monkeypatch.setattr(user_server, "SYSFS", tmp_path)
    assert user_server.origin_of("/dev/litepcie0_user") == ORIGIN


DESIGN = """
import sys
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import wishbone
from litepcie_sim.user import SimSoC, main

class SoC(SimSoC):
    card = {"user_bus": {"origin": 0, "size": 0x20000}}

    def __init__(self):
        SimSoC.__init__(self)
        for name, origin in (("one", 0x10000), ("two", 0x10800)):
            ram = wishbone.SRAM(4096)
            self.submodules += ram
            self.bus.add_slave(name, ram.bus, SoCRegion(origin=origin, size=4096))

sys.exit(main(SoC, "overlap", [], "true"))
"""


def test_slaves_that_overlap(tmp_path):
    (tmp_path / "design.py").write_text(DESIGN)
    done = subprocess.run([sys.executable, tmp_path / "design.py", "--no-compile", "--output-dir", tmp_path / "out"],
        capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("design.py: Region overlap between one and two: Origin: 0x00010000, Size: 0x00001000")
    assert done.stderr.count("\n") == 1 and "0x00010800" in done.stderr


def test_other_errors_are_logged_as_before(caplog):
    with pytest.raises(KeyError), errors_of_litex():
        logging.getLogger("SoC").error("later")
        assert not caplog.records
        raise KeyError
    assert [record.getMessage() for record in caplog.records] == ["later"]
