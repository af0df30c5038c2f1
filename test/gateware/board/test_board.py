# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The options that a board supports, the names of its configurations, and its identity."""

import re
from pathlib import Path

import pytest
from litex_boards.platforms import sqrl_acorn, sqrl_xcu1525, xilinx_kc705, xilinx_kcu105

from litepcie_soc.board import identity, series7
from litepcie_soc.board.board import Board, Memory, link_widths
from litepcie_soc.board.user_options import UserOptions
from litepcie_soc.common import abi
from litepcie_soc.phy.series7 import Series7PHY
from litepcie_soc.phy.ultrascale.phy import UltraScalePHY, UltraScalePlusPHY

CLOCKS = {125: 125e6, 250: 200e6}


def make(**what):
    defaults = {
        "title":      "Some Board",
        "family":     "kintex7",
        "platform":   None,
        "links":      link_widths(series7.USER_CLOCKS, (1, 4), CLOCKS),
        "link":       (2, 4),
        "memory":     Memory(1 << 20, 1 << 30, "DDR3"),
        "programmer": None}
    return Board("some_board", **{**defaults, **what})


def test_links_of_the_7_series_widest_first():
    found = link_widths(series7.USER_CLOCKS, (1, 2, 4, 8), CLOCKS)
    assert {link: list(widths.items()) for link, widths in found.items()} == {
        (1, 1): [(64, 125e6)], (1, 2): [(64, 125e6)], (1, 4): [(64, 125e6)], (1, 8): [(128, 125e6), (64, 200e6)],
        (2, 1): [(64, 125e6)], (2, 2): [(64, 125e6)], (2, 4): [(128, 125e6), (64, 200e6)], (2, 8): [(128, 200e6)]}


def test_every_user_clock_carries_its_link():
    for (gen, lanes, width), mhz in series7.USER_CLOCKS.items():
        assert mhz * width / 8 * 1e6 >= gen * 250e6 * lanes


@pytest.mark.parametrize("options, name", [
    ({},                                                 "some_board_gen2_x4_128"),
    ({"lanes": 1, "dma_channels": 2},                    "some_board_gen2_x1_64_2ch"),
    ({"tags": 32, "sys_clk_freq": 100e6},                "some_board_gen2_x4_128_tags32_100mhz"),
    ({"sys_clk_freq": 133.3e6},                          "some_board_gen2_x4_128_133p3mhz"),
    ({"sys_clk_freq": 125e6, "tags": 64},                "some_board_gen2_x4_128"),
    ({"lower_address_bits": 7},                          "some_board_gen2_x4_128_lower7"),
    ({"dma_channels": 0, "user": UserOptions(streams=7, patterns=2, interrupts=True)},
                                                         "some_board_gen2_x4_128_0ch_streams7_patterns2_interrupts"),
    ({"user": UserOptions(0, 0, True, True, True), "retry_link": True},
                                                         "some_board_gen2_x4_128_user_retry"),
    ({"with_ddr": True, "dma_channels": 7, "lanes": 1, "with_litescope": True},
                                                         "some_board_gen2_x1_64_ddr_7ch_litescope")])
def test_name_says_what_is_not_default(options, name):
    board = make()
    assert board.configure(**options).name(board) == name


def test_memory_is_that_of_the_choice():
    board = make(memory=Memory(1 << 20, 1 << 30, "DDR4", ddr_rate=10e9))
    plain, ddr = board.configure(), board.configure(with_ddr=True)
    assert (board.memory_size(plain), board.memory_rate(plain)) == (1 << 20, None)
    assert (board.memory_size(ddr), board.memory_rate(ddr)) == (1 << 30, 10e9)


SOME = {"memory": Memory(1 << 16), "devices": {"big": 200e6, "slow": 75e6}, "refclks": (100e6, 200e6),
    "links": {(1, 1): {64: 100e6}}, "link": (1, 1)}


@pytest.mark.parametrize("options, clock, name", [
    ({},                                          100e6, "some_board_gen1_x1_64"),
    ({"device": "slow"},                           75e6, "some_board_gen1_x1_64_slow"),
    ({"device": "slow", "sys_clk_freq": 60e6},     60e6, "some_board_gen1_x1_64_60mhz_slow"),
    ({"refclk": 200e6, "seed": 3},                100e6, "some_board_gen1_x1_64_refclk200_seed3"),
    ({"sys_clk_freq": 125e6, "device": "big"},    125e6, "some_board_gen1_x1_64_125mhz")])
