#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What a card says in configuration space before anybody has read its registers: one identity for each FPGA family.

The numbers, and why:

- Vendor 0x10ee is who made the silicon, and the hard blocks' default. Another vendor would have to be allocated by the
  PCI-SIG first; and Vivado resets a block's device number when its vendor changes.
- Device 0x1ce1..0x1ce4, one for each family, and not the hard blocks' defaults (0x70xx, 0x80xx, 0x90xx by generation
  and lanes): these are in each untouched design with such a block, and drivers that go by vendor and device alone
  (XDMA's, QDMA's, stock LitePCIe's) take every card that has them.
- Subsystem 0x1234:0x1ce0, the mark of this project on every card, the simulated one included. Vendor 0x1234 is not
  allocated, so no card that is sold has it by right. The driver compares all four numbers and then the magic register:
  it takes a card of this project or none.
- Class 0x058000, "memory controller, other": what the card is to the host, and a class no driver goes by.

Who ships a product puts numbers of their own here and in the driver's table (``software/kernel/pci.c``), which a test
compares with this file.
"""

from litepcie_soc.common import abi
from litepcie_soc.soc.soc import PCI_ID

# Identities ---------------------------------------------------------------------------------------

VENDOR_ID = 0x10ee

DEVICE_IDS = {
    "artix7":          0x1ce1,
    "kintex7":         0x1ce2,
    "ultrascale":      0x1ce3,
    "ultrascale_plus": 0x1ce4,
}

FAMILIES = ("sim", *DEVICE_IDS)

REVISION_ID = 0x00


def pci_id(family):
    """Identity of ``family``'s cards, with the keys of ``soc.PCI_ID``; ``ValueError`` if it is none of ``FAMILIES``."""
    if family not in FAMILIES:
        raise ValueError(f"family must be one of {', '.join(FAMILIES)}, not {family!r}")
    if family == "sim":
        return dict(PCI_ID)
    return {**PCI_ID, "vendor_id": VENDOR_ID, "device_id": DEVICE_IDS[family]}

# Hard Blocks --------------------------------------------------------------------------------------

# Vivado's names of the same things in its IP: pcie_7x (PG054); pcie3_ultrascale (PG156) and pcie4_uscale_plus (PG213).
_KEYS_7SERIES = {
    "vendor":        "Vendor_ID",
    "device":        "Device_ID",
    "revision":      "Revision_ID",
    "subsys_vendor": "Subsystem_Vendor_ID",
    "subsys_device": "Subsystem_ID",
    "class_base":    "Class_Code_Base",
    "class_sub":     "Class_Code_Sub",
    "class_if":      "Class_Code_Interface",
    "bar0_scale":    "Bar0_Scale",
    "bar0_size":     "Bar0_Size",
}
_KEYS_ULTRASCALE = {
    "vendor":        "vendor_id",
    "device":        "PF0_DEVICE_ID",
    "revision":      "PF0_REVISION_ID",
    "subsys_vendor": "PF0_SUBSYSTEM_VENDOR_ID",
    "subsys_device": "PF0_SUBSYSTEM_ID",
    "class_base":    "pf0_class_code_base",
    "class_sub":     "pf0_class_code_sub",
    "class_if":      "pf0_class_code_interface",
    "bar0_scale":    "pf0_bar0_scale",
    "bar0_size":     "pf0_bar0_size",
}
_KEYS = {
    "artix7":          _KEYS_7SERIES,
    "kintex7":         _KEYS_7SERIES,
    "ultrascale":      _KEYS_ULTRASCALE,
    "ultrascale_plus": _KEYS_ULTRASCALE,
}


def phy_config(pci_id, family):
    """Entries for a LitePCIe PHY's ``update_config()``: who the card is and BAR0's size.

    pci_id : as ``pci_id()`` gives it.
    family : "artix7", "kintex7", "ultrascale" or "ultrascale_plus"; ``ValueError`` on another.

    Numbers are hexadecimal digits without a prefix, as Vivado's properties have them, but for the size of BAR0, which
    is decimal.
    """
    if family not in _KEYS:
        raise ValueError(f"family must be one of {', '.join(_KEYS)}, not {family!r}")
    class_code = pci_id["class_code"]
    values = {
        "vendor":        f"{pci_id['vendor_id']:04X}",
        "device":        f"{pci_id['device_id']:04X}",
        "revision":      f"{REVISION_ID:02X}",
        "subsys_vendor": f"{pci_id['subsystem_vendor_id']:04X}",
        "subsys_device": f"{pci_id['subsystem_device_id']:04X}",
        "class_base":    f"{class_code >> 16:02X}",
        "class_sub":     f"{class_code >> 8 & 0xff:02X}",
        "class_if":      f"{class_code & 0xff:02X}",
        "bar0_scale":    "Megabytes",
        "bar0_size":     abi.BAR0_SIZE >> 20,
    }
    return {_KEYS[family][name]: value for name, value in values.items()}


def identify(phy, family):
    """Gives a LitePCIe PHY, before it is finalised, the identity of ``family``; returns it as ``pci_id()`` does."""
    identity = pci_id(family)
    phy.update_config(phy_config(identity, family))
    # UltraScale's block takes the subsystem's vendor from a port, whatever its configuration says.
    if "i_cfg_subsys_vend_id" in phy.pcie_phy_params:
        phy.pcie_phy_params["i_cfg_subsys_vend_id"] = identity["subsystem_vendor_id"]
    return identity
