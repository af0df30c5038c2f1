# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Simulates the real PHY classes without the vendors' IP: a platform for them, and a bench at the ports of the IP."""

from types import SimpleNamespace

from migen import ClockDomain, Constant, Module
from migen.genlib.cdc import MultiReg
from migen.genlib.record import Record
from litex.build.generic_platform import GenericPlatform, Pins
from litex.build.xilinx.common import xilinx_special_overrides

from litepcie_soc.phy.shapes import PHYShape
from litepcie_soc.soc.link import PCI_ID
from litepcie_soc.soc.soc import LitePCIeSoC
from litepcie_soc.tlp.completer_reads import NON_POSTED
from test.gateware.simulation import Stalls, Watch, accept, forever, simulate
from test.gateware.steps import pulse, wait


class Toolchain:
    def __init__(self):
        self.pre_synthesis_commands  = []
        self.pre_placement_commands  = []


class Platform(GenericPlatform):
    """The parts of a platform that a PHY uses."""
    def __init__(self, device="xc7a200t"):
        GenericPlatform.__init__(self, device, [("clk", 0, Pins(1))], name="board")
        self.toolchain = Toolchain()
        self.timing    = []

    def add_period_constraint(self, clk, period):
        self.timing.append(period)

    def add_source(self, *args):
        pass


def pads(lanes):
    return Record([("rst_n", 1), ("clk_p", 1), ("clk_n", 1), ("rx_p", lanes), ("rx_n", lanes), ("tx_p", lanes),
        ("tx_n", lanes)])

class PhySoC(LitePCIeSoC):
    """A SoC like that of a target: a clock, the PHY, `add_litepcie`."""
    def __init__(self, phy_class, lanes, data_width, **options):
        platform = Platform()
        LitePCIeSoC.__init__(self, platform, 250e6)
        self.cd_sys   = ClockDomain()
        self.comb    += self.cd_sys.clk.eq(platform.request("clk"))
        self.pcie_phy = phy_class(platform, pads(lanes), data_width=data_width)
        self.add_litepcie(self.pcie_phy, target="board", memory_size=1 << 16, pci_id=PCI_ID, **options)
        self.finalize()
        self.verilog  = platform.get_verilog(self, name="board", special_overrides=xilinx_special_overrides).main_source


class AroundTheIP(Module):
    """A PHY without the IP and its clock generation. The link is up, and the host takes any number of reads."""
    def __init__(self, phy):
        self.clock_domains.cd_sys  = ClockDomain()
        self.clock_domains.cd_pcie = phy.cd_pcie
        self.submodules           += [module for name, module in phy._submodules if name != "mmcm"]
        self.comb                 += phy._fragment.comb
        self.specials             += [special for special in phy._fragment.specials
            if isinstance(special, MultiReg) and special.odomain in ("sys", "pcie")]
        phy.pcie_phy_params["o_user_lnk_up"].reset = Constant(1)
        for name in {"o_pcie_tfc_nph_av", "o_cfg_fc_nph"} & {*phy.pcie_phy_params}:
            credits       = phy.pcie_phy_params[name]
            credits.reset = Constant(2**len(credits) - 1)


class Bench(AroundTheIP):
    """A PHY without the IP, with its `PHYShape`."""
    def __init__(self, phy):
        AroundTheIP.__init__(self, phy)
        self.submodules.shape = PHYShape(phy)
        self.phy              = phy
        self.ports            = phy.pcie_phy_params

    def axi(self, name):
        return axi(self.ports, name)


def axi(ports, name):
    """The signals of one AXI stream of the IP."""
    return SimpleNamespace(**{field: port for field in ("valid", "ready", "data", "keep", "last", "user")
        for port in (ports.get(f"{way}_{name}_t{field}") for way in "io") if port is not None})


