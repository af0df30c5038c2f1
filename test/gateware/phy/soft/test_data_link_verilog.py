#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The Verilog of the data link layer behaves like Migen's simulation of it, in every cycle."""

import random
import shutil

import pytest

from migen import Record

from litepcie_soc.phy.soft.data_link import DataLink

from test.gateware.phy.soft.bench import Bench, random_tlps
from test.gateware.phy.soft.test_data_link_faults import FAULTS, Injector
from test.gateware.verilog import Recorder, replay


def ports(dut):
    """(inputs, outputs) of a data link."""
    names = (["link_up", "active", "mps", "free_ph", "free_pd", "free_nph", "free_npd"], ["retrain", "dl_up",
        "power_seen", "lcrc_error", "dllp_error", "nak_sent", "nak_received", "replay", "timeout", "protocol_error",
        "malformed"])
    inputs, outputs = ([getattr(dut, name) for name in group] for group in names)
    for stream, into in [(dut.rx, True), (dut.tx, False), (dut.source, False), (dut.power, True),
            *[(sink, True) for sink in dut.sinks]]:
        rest     = [signal for signal in Record.flatten(stream) if signal is not stream.ready]
        inputs  += rest if into else [stream.ready]
        outputs += [stream.ready] if into else rest
    return inputs, outputs


@pytest.mark.full
@pytest.mark.skipif(not shutil.which("verilator"), reason="verilator is not installed")
def test_verilog_is_what_was_simulated(tmp_path):
    rng   = random.Random(1)
    bench = Bench(random_tlps(rng, 60), fault=Injector(list(FAULTS), 0.1, 1), stalls=0.3)
    bench.partner.tlps.extend(random_tlps(rng, 60))
    recorder = Recorder(*ports(bench.dut))
    parts    = bench.parts
    bench.parts = lambda: [*parts(), recorder.watch()]
    bench.run()
    assert bench.counts["replay"]
    replay(tmp_path, DataLink, ports, recorder)
