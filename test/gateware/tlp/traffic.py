#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The transaction layer in Verilog with random clients and a random host, driven by traffic.cpp."""

import json
import subprocess

from pathlib import Path

from migen import Module

from litepcie_soc.phy.sim import SimPHY
from litepcie_soc.tlp.layer import TransactionLayer

from test.gateware.verilate import to_verilog, verilate

BENCH = Path(__file__).with_suffix(".cpp")


class Dut(Module):
    """The layer on the simulation PHY at 64 bit and 1 MHz, with the ports of its clients at the top.

    ports  : (tags, reserve) of each client.
    blocks : completions that the PHY can buffer, with either RCB.
    """
    def __init__(self, ports, tags=32, blocks=(64, 64), quarantine_us=2**26):
        self.submodules.phy   = phy   = SimPHY(64)
        self.submodules.layer = layer = TransactionLayer(phy, 64, 1e6, tags, blocks, quarantine_us=quarantine_us)
        self.ports = set()
        for name in ("sink", "source"):
            self.add(f"phy_{name}", getattr(phy, name), ["dat", "be", "first", "last"])
        for name in ("id", "link_up", "bus_master_enable", "extended_tag"):
            self.name(f"phy_{name}", getattr(phy, name))
        for name in ("timeout_us", "abandon", "drained", "rcb_128"):
            self.name(name, getattr(layer, name))
        for n, (most, reserve) in enumerate(ports):
            port = layer.add_read_port(f"port{n}", most, reserve=reserve)
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
