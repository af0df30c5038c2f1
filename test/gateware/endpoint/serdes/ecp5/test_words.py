# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Words of the DCU against the parameters that yosys knows, and pads of platforms."""

import re

import pytest
from litex.build.generic_platform import Pins, Subsignal
from litex_boards.platforms import lattice_versa_ecp5, trellisboard

from litepcie_soc.endpoint.serdes.ecp5.pads import LANES, REFCLK, check_device, check_pads, pins_of, reaches_fabric
from litepcie_soc.endpoint.serdes.ecp5.words import ANALOGUE, MODES, check_words, dcu_words, in_bitstream, number
from test.gateware.endpoint.serdes.ecp5.simulator import primitive

# Parameters that nextpnr ignores, and those that are for other uses: 0 in the bitstream.
UNUSED = {"PROTOCOL", "TXAMPLITUDE", "TXDEPRE", "TXDEPOST", "CDR_MAX_RATE", "INVERT_RX", "INVERT_TX",
    "PRBS_SELECTION", "PRBS_LOCK", "PRBS_ENABLE", "GE_AN_ENABLE", "LEQ_OFFSET_SEL", "LEQ_OFFSET_TRIM"}


def library_words():
    return set(re.findall(r"parameter (\w+)", primitive("DCUA")))


@pytest.mark.parametrize("channel", [0, 1])
@pytest.mark.parametrize("analogue", ANALOGUE)
def test_every_word_of_block_and_channel_is_set(channel, analogue):
    expected = {name for name in library_words() if not name.startswith(f"CH{1 - channel}_")} \
        - {f"CH{channel}_{name}" for name in UNUSED} - {"D_TX_MAX_RATE"}
    assert set(dcu_words(channel, analogue=analogue)) == expected


@pytest.mark.parametrize("mode, differ", [("pcie", set()),
    ("ctc",  {"CTC_BYPASS", "SEL_SD_RX_CLK"}),
    ("no-gear", {"RX_GEAR_MODE", "TX_GEAR_MODE", "FF_RX_H_CLK_EN", "FF_RX_F_CLK_DIS", "FF_TX_H_CLK_EN",
        "FF_TX_F_CLK_DIS"}),
    ("raw",  {"UC_MODE", "PCIE_MODE", "LSM_DISABLE", "ENC_BYPASS", "DEC_BYPASS", "WA_BYPASS", "ENABLE_CG_ALIGN"})])
def test_words_of_modes(mode, differ):
    usual, words = dcu_words(), dcu_words(mode=mode)
    assert set(usual) == set(words)
    assert {name.removeprefix("CH0_") for name in usual if usual[name] != words[name]} == differ
    assert mode in MODES


def test_words_for_another_family():
    check_words("LFE5UM-45F-8BG381C", "sample")
    check_words("LFE5UM5G-45F-8BG381C", "luna")
    with pytest.raises(ValueError, match="^LFE5UM-45F-8BG381C is not an LFE5UM5G, for which these words are$"):
        check_words("LFE5UM-45F-8BG381C", "luna")


def test_numbers_of_words():
    assert [number(word) for word in ("0b101", "0x17c", "0d19")] == [5, 0x17c, 19]
    shown = in_bitstream(dcu_words())
    assert shown["CH0_UDF_COMMA_A"] == 0x283 and shown["CH0_RTERM_TX"] == 19 and "CH0_PCIE_EI_EN" not in shown


@pytest.mark.parametrize("options, message", [
    ({"channel": 2}, "channel 2 is not supported; a DCU has channels 0 and 1"),
    ({"analogue": "best"}, "analogue words 'best' are not known; choose wizard, sample, litesata, luna"),
    ({"mode": "fast"}, f"mode 'fast' of the SerDes is not known; choose {', '.join(MODES)}")])
def test_wrong_choices_of_words(options, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        dcu_words(**options)


def test_pads_of_the_versa_are_those_of_dcu0_channel_0():
    check_pads(lattice_versa_ecp5.Platform())
    check_pads(lattice_versa_ecp5.Platform(device="LFE5UM"))


@pytest.mark.parametrize("dcu, channel", [place for place in LANES["BG381"] if place != (0, 0)])
def test_pads_of_another_channel_are_refused(dcu, channel):
    with pytest.raises(ValueError, match=f"pads pcie_x1 are not those of DCU{dcu} channel {channel}: .*rx_p is Y5"):
        check_pads(lattice_versa_ecp5.Platform(), dcu=dcu, channel=channel)


def test_each_wrong_or_missing_pad_is_named():
    right = {"clk_p": "Y11", "clk_n": "Y12", "rx_p": "Y5", "rx_n": "Y6", "tx_p": "W4", "tx_n": "W5"}
    for pad in right:
        for pin in ("A1", None):
            platform = lattice_versa_ecp5.Platform()
            pins     = {**right, pad: pin}
            platform.add_extension([("wrong", 0, *(Subsignal(n, Pins(p)) for n, p in pins.items() if p))])
            with pytest.raises(ValueError, match=f": {pad} is {pin or 'missing'} instead of {right[pad]}$"):
                check_pads(platform, "wrong")
    with pytest.raises(ValueError, match="the platform has no pcie_x4"):
        check_pads(lattice_versa_ecp5.Platform(), "pcie_x4")


def test_pads_of_the_larger_package():
    """TrellisBoard's clock and first lane. The second lane of its pin table has receiver and transmitter swapped."""
    table  = pins_of(trellisboard.Platform(), "pcie_x2")
    assert REFCLK["BG756"][0] == (table["clk_p"], table["clk_n"])
    assert LANES["BG756"][0, 0] == {name: table[name] for name in ("rx_p", "rx_n", "tx_p", "tx_n")}
    platform = trellisboard.Platform()
    platform.add_extension([("second", 0, *(Subsignal(name, Pins(pin)) for name, pin in {"clk_p": "AM14",
        "clk_n": "AM15", "rx_p": "AK12", "rx_n": "AK13", "tx_p": "AM11", "tx_n": "AM12"}.items()))])
    with pytest.raises(ValueError, match="^pads second are not those of DCU0 channel 1: rx_p is AK12 instead of AM11"):
        check_pads(platform, "second", channel=1)


def test_from_where_the_reference_clock_reaches_the_fabric():
    """As nextpnr-ecp5 0.11.1.0.post826 routes it."""
    for device, dcu, reaches in (("LFE5UM5G-45F-8BG381C", 0, True), ("LFE5UM-45F-8BG381C", 0, True),
        ("LFE5UM5G-45F-8BG381C", 1, False), ("LFE5UM-25F-8BG381C", 0, False), ("LFE5UM5G-85F-8BG756C", 0, False)):
        assert reaches_fabric(device, dcu) == reaches, (device, dcu)


@pytest.mark.parametrize("device, dcu, message", [
    ("LFE5U-45F-8BG381C",    0, "LFE5U-45F-8BG381C has no SerDes; choose an LFE5UM or LFE5UM5G"),
    ("LFE5UM5G-45F-6BG381C", 0, "LFE5UM5G-45F-6BG381C does not exist: LFE5UM5G has speed grade 8 only"),
    ("LFE5UM-25F-8BG381C",   1, "LFE5UM-25F-8BG381C has no DCU1; choose DCU0"),
    ("LFE5UM-85F-8BG554C",   0, "the pins of the SerDes in the package of LFE5UM-85F-8BG554C are not known; "
                                "choose BG381 or BG756")])
def test_devices_that_cannot_carry_a_link(device, dcu, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        check_device(device, dcu)
