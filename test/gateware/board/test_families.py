# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Parts of the boards of each family, and targets of litex-boards with the card."""

from dataclasses import replace
from importlib import import_module

import pytest
from migen import Module, Signal
from litex_boards.platforms import sqrl_acorn, xilinx_kc705

from litepcie_soc.board import ultrascale
from litepcie_soc.board.attach import add_phy
from litepcie_soc.board.board import Configuration, Flash, link_widths
from litepcie_soc.board.constraints import link_pads
from litepcie_soc.board.ecp5 import state_leds
from litepcie_soc.board.series7 import USER_CLOCKS, series7_phy
from litepcie_soc.common.link_rates import data_path_rate, link_rate
from litepcie_soc.endpoint.physical.states import STATE_BITS, State
from litepcie_soc.phy.ultrascale.phy import USER_CLOCKS as ULTRASCALE_CLOCKS
from litepcie_soc.soc import regs
from litepcie_soc.soc.soc import add_litepcie
from test.gateware.simulation import simulate

def make(gen, lanes, width):
    platform = xilinx_kc705.Platform()
    return series7_phy(platform, link_pads(platform, lanes), Configuration(gen, lanes, width, 125e6, 64))


@pytest.mark.parametrize("gen, lanes, width", USER_CLOCKS)
def test_block_is_what_the_link_needs(gen, lanes, width):
    phy  = make(gen, lanes, width)
    mhz  = USER_CLOCKS[gen, lanes, width]
    assert (phy.nlanes, phy.data_width, phy.pcie_data_width) == (lanes, width, width)
    assert (phy.gen, phy.max_tags) == (gen, 256)
    assert phy.config == {
        "Bar0_Size":              2,
        "mode_selection":         "Advanced",
        "AER_Enabled":            True,
        "AER_Completion_Timeout": True,
        "Link_Speed":             {1: "2.5_GT/s", 2: "5.0_GT/s"}[gen],
        "Trgt_Link_Speed":        {1: "4'h1", 2: "4'h2"}[gen],
        "User_Clk_Freq":          mhz,
        "Extended_Tag_Field":     True,
        "MSI_64b":                True}
    # The block's own side is 64 bit wide: userclk1 carries there what the user clock carries outside.
    freqs = [freq for _, freq, *_ in phy.mmcm.clkouts.values()]
    assert freqs == [125e6, 250e6, mhz * 1e6 * width / 64, mhz * 1e6]


@pytest.mark.parametrize("lanes, rx", [(1, ["B10"]), (2, ["B10", "B8"]), (4, ["B10", "B8", "D11", "D9"])])
def test_lanes_are_the_first_of_the_wider_link(lanes, rx):
    platform = sqrl_acorn.Platform()
    pads     = link_pads(platform, lanes)
    assert (len(pads.rx_p), len(pads.tx_n)) == (lanes, lanes)
    pins = {id(signal): names for signal, names, *_ in platform.constraint_manager.get_sig_constraints()}
    assert pins[id(pads.rx_p)] == rx
    assert pins[id(pads.rst_n)] == ["J1"]


def test_links_widest_first():
    found = link_widths(ultrascale.USER_CLOCKS, (4, 8, 16), {125: 125e6, 250: 200e6})
    assert {link: list(widths.items()) for link, widths in found.items()} == {
        (3, 4): [(256, 125e6), (128, 200e6)], (3, 8): [(256, 200e6)], (3, 16): [(512, 200e6)]}


def test_every_user_clock_carries_its_link():
    for (gen, lanes, width), mhz in ULTRASCALE_CLOCKS.items():
        assert data_path_rate(width, mhz*1e6) >= link_rate(gen, lanes)


def test_time_to_read_a_bitstream():
    flash = Flash(rate=50, volts=3.3, bitstream=9_730_652)
    assert flash.report(flash.bitstream) == \
        "from flash the FPGA takes 389 ms (calculated: 9730652 bytes, 4 bits at 50 MHz)"
    assert not any("SPI_32BIT_ADDR" in command for command in flash.bitstream_commands)
    assert any("SPI_32BIT_ADDR YES" in command for command in replace(flash, mbytes=32).bitstream_commands)


def test_leds_tell_the_states_apart():
    """No two states look alike, and one that blinks is dark half of the time."""
    module = Module()
    state, heartbeat, lit = Signal(STATE_BITS), Signal(), Signal(4)
    module.comb += lit.eq(state_leds(state, heartbeat))
    seen = {}
    def look():
        for number in range(2**STATE_BITS - 1):
            yield state.eq(number)
            shown = []
            for beat in (0, 1):
                yield heartbeat.eq(beat)
                yield
                yield
                shown.append((yield lit))
            seen[number] = tuple(shown)
    simulate(module, [look()])
    assert len(set(seen.values())) == len(seen) > max(State)
    assert all(shown == (number, number) for number, shown in seen.items() if number < 16)
    assert all(shown == (0, number - 15) for number, shown in seen.items() if number >= 16)


def add_card(soc, family, lanes, width):
    """Both calls of docs/in-your-litex-soc.md."""
    phy = add_phy(soc, family, gen=2, lanes=lanes, data_width=width, sites=("X0Y6", "X0Y4", "X0Y5", "X0Y7"))
    add_litepcie(soc, phy, user_bus=True)


@pytest.mark.full
@pytest.mark.parametrize("name, family, lanes, width", [
    ("numato_tagus", "artix7", 1, 64), ("numato_aller", "artix7", 4, 128)])
def test_a_target_of_litex_boards(name, family, lanes, width):
    soc = import_module(f"litex_boards.targets.{name}").BaseSoC(sys_clk_freq=125e6, cpu_type="None", with_uart=False)
    add_card(soc, family, lanes, width)
    soc.finalize()
    assert regs.moved(soc) == []
    assert "sdram" in soc.csr.regions and "pcie" in soc.bus.masters
    assert soc.constants["CONFIG_PCIE_SUBSYSTEM_DEVICE_ID"] == 0x1ce0
    assert (soc.constants["CONFIG_PCIE_GEN"], soc.constants["CONFIG_PCIE_LANES"]) == (2, lanes)
    assert "add_litepcie" not in vars(type(soc))
    assert f"module {name} (" in soc.platform.get_verilog(soc, name=name).main_source


@pytest.mark.parametrize("family, gen, message", [
    ("zynq",   2, "family 'zynq' is not supported; choose artix7, kintex7, ultrascale, ultrascale_plus"),
    ("artix7", 3, "Gen3 x4 with 128 bits is not supported by artix7; choose Gen1 x1 with 64, ")])
def test_a_link_that_no_block_has(family, gen, message):
    with pytest.raises(ValueError, match=message):
        add_phy(None, family, gen=gen, lanes=4, data_width=128)