def test_device_reference_clock_and_seed(options, clock, name):
    board  = make(**SOME)
    choice = board.configure(**options)
    assert (choice.sys_clk_freq, choice.name(board)) == (clock, name)


def wants_fast(device, analogue):
    if analogue == "fast" and device != "big":
        raise ValueError(f"--analogue fast is not supported with --device {device}")


SERDES = {**SOME, "analogues": ("usual", "fast"), "serdes_modes": ("hard", "no-gear"), "check_analogue": wants_fast}


def test_words_and_use_of_the_serdes():
    board = make(**SERDES)
    names = [board.configure(**options).name(board) for options in ({}, {"analogue": "fast"}, {"serdes": "no-gear"})]
    assert names == [f"some_board_gen1_x1_64{more}" for more in ("", "_fast", "_nogear")]
    assert make(**SOME).configure().serdes == ""


@pytest.mark.parametrize("board, options, message", [
    ({}, {"gen": 3},        "--gen 3 is not supported; Some Board has Gen1 x1, Gen1 x4, Gen2 x1, Gen2 x4"),
    ({}, {"lanes": 8},      "--lanes 8 is not supported at Gen2; Some Board has Gen1 x1, Gen1 x4, Gen2 x1, Gen2 x4"),
    ({}, {"lanes": 1, "data_width": 128}, "--data-width 128 is not supported at Gen2 x1; choose 64"),
    ({}, {"dma_channels": 0}, "--dma-channels 0 is not supported; choose 1 to 7, or 0 with --streams"),
    ({}, {"dma_channels": 8}, "--dma-channels 8 is not supported; choose 1 to 7, or 0 with --streams"),
    ({}, {"dma_channels": 3, "user": UserOptions(streams=5)},  "--streams 5 is not supported with --dma-channels 3; "
        "Some Board has 7 channels of both kinds, so choose 0 to 4"),
    ({}, {"user": UserOptions(streams=-1)},                    "--streams -1 is not supported with --dma-channels 1; "
        "Some Board has 7 channels of both kinds, so choose 0 to 6"),
    ({}, {"user": UserOptions(streams=1, patterns=2)}, "--patterns 2 is not supported with --streams 1; "
        "choose at most 1"),
    ({}, {"tags": 0},       "--tags 0 is not supported; choose 32 or 64"),
    ({}, {"tags": 128},     "--tags 128 is not supported; choose 32 or 64"),
    ({}, {"sys_clk_freq": 0.0},   "--sys-clk-freq 0 is not supported; choose 50e6 to 250e6 Hz"),
    ({}, {"sys_clk_freq": 300e6}, "--sys-clk-freq 300e6 is not supported; choose 50e6 to 250e6 Hz"),
    ({}, {"device": "tiny"},      "--device tiny is not supported; Some Board has one device"),
    ({"ddr_clocks": (100e6, 100e6)}, {"with_ddr": True, "sys_clk_freq": 125e6},
        "--sys-clk-freq 125e6 is not supported with --with-ddr; choose 100e6 to 100e6 Hz"),
    (SOME, {"device": "small"},   "--device small is not supported; Some Board has big or slow"),
    (SOME, {"refclk": 50e6},      "--refclk 50e6 is not supported; choose 100e6 or 200e6"),
    (SOME, {"seed": 0},           "--seed 0 is not supported; choose 1 or more"),
    (SOME, {"device": "slow", "sys_clk_freq": 100e6}, "--sys-clk-freq 100e6 is not supported; choose 50e6 to 75e6 Hz"),
    (SOME, {"with_ddr": True}, "--with-ddr is not supported; the memory of Some Board is 64 KiB of block RAM"),
    (SERDES, {"analogue": "odd"}, "--analogue odd is not supported; choose usual, fast"),
    (SERDES, {"serdes": "odd"},   "--serdes odd is not supported; choose hard, no-gear"),
    (SERDES, {"analogue": "fast", "device": "slow"}, "--analogue fast is not supported with --device slow")])
def test_what_cannot_be_is_one_line(board, options, message):
    with pytest.raises(ValueError) as error:
        make(**board).configure(**options)
    assert str(error.value) == message


def test_the_family_says_why_there_is_no_such_device():
    def check(name):
        raise ValueError(f"{name} does not exist")
    with pytest.raises(ValueError, match="^tiny does not exist$"):
        make(**SOME, check_part=check).configure(device="tiny")


