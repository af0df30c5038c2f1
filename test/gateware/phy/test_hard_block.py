#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Around the PHYs of LitePCIe 2024.12 themselves: as far as goes without the vendors' tools."""

import random
import re

from types import SimpleNamespace

import pytest

from migen import ClockDomain, ClockDomainsRenamer, Module
from migen.genlib.record import Record

from litepcie.phy.c5pciephy import C5PCIEPHY
from litepcie.phy.s7pciephy import S7PCIEPHY
from litepcie.phy.uspciephy import USPCIEPHY
from litepcie.phy.usppciephy import USPHBMPCIEPHY, USPPCIEPHY
from litex.build.generic_platform import GenericPlatform, Pins
from litex.build.xilinx.common import xilinx_special_overrides

from litepcie_soc.phy.hard_block import completion_buffer_bytes
from litepcie_soc.phy.shapes import PHYShape
from litepcie_soc.phy.sim import SimPHY
from litepcie_soc.soc.soc import LitePCIeSoC
from litepcie_soc.tlp.issue import BLOCK_BYTES

from test.gateware.common import Stalls, TLP, Watch, accept, forever, memory_read, memory_write, simulate
from test.gateware.phy.test_framing import RawBlock

# Platform -----------------------------------------------------------------------------------------

class Toolchain:
    def __init__(self):
        self.pre_synthesis_commands  = []
        self.pre_placement_commands  = []


class Platform(GenericPlatform):
    """As much of a platform as a PHY asks for."""
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


def make(phy_class, lanes, data_width, **options):
    bar0 = {} if phy_class is C5PCIEPHY else {"bar0_size": 0x200000}
    return phy_class(Platform(), pads(lanes), data_width=data_width, **bar0, **options)


# Whole SoC ----------------------------------------------------------------------------------------

class Board(LitePCIeSoC):
    """As a target is made: a clock, the PHY, `add_litepcie`."""
    def __init__(self):
        platform = Platform()
        LitePCIeSoC.__init__(self, platform, 125e6)
        self.cd_sys   = ClockDomain()
        self.comb    += self.cd_sys.clk.eq(platform.request("clk"))
        self.pcie_phy = S7PCIEPHY(platform, pads(4), data_width=128, bar0_size=0x200000)
        self.add_litepcie(self.pcie_phy, target="board", gen=2, lanes=4, memory_size=1 << 16)


def test_soc_around_the_phy():
    """Everything elaborates to Verilog; what the layer looks for is there and is what it must be."""
    soc = Board()
    soc.finalize()
    verilog = soc.platform.get_verilog(soc, name="board", special_overrides=xilinx_special_overrides).main_source
    shape   = soc.tlp.shape
    assert (shape.endianness, shape.split, shape.data_width) == ("big", False, 128)
    assert shape.id is soc.pcie_phy.id and len(shape.id) == 16
    assert shape.msi is not soc.pcie_phy.msi and hasattr(shape.hard_block, "order")
    assert re.search(r"^pcie_s7 ", verilog, flags=re.MULTILINE)
    assert soc.constants["CONFIG_PCIE_COMPLETION_BUFFER_BYTES"] == completion_buffer_bytes(soc.pcie_phy)

# Wiring -------------------------------------------------------------------------------------------

class Wiring(Module):
    """PHY and shape without the hard block and its clocks: what is at the instance's ports drives the streams."""
    def __init__(self, phy):
        self.ports = phy.pcie_phy_params
        self.submodules.shape = PHYShape(phy)
        self.submodules += [module for name, module in vars(phy).items() if name.endswith("_datapath")]
        self.comb += phy._fragment.comb


def wire(phy_class, lanes, data_width):
    wiring = Wiring(make(phy_class, lanes, data_width, cd="pcie"))
    return ClockDomainsRenamer({"pcie": "sys"})(wiring)


def axis(ports, name, way):
    """One AXI stream of the hard block as an endpoint's fields."""
    other = {"o": "i", "i": "o"}[way]
    signal = {field: ports[f"{way}_{name}_t{field}"] for field in ("valid", "data", "keep", "last", "user")
        if f"{way}_{name}_t{field}" in ports}
    return SimpleNamespace(ready=ports[f"{other}_{name}_tready"], **signal)


def drive_axis(port, beats):
    for beat in beats:
        yield port.valid.eq(1)
        for name, value in beat.items():
            yield getattr(port, name).eq(value)
        yield
        while not (yield port.ready):
            yield
    yield port.valid.eq(0)


