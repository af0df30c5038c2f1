#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Names of signals with our trace_back, which is faster than Migen's, are those with Migen's."""

import re

from migen import ClockDomain
from migen.fhdl import tracer

from litex.gen.fhdl.verilog import convert

from litepcie_soc.build.numbering import numbered_alike

from test.gateware.dma.test_verilog import engine
from test.tracing import MIGEN


def verilog():
    with numbered_alike():
        unit = engine("reader", 64)
        unit.clock_domains.cd_sys = ClockDomain("sys")
        return re.sub(r"(?m)^ *//.*$", "", str(convert(unit, {unit.cd_sys.clk}, name="engine")))


def test_the_same_names(monkeypatch):
    ours = verilog()
    monkeypatch.setattr(tracer, "trace_back", MIGEN)
    assert verilog() == ours
    assert len(set(re.findall(r"descriptorring_\w+", ours))) > 100
