# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""A design has the same Verilog however many designs the process has made before it."""

from migen import Module, Signal
from litex.build.sim              import SimPlatform
from litex.gen                    import LiteXContext
from litex.gen.fhdl.verilog       import convert
from litex.soc.integration.soc_core import SoCMini

from litepcie_soc.build.numbering import numbered_alike


def verilog():
    """Ports of one name: LiteX numbers them in the order of a set."""
    ports = [Signal(8, name="port") for _ in range(9)]
    dut   = Module()
    dut.comb += [port.eq(n) for n, port in enumerate(ports)]
    return "".join(line for line in convert(dut, set(ports), name="top").main_source.splitlines(True)
        if not line.startswith("//"))


def test_a_design_is_the_same_each_time():
    found = set()
    for n in range(20):
        [Signal() for _ in range(n)]
        with numbered_alike():
            found.add(verilog())
    assert len(found) == 1


class Part(Module):
    def __init__(self):
        self.value = Signal(8)


def names_of_parts():
    parts = [Part() for _ in range(2)]
    return [part.value.backtrace[-2:] for part in parts]


def test_modules_of_a_class_are_counted_anew():
    first = names_of_parts()
    assert names_of_parts() != first
    with numbered_alike():
        inside = names_of_parts()
    with numbered_alike():
        assert names_of_parts() == inside
    assert names_of_parts() != first


def test_the_hierarchy_of_an_earlier_soc_is_not_in_the_text(monkeypatch):
    monkeypatch.setattr(LiteXContext, "top", SoCMini(SimPlatform("SIM", [], toolchain="verilator"), 125e6))
    assert "SoCMini" in verilog()
    with numbered_alike():
        assert "SoCMini" not in verilog()
    assert "SoCMini" in verilog()
