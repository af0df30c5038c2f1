#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The Verilog of the stack against the root port of the simulator (sim/src/lane), which shares no code with it."""

import shutil
import subprocess

from pathlib import Path

import pytest

from migen import *

from litex.gen import *
from litex.gen.fhdl.verilog import convert

from litex.soc.interconnect import stream

from litepcie_soc.phy.soft.lcrc    import WORD
from litepcie_soc.phy.soft.stack   import Stack
from litepcie_soc.phy.soft.symbols import SerDesInterface

from test.gateware.verilate import verilate

HERE  = Path(__file__).resolve().parent
SIM   = HERE.parents[3] / "sim" / "src"
KINDS = "posted", "nonposted", "completion"
FREED = "free_ph", "free_pd", "free_nph", "free_npd"
EVENTS = "lcrc_error", "dllp_error", "nak_sent", "nak_received", "replay", "timeout", "protocol_error"

pytestmark = pytest.mark.skipif(not shutil.which("verilator"), reason="verilator is not installed")


class Top(LiteXModule):
    """The stack with ports whose names the bench knows."""

    def __init__(self):
        self.serdes = SerDesInterface("serdes")
        self.stack  = stack = Stack(self.serdes)
        layer       = stack.data_link
        sinks       = [stream.Endpoint(WORD, name=kind) for kind in KINDS]
        received    = stream.Endpoint(WORD, name="received")
        freed       = [Signal(len(getattr(layer, name)), name=name) for name in FREED]
        dl_up       = Signal(name="dl_up")
        state       = Signal(4, name="state")
        events      = Signal(8, name="events")
        self.ports  = {dl_up, state, events, *freed, *self.serdes.flatten(),
            *[signal for endpoint in (*sinks, received) for signal in endpoint.flatten()]}

        # # #

        self.comb += [
            [one.connect(other) for one, other in zip(sinks, layer.sinks)],
            layer.source.connect(received),
            [getattr(layer, name).eq(signal) for name, signal in zip(FREED, freed)],
            dl_up.eq(stack.dl_up),
            state.eq(stack.link.ltssm.state),
            events.eq(Cat(*[getattr(layer, name) for name in EVENTS], stack.link.overflow)),
        ]


@pytest.fixture(scope="session")
def bench():
    """Function (seed, runs, tlps, errors_every, recoveries) that returns the counts of all runs."""
    top        = Top()
    top.cd_sys = ClockDomain("sys")
    verilog    = convert(top.get_fragment(), {*top.ports, top.cd_sys.clk, top.cd_sys.rst}, name="top")
    sources    = [*sorted((SIM / "lane").glob("*")), *(SIM / "link" / name for name in
        ("tlp.h", "tlp.cpp", "flow_control.h"))]
    model = verilate({
        "top.v": verilog.main_source,
        **{str(path.relative_to(SIM)): path.read_text() for path in sources},
        **{name: (HERE / name).read_text() for name in ("endpoint.h", "root_port_bench.cpp")},
    }, optimise="-O2")

    def run(seed=1, runs=1, tlps=6, errors_every=0, recoveries=0):
        words  = [seed, runs, tlps, errors_every, recoveries]
        result = subprocess.run([model.path, *map(str, words)], capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr
        found  = result.stdout.split()
        return {name: int(value) for name, value in zip(found[::2], found[1::2])}
    return run


def test_random_links_train(bench):
    """1024 TS1 and all times; alignment, swapped wires, drift, SKP sets, pauses and link numbers are random."""
    counts = bench(runs=200)
    assert counts["added"] and counts["removed"] and counts["longest"] < 60_000
    assert counts["early"] == 0
    assert counts["lcrc"] == counts["dllp"] == counts["recoveries"] == 0


def test_tlps_over_damaged_symbols_and_recoveries(bench):
    counts = bench(seed=1000, runs=6, tlps=150, errors_every=2000, recoveries=2)
    assert min(counts[name] for name in ("injected", "recoveries", "lcrc", "replays_down", "replays_up")) > 0