def test_clock_with_ddr_is_the_memorys():
    board = make(ddr_clocks=(100e6, 100e6))
    assert board.configure(with_ddr=True).sys_clk_freq == 100e6
    assert board.configure().sys_clk_freq == 125e6


DRIVER = Path(__file__).resolve().parents[3] / "software/kernel/pci.c"

PHYS = {
    "artix7":          lambda: (sqrl_acorn,    Series7PHY,         "pcie_x4", {"data_width": 128}),
    "kintex7":         lambda: (xilinx_kc705,  Series7PHY,         "pcie_x4", {"data_width": 128}),
    "ultrascale":      lambda: (xilinx_kcu105, UltraScalePHY,     "pcie_x4", {"data_width": 128}),
    "ultrascale_plus": lambda: (sqrl_xcu1525,  UltraScalePlusPHY, "pcie_x4", {"data_width": 128})}


def numbers(family):
    known = identity.pci_id(family)
    return tuple(known[f"{name}_id"] for name in ("vendor", "device", "subsystem_vendor", "subsystem_device"))


def test_every_family_is_told_from_every_other():
    assert set(identity.FAMILIES) == {"sim", *PHYS, "ecp5"}
    assert len({numbers(family) for family in identity.FAMILIES}) == len(identity.FAMILIES)
    with pytest.raises(ValueError, match="family must be one of sim, artix7.*not 'virtex4'"):
        identity.pci_id("virtex4")
    for family in ("sim", "ecp5"):
        with pytest.raises(ValueError, match=f"family must be one of artix7.*not '{family}'"):
            identity.phy_config(identity.pci_id(family), family)


def test_ecp5_has_the_number_of_its_maker():
    assert numbers("ecp5") == (0x1204, 0x1ce5, 0x1234, 0x1ce0)
    assert identity.soft_identity(identity.pci_id("ecp5")) == {"vendor": 0x1204, "device": 0x1ce5,
        "subsystem_vendor": 0x1234, "subsystem_device": 0x1ce0, "class_code": 0x058000}


def test_no_number_is_a_default_of_the_hard_blocks():
    """XDMA's driver takes vendor 10ee with any of these device IDs and with any subsystem."""
    for family in PHYS:
        vendor, device, *subsystem = numbers(family)
        assert vendor == 0x10ee and device >> 12 not in (0x7, 0x8, 0x9, 0xb)
        assert subsystem != [0x10ee, 0x0007]


def test_the_driver_knows_every_identity_and_no_other():
    table = re.findall(r"PCI_DEVICE_SUB\((0x\w{4}), (0x\w{4}), (0x\w{4}), (0x\w{4})\)", DRIVER.read_text())
    assert [tuple(int(number, 16) for number in entry) for entry in table] == [
        numbers(family) for family in identity.FAMILIES]
    assert "MODULE_DEVICE_TABLE(pci, litepcie_ids);" in DRIVER.read_text()


@pytest.mark.parametrize("family", PHYS)
def test_the_hard_block_is_made_with_it(family):
    """Returns the settings that LitePCIe's PHY writes for Vivado."""
    board, phy_class, pads, arguments = PHYS[family]()
    platform = board.Platform()
    phy      = phy_class(platform, platform.request(pads), bar0_size=abi.BAR0_SIZE, **arguments)
    assert identity.identify(phy, family) == identity.pci_id(family)
    phy.finalize()
    script = "\n".join(map(str, platform.toolchain.pre_synthesis_commands))
    config = {name.upper(): value for name, value in re.findall(r"CONFIG\.(\w+) \{\{(\w*)\}\}", script)}
    prefix, subsystem = ("", "SUBSYSTEM_") if phy_class is Series7PHY else ("PF0_", "PF0_SUBSYSTEM_")
    expected = {
        "VENDOR_ID":                     "10EE",
        f"{prefix}DEVICE_ID":            f"{identity.IDS[family][1]:04X}",
        f"{prefix}REVISION_ID":          "00",
        f"{subsystem}VENDOR_ID":         "1234",
        f"{subsystem}ID":                "1CE0",
        f"{prefix}CLASS_CODE_BASE":      "05",
        f"{prefix}CLASS_CODE_SUB":       "80",
        f"{prefix}CLASS_CODE_INTERFACE": "00",
        f"{prefix}BAR0_SCALE":           "Megabytes",
        f"{prefix}BAR0_SIZE":            "2"}
    assert {name: config.get(name) for name in expected} == expected
    if phy_class is UltraScalePHY:
        assert phy.pcie_phy_params["i_cfg_subsys_vend_id"] == 0x1234
