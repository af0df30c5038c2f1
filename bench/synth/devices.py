#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Devices of the boards: their resources and the module name of their PCI Express hard block."""

from dataclasses import dataclass

# Module name of the hard block from Vivado's IP catalogue, by yosys' name of the family.
HARD_BLOCKS = {"xc7": "pcie_s7", "xcu": "pcie_us", "xcup": "pcie_usp"}


@dataclass(frozen=True)
class Device:
    """Resources of a device: ``family`` in yosys' names, LUTs of six inputs, flip-flops, RAMs of 36 kbit, DSPs."""
    family: str
    luts:   int
    ffs:    int
    brams:  int
    dsps:   int


# Xilinx DS180 (7-series), DS890 (UltraScale, UltraScale+), DS962, DS963 (Alveo).
DEVICES = {
    "xc7a35t":  Device("xc7",     20800,   41600,   50,   90),
    "xc7a100t": Device("xc7",     63400,  126800,  135,  240),
    "xc7a200t": Device("xc7",    134600,  269200,  365,  740),
    "xc7k325t": Device("xc7",    203800,  407600,  445,  840),
    "xcku040":  Device("xcu",    242400,  484800,  600, 1920),
    "xcvu9p":   Device("xcup",  1182240, 2364480, 2160, 6840),
    "xcu200":   Device("xcup",  1182240, 2364480, 2160, 6840),
    "xcu280":   Device("xcup",  1303680, 2607360, 2016, 9024),
}


def device_of(part):
    """Returns name and ``Device`` of a part in Vivado's names. Raises ``ValueError`` for an unknown part."""
    name = part.split("-")[0]
    if name not in DEVICES:
        raise ValueError(f"{name}: nothing is known of this device (bench/synth/devices.py)")
    return name, DEVICES[name]
