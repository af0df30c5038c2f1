# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""DDR designs of boards, with only the clocks, and a port of LiteDRAM's crossbar."""

from migen import ClockDomain, Module, ResetSignal, Signal

from litex.soc.cores.clock import S7MMCM

from litedram.common import PHYPadsReducer

from litepcie_soc.ddr.ddr3 import DDRClocks, Series7DDR3
from litepcie_soc.ddr.ddr4 import DDR_CLK_FREQ, UltraScaleDDR4, UltraScaleDDRClocks


class DDR(Module):
    """Base of the designs below. The ports are in the clock domain of the memory controller.

    Ports, of the top
    -----------------
    done        : 1, **out**, the training is done, and the controller is out of reset.
    failed      : one bit per byte of the bus, **out**.
    command_*   : ``valid``, ``ready``, ``we``, ``addr``; a command accesses a line, eight beats of the bus.
    write_*     : ``valid``, ``ready``, ``data``, ``we`` (one bit per byte), in the order of the commands.
    read_*      : ``valid``, ``data``, in the order of the commands.
    """
    def add_ports(self, crossbar, domain, trained, failed):
        port, done = crossbar.get_port(), Signal()
        self.line  = port.data_width
        self.words = port.address_width
        ports = {"done": done, "failed": failed}
        for name, stream in (("command", port.cmd), ("write", port.wdata), ("read", port.rdata)):
            for field, *_ in stream.description.payload_layout:
                ports[f"{name}_{field}"] = getattr(stream, field)
            ports[f"{name}_valid"] = stream.valid
            if name != "read":
                ports[f"{name}_ready"] = stream.ready
        for name, signal in ports.items():
            signal.name_override = name
        self.comb += [done.eq(trained & ~ResetSignal(domain)), port.rdata.ready.eq(1)]
        self.ports = set(ports.values())


class Series7(DDR):
    """DDR3 of a board: its platform, module, sys_clk_freq and family. used: bytes of the bus; all if None."""
    def __init__(self, platform, module, sys_clk_freq, kintex7, used=None):
        self.clock_domains.cd_sys = cd_sys = ClockDomain("sys")
        self.submodules.pll = pll = S7MMCM(speedgrade=-2 if kintex7 else -3)
        pll.register_clkin(Signal(), 200e6)
        pads      = platform.request("ddram")
        self.pads = pads if used is None else PHYPadsReducer(pads, used)
        self.submodules.clocks = clocks = DDRClocks(pll, cd_sys, sys_clk_freq, with_dqs=not kintex7)
        chips = module(sys_clk_freq, "1:4")
        self.submodules.ddr    = ddr = Series7DDR3(self.pads, chips, sys_clk_freq, clocks, kintex7)
        self.clk_freq = sys_clk_freq
        self.add_ports(ddr.crossbar, "sys", clocks.trained, ddr.failed)


class UltraScale(DDR):
    """DDR4 of a board: its platform, oscillator, module, family, and whether the module is an RDIMM."""
    def __init__(self, platform, clkin_freq, module, plus, registered=False):
        self.pads = platform.request("ddram", 0)
        self.submodules.clocks = clocks = UltraScaleDDRClocks(Signal(), clkin_freq, plus)
        self.submodules.ddr    = ddr = UltraScaleDDR4(self.pads, module(DDR_CLK_FREQ, "1:4"), clocks, plus, registered)
        self.clk_freq = DDR_CLK_FREQ
        self.clock_domains.cd_sys = cd_sys = ClockDomain("sys", reset_less=True)  # For the CSR ``training``.
        self.comb += cd_sys.clk.eq(clocks.cd_ddr.clk)
        self.add_ports(ddr.crossbar, ddr.clock_domain, clocks.trained, ddr.failed)
