# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Designs of the endpoint in Verilog, with benches in C++ of this folder and of the simulator (sim/src)."""

import shutil
import subprocess
from pathlib import Path

import pytest
from migen import *
from litex.gen import *

from litepcie_soc.endpoint.phy              import SoftPHY
from litepcie_soc.endpoint.serdes.interface import SerDesInterface
from litepcie_soc.tlp.layer                 import TransactionLayer
from test.gateware.verilate                 import to_verilog, verilate

HERE = Path(__file__).resolve().parent
SIM  = HERE.parents[2] / "sim" / "src"
SCAN = ("root/scan.h", "root/scan.cpp")
LINK = [SIM / name for name in ("tlp/tlp.h", "tlp/tlp.cpp", "link/flow_control.h")]

needs_verilator = pytest.mark.skipif(not shutil.which("verilator"), reason="verilator is not installed")


class Card(LiteXModule):
    """PHY and transaction layer, without an engine. Its only ports are those of the SerDes."""
    def __init__(self, timeout_us, **options):
        self.serdes  = SerDesInterface("serdes")
        self.ports   = {*self.serdes.flatten()}
        self.cd_pcie = ClockDomain()
        self.phy     = phy = SoftPHY(self.serdes, vendor=0x1204, device=0x1ce5, subsystem_vendor=0x1234,
            subsystem_device=0x1ce0, class_code=0x058000, bar0_size=0x200000)
        self.layer   = layer = TransactionLayer(phy, 64, 125e6, **options)

        # # #

        self.comb += [self.cd_pcie.clk.eq(ClockSignal("sys")), self.cd_pcie.rst.eq(ResetSignal("sys")),
            layer.window_write.ready.eq(1), layer.timeout_us.eq(timeout_us)]
        # A function level reset ends at once.
        self.sync += phy.function_reset_done.eq(phy.function_reset & ~phy.function_reset_done)


def compiled(make, names, folders=(), optimise="-O1"):
    """Returns a function (arguments, input) that runs the bench, and returns its exit status and its output.

    make    : function that returns the design, whose attribute ``ports`` is a set, without its clock ``sys``.
    names   : files of this folder or of the simulator; folders: those of the simulator that the bench needs whole.
    """
    _, verilog = to_verilog(make, lambda top: top.ports)
    sources = [path for folder in folders for path in sorted((SIM / folder).glob("*"))] + LINK*bool(folders)
    files   = {str(path.relative_to(SIM)): path.read_text() for path in sources}
    files  |= {name: ((SIM if "/" in name else HERE) / name).read_text() for name in names}
    model   = verilate({"top.v": verilog.main_source, **files}, optimise=optimise)
    def run(*words, text=None):
        result = subprocess.run([model.path, *map(str, words)], input=text, capture_output=True, text=True)
        return result.returncode, result.stdout + result.stderr
    return run


def passes(program):
    """Returns a function (arguments) that runs a bench, which must succeed, and returns the lines of its output."""
    def run(*words, text=None):
        status, output = program(*words, text=text)
        assert status == 0, f"{' '.join(map(str, words))}: exit status {status}\n{output}"
        return output.splitlines()
    return run


def numbers(line):
    """Returns {name: number} of a line of names and numbers."""
    words = line.split()
    return {name: int(value) for name, value in zip(words[::2], words[1::2])}
