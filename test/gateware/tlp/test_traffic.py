# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Random traffic against the Verilog of the layer: every byte, every tag and the completion buffer are checked."""

import functools
import json
import shutil
import subprocess
from pathlib import Path
from unittest import mock

import pytest
from migen import Module

from litepcie_soc.phy.sim import SimPHY
from litepcie_soc.tlp import layer
from test.gateware.verilate import to_verilog, verilate

pytestmark = pytest.mark.skipif(not shutil.which("verilator"), reason="verilator is not installed")

BENCH   = Path(__file__).with_name("traffic.cpp")
WRONG   = dict(error=5, poison=5, twice=20, stray=20)     # In 1024 completions.
BLOCKS  = 40
CLIENTS = ((32, 1), (4, 1), (3, 2))

EVENTS  = dict(reset=9000, master=9000, extended=9000)
CASES   = {
    "a host without faults": (32, 64,  dict(timeout=10000)),
    "the link stays up":     (32, 64,  dict(WRONG, late=30, lost=5, **EVENTS)),
    "everything":            (64, 128, dict(WRONG, late=30, lost=2, link=9000, **EVENTS))}


class Dut(Module):
    """The layer on the simulation PHY at 64 bit and 1 MHz, with the ports of its clients at the top.

    ports  : (tags, reserve) of each client.
    blocks : completions that the PHY can buffer, with either RCB.
    """
    def __init__(self, ports, tags=32, blocks=(64, 64), quarantine_us=2**26):
        self.submodules.phy   = phy   = SimPHY(64)
        self.submodules.tlp = tlp = layer.TransactionLayer(phy, 64, 1e6, tags, blocks, quarantine_us=quarantine_us)
        self.ports = set()
        for name in ("sink", "source"):
            self.add(f"phy_{name}", getattr(phy, name), ["dat", "be", "first", "last"])
        for name in ("id", "link_up", "bus_master_enable", "extended_tag"):
            self.name(f"phy_{name}", getattr(phy, name))
        for name in ("timeout_us", "abandon", "drained", "rcb_128"):
            self.name(name, getattr(tlp, name))
        for n, (most, reserve) in enumerate(ports):
            port = tlp.add_read_port(f"port{n}", most, reserve=reserve)
            self.add(f"port{n}_request", port.request, ["address", "length", "destination"])
            self.add(f"port{n}_data", port.data, ["address", "dat", "be"])
            self.add(f"port{n}_retire", port.retire, ["reason", "bytes"])

    def add(self, name, endpoint, fields):
        for field in ["valid", "ready", *fields]:
            self.name(f"{name}_{field}", getattr(endpoint, field))

    def name(self, name, signal):
        signal.backtrace     = [(name, None)]
        signal.name_override = name
        self.ports.add(signal)


@functools.cache
def build(ports, **shape):
    """Builds the bench. Returns a function that runs it: `run(seed=1, cycles=1000, late=10, ...)`.

    The options are those that traffic.cpp describes; the result is a dict of its figures."""
    _, verilog = to_verilog(lambda: Dut(ports, **shape), lambda dut: dut.ports)
    header  = f"#define CLIENTS {len(ports)}\n#define EACH(F) {' '.join(f'F({n})' for n in range(len(ports)))}\n"
    model   = verilate({"top.v": verilog.main_source, "dut.h": header, "main.cpp": BENCH.read_text()}, optimise="-O1")
    def run(**options):
        result = subprocess.run([model.path, *[f"{name}={value}" for name, value in options.items()]],
            capture_output=True, text=True, timeout=200)
        assert result.returncode == 0, f"{options}:\n{result.stdout}{result.stderr}"
        return json.loads(result.stdout)
    return run


@pytest.mark.parametrize("case", CASES)
def test_random_traffic(case):
    tags, rcb, options = CASES[case]
    run = build(CLIENTS, tags=tags, blocks=(BLOCKS, BLOCKS), quarantine_us=2**26)
    for seed in range(3):
        figures = run(seed=seed, cycles=60000, rcb=rcb, blocks=BLOCKS, **options)
        assert figures["good"] > 200 and figures["peak_blocks"] > BLOCKS - 9
        assert (figures["good"] == figures["done"]) == (case == "a host without faults")


@pytest.mark.full
def test_random_traffic_in_each_cycle():
    """The same with the issue, check and retirement of wide data paths, which handle a request per cycle."""
    with mock.patch.object(layer, "PER_CYCLE_BITS", 64):
        run = build.__wrapped__(CLIENTS, tags=64, blocks=(BLOCKS, BLOCKS), quarantine_us=2**26)
    for seed in range(3):
        assert run(seed=seed, cycles=60000, rcb=64, blocks=BLOCKS, **CASES["everything"][2])["good"] > 200

FLOOD = dict(pause=0, stall=0, length=512, latency=400, blocks=1000, cycles=125_000)   # 1 ms at 125 MHz.


def channels(count, tags=64):
    """Ports of a SoC: a data reader and two descriptor fetches for each channel."""
    return ((tags - 3*count + 1, 1),)*count + ((1, 1),)*(2*count)


def test_seven_channels_share_evenly():
    figures = build(channels(7), tags=64, blocks=(1000, 1000))(active=7, **FLOOD)
    shares  = figures["bytes"][:7]
    assert sum(shares)**2/(7*sum(share**2 for share in shares)) >= 0.99


@pytest.mark.full
def test_one_of_seven_channels_reaches_what_a_single_one_does():
    alone   = build(channels(1), tags=64, blocks=(1000, 1000))(active=1, **FLOOD)["bytes"][0]
    seventh = build(channels(7), tags=64, blocks=(1000, 1000))(active=1, **FLOOD)["bytes"][0]
    assert seventh >= 0.98*alone
