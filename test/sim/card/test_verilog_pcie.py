# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""verilog-pcie's example design, from a checkout, with its own driver: three BARs, MSI-X, two streams each way."""

import json
import os
import random
import re

import pytest

from litepcie_sim.card import verilog
from litepcie_sim.card.run import built
from test.conftest import ROOT
from test.sim.vfio_user_client import BAR0, CONFIG, MSIX, connected

pytestmark = [pytest.mark.full, pytest.mark.skipif("LITEPCIE_VERILOG_PCIE" not in os.environ,
    reason="LITEPCIE_VERILOG_PCIE does not name a checkout of verilog-pcie")]
CARD = ROOT / "sim/card/verilog_pcie.yml"
# Registers of the design: the DMA engine on or off, interrupts, and both engines for one transfer.
CONTROL, INTERRUPTS, TO_CARD, TO_HOST, STATUS = 0x0, 0x8, 0x100, 0x200, 0x18
LENGTHS = [*range(1, 70), 127, 128, 129, 255, 256, 257, 511, 513, 1000, 4095, 4096, 4097, 8192]


@pytest.fixture(scope="module")
def card():
    return built(lambda folder: verilog.make(CARD, folder), "verilog_pcie")


def transfer(client, engine, address, length, tag):
    for n, value in enumerate((address & 0xffffffff, address >> 32, 5, 0, length, tag)):
        client.write(BAR0, engine + 4*n, value)
    assert client.wait_interrupt() == 1
    assert client.read(BAR0, engine + STATUS) == 1 << 31 | tag


def test_bytes_of_all_lengths_and_addresses(card, tmp_path):
    choice = random.Random(39)
    with connected(card / "simulator/litepcie_simulator", tmp_path) as client:
        client.negotiate()
        for bar, address in {0: 0xe0000000, 2: 0xe2000000, 4: 0xe1000000}.items():
            client.write(CONFIG, 0x10 + 4*bar, address, posted=False)
        client.write(CONFIG, 0x68, 1 << 5 | 2 << 12 | 1 << 8, 2, posted=False)  # MPS 256, MRRS 512, extended tags.
        client.enable()
        assert client.irq_count(MSIX) == 32 and client.irq_count(1) == 0
        client.connect_events(MSIX, 2)
        client.write(CONFIG, 0xa2, 1 << 15, 2, posted=False)
        assert client.read(4, 8) == 0 and client.read(4, 24) == 1  # Data of vectors 0 and 1 in the card's own table.
        for size in (1, 2, 4, 8, 16, 60, 64):
            at, value = choice.randrange(0, 4000, 4), choice.getrandbits(8*size)
            client.write(2, at, value, size)
            assert client.read(2, at, size) == value
        client.map(0x100000, 0x10000)
        client.map(0x500000000, 0x10000, offset=0x10000)
        client.write(BAR0, CONTROL, 1)
        client.write(BAR0, INTERRUPTS, 3)
        for length in LENGTHS:
            begin, end = choice.randrange(0, 4200), choice.randrange(0, 4200)
            data = choice.randbytes(length)
            client.memory[begin:begin + length] = data
            client.memory[0x10000:0x20000] = guard = bytes([0xa5])*0x10000
            transfer(client, TO_CARD, 0x100000 + begin, length, length & 0x7f)
            transfer(client, TO_HOST, 0x500000000 + end, length, length & 0x3f)
            assert client.memory[0x10000:0x20000] == guard[:end] + data + guard[end + length:], (length, begin, end)


@pytest.mark.guest
@pytest.mark.timeout(1800)
def test_the_driver_s_own_test(card, boot, tmp_path):
    stats  = tmp_path / "stats"
    guest  = boot(card, load=False, simulator_arguments=["--stats", str(stats)])
    result = guest.run("pcie_sizes 256 512 && insmod /lib/modules/example.ko", timeout=1500)
    said   = guest.run("dmesg").output
    assert result.status == 0, result.output
    assert "test data matches" in said and not re.search("mismatch|timed out|DMA engine busy", said)
    assert len(re.findall("edev .*: Interrupt", said)) == 3
    assert len(re.findall("read 10000 blocks", said)) == len(re.findall("wrote 10000 blocks", said)) == 50
    assert re.search(r"^ *\d+: +3 .*PCI-MSI.* edev$", guest.run("cat /proc/interrupts").output, re.MULTILINE)
    assert guest.run("rmmod example").status == 0
    guest.close()
    counted = json.loads(stats.read_text())
    assert counted["violations"] == 0 and counted["card_read_bytes"] > counted["card_written_bytes"] > 160e6