def run(dut, in_sys, in_pcie, sys=80, pcie=80, phase=30, cycles=20000):
    """Simulates generators in both clocks. Periods and the phase of `pcie` are even numbers of any one unit."""
    simulate(dut, {"sys": in_sys, "pcie": in_pcie}, cycles=cycles,
        clocks={"sys": sys, "sys_link": sys, "pcie": (pcie, phase), "pcie_link": (pcie, phase)})


def wait_for(signal, value=1):
    while (yield signal) != value:
        yield


def until(condition):
    while not condition():
        yield


def send(port, packets, stalls):
    """Drives `packets` from the hard block to the card."""
    for packet in packets:
        for beat in packet:
            while stalls.next():
                yield port.valid.eq(0)
                yield
            yield port.valid.eq(1)
            yield [getattr(port, name).eq(value) for name, value in beat.items()]
            yield
            while not (yield port.ready):
                yield
    yield port.valid.eq(0)
    yield


def receive(port, take, stalls, gapless=True):
    """Receives the card's packets at the hard block. That of UltraScale accepts no gap inside a packet."""
    packet, cycle = [], 0
    while True:
        ready = not stalls.next()
        yield port.ready.eq(ready)
        yield
        cycle += 1
        valid = (yield port.valid)
        assert valid or not packet or not gapless, "tvalid deasserted within a packet"
        if ready and valid:
            names = ("data", "keep", "user", "last")
            beat  = dict(zip(names, (yield [getattr(port, name) for name in names])), cycle=cycle)
            assert beat["keep"], "an empty beat"
            packet.append(beat)
            if beat["last"]:
                take(packet)
                packet = []


def check_errors(dut, ports, **clocks):
    """Each of `ports` {error: signal at the block, or None} is asserted for a cycle for each of three errors."""
    seen = dict.fromkeys(filter(None, ports.values()), 0)
    def layer():
        yield from wait_for(dut.shape.link_up)
        for error, port in ports.items():
            before = dict(seen)
            for _ in range(3):
                yield from pulse(getattr(dut.shape.errors, error))
                yield from wait(20)
            assert seen == {name: before[name] + 3*(name == port) for name in seen}, error
    def watch():
        while True:
            for name in seen:
                seen[name] += yield dut.ports[name]
            yield
    run(dut, [layer()], [forever(watch())], **clocks)


def check_non_posted(dut, reads, others, decode, hand_over, may_read, also=()):
    """The block hands over `others` at any time, and as many reads as the completer can queue, and the other reads when
    that has completed some.

    hand_over : function of a TLP that returns a generator of the block; `decode` has the beats of a packet.
    may_read  : function that returns a generator of the block: whether it may hand over a read; `also`: further ones.
    """
    watches = [Watch(source, name=name) for name, source in
        (("requests", dut.shape.req_source), ("completions", dut.shape.cmp_source))]
    def got():
        return [decode(packet) for watch in watches for packet in watch.packets()]
    def block():
        left = list(reads), list(others)
        yield from wait_for(dut.shape.link_up)
        yield from wait(10)
        while any(left):
            kind = 0 if left[0] and (yield from may_read()) else 1
            if left[kind]:
                yield from hand_over(left[kind].pop(0))
            else:
                yield
    def layer():
        yield from until(lambda: len(got()) >= len(others) + 8)
        yield from wait(300)
        count = sum(tlp in reads for tlp in got())
        assert 8 <= count <= NON_POSTED and len(got()) == count + len(others)
        for n in range(len(reads)):
            yield from pulse(dut.shape.non_posted_taken)
            yield from wait(60)
            assert sum(tlp in reads for tlp in got()) - n - 1 <= NON_POSTED
        assert [tlp for tlp in got() if tlp in reads] == reads
    run(dut, [layer(), *[forever(watch.watch()) for watch in watches],
        *[forever(accept(watch.endpoint, Stalls(0.2, n))) for n, watch in enumerate(watches)]],
        [forever(block()), *map(forever, also)])
