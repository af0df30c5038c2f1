#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""PCI identity of a card in configuration space, one for each FPGA family.

The numbers and their reasons:

- Vendor is the maker of the silicon: 0x10ee, the default of the hard blocks, or 0x1204 for ECP5. The PCI-SIG would have
  to allocate another vendor. Vivado also resets the device number of a block when its vendor changes.
- Device 0x1ce1..0x1ce5, one for each family. The defaults of the hard blocks (0x70xx, 0x80xx, 0x90xx by generation and
  lanes) are in every unchanged design with such a block. Drivers that match vendor and device only (XDMA, QDMA, stock
  LitePCIe) bind to every such card.
- Subsystem 0x1234:0x1ce0 marks every card of this project, including the simulated one. Vendor 0x1234 is not allocated,
  so no product uses it. The driver compares all four numbers and then the magic register, so it binds to cards of this
  project only.
- Class 0x058000, "memory controller, other", describes the card to the host. No driver matches this class.

A product needs numbers of its own here and in the driver's table (``software/kernel/pci.c``). A test compares both.
"""

from litepcie_soc.common import abi
from litepcie_soc.soc.link import PCI_ID

# Identities ---------------------------------------------------------------------------------------

# Vendor and device by family.
IDS = {
    "artix7":          (0x10ee, 0x1ce1),
    "kintex7":         (0x10ee, 0x1ce2),
    "ultrascale":      (0x10ee, 0x1ce3),
    "ultrascale_plus": (0x10ee, 0x1ce4),
    "ecp5":            (0x1204, 0x1ce5),
}

FAMILIES = ("sim", *IDS)

REVISION_ID = 0x00


def pci_id(family):
    """Returns the identity of a family with the keys of ``soc.PCI_ID``. Raises ``ValueError`` for an unknown family."""
    if family not in FAMILIES:
        raise ValueError(f"family must be one of {', '.join(FAMILIES)}, not {family!r}")
    if family == "sim":
        return dict(PCI_ID)
    vendor, device = IDS[family]
    return {**PCI_ID, "vendor_id": vendor, "device_id": device}


def soft_identity(pci_id):
    """Returns an identity with the names of ``SoftPHY``'s parameters."""
    return {name.removesuffix("_id"): value for name, value in pci_id.items()}

# Hard Blocks --------------------------------------------------------------------------------------

# Property names in Vivado's IP: pcie_7x (PG054); pcie3_ultrascale (PG156) and pcie4_uscale_plus (PG213).
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
    """Returns the entries for ``update_config()`` of a LitePCIe PHY: PCI identity and size of BAR0.

    pci_id : identity from ``pci_id()``.
    family : "artix7", "kintex7", "ultrascale" or "ultrascale_plus". Raises ``ValueError`` for another family.

    Vivado's properties are hexadecimal digits without a prefix; the size of BAR0 is decimal.
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
    """Sets the identity of ``family`` in a LitePCIe PHY before it is finalised, and returns the identity."""
    phy.identity = identity = pci_id(family)
    phy.update_config(phy_config(identity, family))
    # UltraScale's block reads the subsystem vendor from a port and ignores its property.
    if "i_cfg_subsys_vend_id" in phy.pcie_phy_params:
        phy.pcie_phy_params["i_cfg_subsys_vend_id"] = identity["subsystem_vendor_id"]
    return identity
