# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

import re
from pathlib import Path

import pytest
from litex_boards.platforms import sqrl_acorn, sqrl_xcu1525, xilinx_kc705, xilinx_kcu105

from litepcie_soc.board import identity
from litepcie_soc.common import abi
from litepcie_soc.phy.series7 import Series7PHY
from litepcie_soc.phy.ultrascale.phy import UltraScalePHY, UltraScalePlusPHY

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