def both(dut, tlps, generators, data_width, endianness):
    """Requests and completions that come out of the shape while `generators` run."""
    watches = [Watch(source, name=name) for name, source in
        (("requests", dut.shape.req_source), ("completions", dut.shape.cmp_source))]

    def until_done():
        yield dut.shape.link_up.eq(1)
        while sum(len(watch.packets()) for watch in watches) < tlps:
            yield

    simulate(dut, [until_done(), *[forever(g) for g in generators], *[forever(watch.watch()) for watch in watches],
        *[forever(accept(watch.endpoint, Stalls(0.2, n))) for n, watch in enumerate(watches)]], cycles=4000)
    return [[TLP.from_beats(packet, data_width, endianness) for packet in watch.packets()] for watch in watches]


def from_host(rng):
    return [TLP(fmt=2, type=0b01010, length=n % 19 + 1, byte_count=4, tag=n, data=rng.randbytes(4*(n % 19 + 1)))
        if n % 3 else memory_write(0x1000 + 4*n, rng.randbytes(4*n + 4)) if n % 2 else memory_read(64*n, 4)
        for n in range(60)]


@pytest.mark.parametrize("lanes, data_width", [(1, 64), (4, 128)])
def test_7_series_receives(lanes, data_width):
    """With `first` made from `last`, and straddled TLPs at 128 bit."""
    rng  = random.Random(1)
    sent = from_host(rng)
    dut  = wire(S7PCIEPHY, lanes, data_width)
    port = axis(dut.ports, "m_axis_rx", "o")
    if data_width == 128:
        beats = [{"data": dat, "user": sof << 10 | eof << 17} for dat, sof, eof in RawBlock(sent, 1, rng).beats]
    else:
        beats = [{"data": beat["dat"], "last": beat["last"], "keep": beat["be"]}
            for tlp in sent for beat in tlp.beats(64, "big")]
    requests, completions = both(dut, len(sent), [drive_axis(port, beats)], data_width, "big")
    assert requests == [tlp for tlp in sent if not tlp.is_completion]
    assert completions == [tlp for tlp in sent if tlp.is_completion]


def test_7_series_extended_tag_is_device_control_bit_8():
    dut     = wire(S7PCIEPHY, 4, 128)
    control = dut.ports["o_cfg_dcommand"]

    def check():
        for value, enabled in ((0x100, 1), (0xfeff, 0)):
            yield control.eq(value)
            for _ in range(4):
                yield
            assert (yield dut.shape.extended_tag) == enabled

    simulate(dut, [check()])

# What cannot be -----------------------------------------------------------------------------------

@pytest.mark.parametrize("phy, message", [
    (lambda: make(C5PCIEPHY, 4, 64), "C5PCIEPHY aligns payload to 64 bits: not supported"),
    (lambda: make(USPCIEPHY, 8, 256), "USPCIEPHY loses addresses, .* take UltraScalePHY or UltraScalePlusPHY"),
    (lambda: make(USPPCIEPHY, 16, 512), "USPPCIEPHY loses addresses, .* take UltraScalePHY or UltraScalePlusPHY"),
    (lambda: make(S7PCIEPHY, 4, 64, pcie_data_width=128), "S7PCIEPHY: pcie_data_width must be data_width, 64, not 128"),
])
def test_phys_that_cannot_be_used(phy, message):
    with pytest.raises(ValueError, match=message):
        PHYShape(phy())

# Completion Buffers -------------------------------------------------------------------------------

@pytest.mark.parametrize("phy_class, lanes, data_width, headers, data", [
    (S7PCIEPHY,  4, 128, 72, 13600), (S7PCIEPHY, 8, 128, 72, 5920),
    (USPCIEPHY,  8, 256, 64, 15872), (USPPCIEPHY, 8, 256, 128, 32768), (USPHBMPCIEPHY, 8, 256, 128, 32768),
])
def test_completion_buffers(phy_class, lanes, data_width, headers, data):
    """As many completions of 64 bytes as are outstanding at most fit in headers and in data."""
    blocks = completion_buffer_bytes(make(phy_class, lanes, data_width))//BLOCK_BYTES
    assert blocks == headers and 64*blocks <= data


def test_completion_buffer_of_a_phy_that_is_not_known():
    assert completion_buffer_bytes(SimPHY(64)) == 32768
    with pytest.raises(ValueError, match="completion_buffer_bytes of object is not known: give it"):
        completion_buffer_bytes(object())
