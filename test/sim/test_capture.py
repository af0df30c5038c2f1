# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The file of --pcap, read by the specification of pcapng: it has the TLPs, directions and times of the figures and the
trace, and is whole after a kill.
"""

import collections
import json
import os
import shutil
import signal
import struct
import subprocess

import pytest

from test.sim.conftest import ROOT
from test.sim.scripts import refused
from test.sim.test_simulator import DATA, INTERRUPT, MAGIC, READ, STATUS, WRITE, command
from test.sim.vfio_user_client import BAR0, CONFIG, Client, Simulator

NAMES   = {0x00: "MRd32", 0x20: "MRd64", 0x40: "MWr32", 0x60: "MWr64", 0x0a: "Cpl", 0x4a: "CplD"}
MESSAGE = 0xfee00000  # where the client's MSI go


def packets(path):
    """(ns, direction, bytes) of each TLP. Each block must have the same length at both ends."""
    file, blocks = path.read_bytes(), []
    while file:
        kind, size = struct.unpack_from("<2I", file)
        assert size % 4 == 0 and struct.unpack_from("<I", file, size - 4) == (size,)
        blocks.append((kind, file[8:size - 4]))
        file = file[size:]
    assert blocks[0] == (0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
    # LINKTYPE_USER0, no limit of a packet's size; option 9, one byte: 10^-9 s.
    assert blocks[1] == (1, struct.pack("<HHIHHIHH", 147, 0, 0, 9, 1, 9, 0, 0))
    for kind, body in blocks[2:]:
        interface, high, low, captured, size = struct.unpack_from("<5I", body)
        assert (kind, interface, captured) == (6, 0, size)
        option, length, flags, end = struct.unpack("<HHII", body[20 + size:])
        assert (option, length, end) == (2, 4, 0)
        yield high << 32 | low, {1: "<", 2: ">"}[flags], body[20:20 + size]


def counts(tlps):
    counted = collections.defaultdict(collections.Counter)
    for _, direction, tlp in tlps:
        name = "MSI" if tlp[0] == 0x40 and tlp[8:12] == struct.pack(">I", MESSAGE) else NAMES[tlp[0]]
        counted[direction, name].update(tlps=1, bytes=len(tlp))
    return counted


def test_has_what_the_figures_and_the_trace_have(simulator, path, tmp_path):
    stats, trace, pcap = (tmp_path / name for name in ("stats", "trace", "pcap"))
    with Simulator(simulator, path, "--stats", stats, "--trace", trace, "--pcap", pcap) as server, \
            Client(path) as client:
        client.set_up()
        client.write(CONFIG, 0x4c, MESSAGE, posted=False)
        client.map(0x100000, 0x10000, offset=0x2000)
        for i in range(4):
            client.write(BAR0, DATA + 4 * i, 0x11223344 + i)
        command(client, WRITE, 0x100100, 4)
        command(client, INTERRUPT)
        client.wait_interrupt()
        command(client, READ, 0x101000, 32)
        client.wait_interrupt()
        assert client.read(BAR0, STATUS) == 0
        client.close()
        assert server.end() == (0, "")
    tlps, figures = list(packets(pcap)), json.loads(stats.read_text())
    assert counts(tlps) == {(direction, name): {"tlps": count["tlps"],
            "bytes": count["wire_bytes"] - 8*count["tlps"]}
        for direction, way in ((">", "to_card"), ("<", "to_host")) for name, count in figures[way]["tlps"].items()}
    assert ("<", "MSI") in counts(tlps)
    # 4 dwords from 01:00.0 to 0x100100; payload in the order of memory.
    assert [tlp for _, _, tlp in tlps if tlp[0] == 0x40 and tlp[8:12] == bytes.fromhex("00100100")] == [
        bytes.fromhex("40000004 010003ff 00100100") + struct.pack("<4I", *(0x11223344 + i for i in range(4)))]
    lines = [line.split() for line in trace.read_text().splitlines()]
    assert [(ns, way) for ns, way, _ in tlps] == [(int(float(ns)), way) for _, ns, way, *_ in lines]


def test_is_whole_after_a_kill(simulator, path, tmp_path):
    pcap = tmp_path / "pcap"
    with Simulator(simulator, path, "--pcap", pcap) as server, Client(path) as client:
        client.set_up()
        client.read(BAR0, MAGIC)
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
    assert [NAMES[tlp[0]] for _, _, tlp in packets(pcap)] == ["MRd32", "CplD"]


@pytest.mark.parametrize("file", ["/nonexistent/pcap", "/dev/full"])
def test_cannot_be_written(simulator, path, file):
    assert f"cannot write capture {file}: " in refused(simulator, "--socket", path, "--pcap", file, status=1)


@pytest.mark.skipif(not shutil.which("tshark") or not os.geteuid(),
    reason="needs tshark, and a user other than root, for whom it runs no Lua")
def test_tshark_shows_the_fields(simulator, path, tmp_path):
    pcap = tmp_path / "pcap"
    with Simulator(simulator, path, "--pcap", pcap) as server, Client(path) as client:
        client.set_up()
        client.map(0x100000, 0x10000)
        command(client, READ, 0x101000, 32)
        client.wait_interrupt()
        client.close()
        server.end()
    fields = ["frame.packet_flags_direction", "tlp.name", "tlp.requester", "tlp.tag", "tlp.address", "tlp.length"]
    said   = subprocess.run(["tshark", "-X", f"lua_script:{ROOT / 'sim/tlp.lua'}", "-r", pcap, "-T", "fields",
        *[word for field in fields for word in ("-e", field)]], capture_output=True, text=True, check=True)
    lines = [line.split("\t") for line in said.stdout.splitlines()]
    assert ["0x00000001", "MRd32", "01:00.0", "3", "0x0000000000101000", "32"] in lines
    assert ["0x00000002", "CplD", "01:00.0", "3", "", "32"] in lines
