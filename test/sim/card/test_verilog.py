# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The test endpoint as somebody's card in Verilog, with names of its own; broken rules are counted."""

import json
import re
import struct
import subprocess
import sys

from pathlib import Path

import pytest
import yaml

from litepcie_sim.card import verilog
from litepcie_sim.card.card import Card, CardError
from test.sim.test_simulator import ADDRESS, DATA, MAGIC, READ, SCRATCH, STATUS, WRITE, command
from test.sim.vfio_user_client import BAR0, CONFIG, Client, Simulator, connected

ROOT     = Path(__file__).resolve().parents[3]
ENDPOINT = ROOT / "test/sim/src/fixture/litepcie_soc_sim.v"
# The wrapper has to make `first` by itself, and to invert the reset.
LACKING  = {"tx_first", "rx_first"}
CARD     = {"gen": 1, "lanes": 1, "data_width": 128, "clock_hz": 125000000, "bars": {0: 0x1000}, "vendor_id": 0xcafe,
    "device_id": 0xbabe}


def description():
    given = {name: f"my_{name}" for name in verilog.ports(Card(**CARD)) if name not in LACKING}
    return {"verilog": ["other.v"], "top": "other", "card": CARD, "ports": {**given, "sys_rst": "!my_rst_n"}}


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    """`litepcie_simulator` of the card, built by the command."""
    folder = tmp_path_factory.mktemp("other")
    text   = re.sub(r"\b(sys|tx|rx|phy|msi)_(?!buffer|size|sent)(\w+)", r"my_\1_\2", ENDPOINT.read_text())
    for old, new in {"module litepcie_soc_sim": "module other", "my_rx_first,": "", "my_tx_first,": "",
            "assign my_tx_first = tx_sent == 0;": "", "(my_sys_rst": "(!my_rst_n", "my_sys_rst": "my_rst_n"}.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "other.v").write_text(text)
    (folder / "other.yml").write_text(yaml.safe_dump(description()))
    result = subprocess.run([sys.executable, "-m", "litepcie_sim.card", folder / "other.yml", "build"],
        capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return ROOT / "build/card_other/simulator/litepcie_simulator"


@pytest.mark.full
def test_a_card_in_verilog(simulator, tmp_path):
    with connected(simulator, tmp_path) as client:
        client.set_up()
        client.map(0x100000, 0x10000)
        assert client.read(CONFIG, 0x00) == 0xbabecafe and client.read(BAR0, MAGIC) == 0x4c504953
        assert not client.read(CONFIG, 0x64) >> 28 & 1  # No Function Level Reset: a write starts none.
        client.write(CONFIG, 0x68, 0x2000 | 1 << 15, 2, posted=False)
        # These are registers of this project's own cards; here they are others.
        client.write(BAR0, SCRATCH, 0x55)
        client.memory[:128] = bytes(range(128))
        command(client, READ, 0x100000, 32)
        assert client.wait_interrupt() == 1 and client.read(BAR0, STATUS) == 0
        assert client.read(BAR0, DATA + 4) == 0x07060504 and client.read(BAR0, SCRATCH) == 0x55
        command(client, WRITE, 0x100200, 4)
        assert client.read(BAR0, ADDRESS) == 0x100200
        assert client.memory[0x200:0x210] == bytes(range(16))


@pytest.mark.full
def test_broken_rules_are_counted(simulator, tmp_path):
    stats = tmp_path / "stats.json"
    with Simulator(simulator, tmp_path / "card.sock", "--count-violations", "--stats", stats) as server, \
            Client(tmp_path / "card.sock") as client:
        client.set_up()
        client.map(0x100000, 0x10000)
        for _ in range(2):  # It crosses 4 KiB: the host discards it.
            command(client, WRITE, 0x100ffc, 2)
        command(client, READ, 0x100000, 256)  # More than MRRS, which a host does not see: it is served.
        assert client.wait_interrupt() == 1 and client.read(BAR0, STATUS) == 0
        client.write(BAR0, DATA, 0x12345678)
        command(client, WRITE, 0x102000, 1)
        assert client.read(BAR0, MAGIC) == 0x4c504953
        assert struct.unpack_from("<I", client.memory, 0x2000) == (0x12345678,)
        assert not any(client.memory[0xffc:0x1004])
        client.close()
        status, errors = server.end()
    rules = json.loads(stats.read_text())["broken_rules"]
    assert status == 0 and {rule: found["times"] for rule, found in rules.items()} == {
        "request crosses a 4 KiB boundary": 2, "read request exceeds MRRS 512": 1}
    assert "\nbroken rule: request crosses a 4 KiB boundary: 2 times, first at cycle " in errors
    with Simulator(simulator, tmp_path / "card.sock") as server, Client(tmp_path / "card.sock") as client:
        client.set_up()
        command(client, WRITE, 0x100ffc, 2)
        status, errors = server.end()
        assert status == 3 and "request crosses a 4 KiB boundary" in errors


@pytest.mark.parametrize("line, said", [("", "test_it.py has no CARD; give the path of a YAML file, or a function"),
    ('CARD = "none.yml"', "cannot read ")])
def test_a_module_without_its_card(tmp_path, line, said):
    (tmp_path / "test_it.py").write_text(f"{line}\ndef test_it(card):\n    pass\n")
    result = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "litepcie_sim.card.fixtures", "test_it.py"],
        cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 1 and said in result.stdout and "Error: " not in result.stdout, result.stdout


@pytest.mark.parametrize("change, said", [
    ({"clok": 1},                                     "key 'clok' is not known"),
    ({"top": "litepcie_soc_sim"},                     "top cannot be litepcie_soc_sim"),
    ({"ports": {"tx_valid": "v"}},                    "ports: sys_clk is missing"),
    ({"ports": {"tx_vald": "v"}},                     "ports: tx_vald is not a port of the simulator"),
    ({"ports": {**description()["ports"], "tx_dat": "!d"}}, "ports: tx_dat cannot be inverted"),
    ({"card": {**CARD, "lanes": 3}},                  "lanes 3 is not supported; choose one of"),
    ({"card": {"gen": 1}},                            "card: .* missing"),
    ({"verilog": ["none.v"]},                         "there is no .*none.v"),
    ({"verilog": ["$LITEPCIE_NONE/a.v"]},             "the environment has no such variable"),
    ({"card": {**CARD, "bars": {6: 0x1000}}},         "BAR 6 of 4096 bytes is not supported"),
    ({"card": {**CARD, "bars": 4096}},                "bars 4096 is not supported; give the bytes of each, such as"),
    ({"card": {**CARD, "msix_vectors": 1, "msix_table": 4}}, "msix_table 4 is not supported; give BAR and offset"),
    ({"card": {**CARD, "msix_vectors": 9, "msix_table": [0, 0xf80]}}, "msix_table of 144 bytes at 0xf80 is not")])
def test_wrong_descriptions(tmp_path, change, said):
    (tmp_path / "card.yml").write_text(yaml.safe_dump({**description(), **change}))
    (tmp_path / "other.v").write_text("")
    with pytest.raises((CardError, ValueError), match=said):
        verilog.make(tmp_path / "card.yml", tmp_path / "build")
