#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Example TLPs of the integration sheet: the host reads MAGIC and the core completes the request (PCIe 4.0 2.2)."""

from dataclasses import dataclass

from litepcie_soc.common import abi
from litepcie_soc.common.pcie import FMT_TYPE_CPLD, FMT_TYPE_MRD_32

BAR0      = 0xfe000000
REQUESTER = 0x0008
COMPLETER = 0x0300

# Beats --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Beat:
    """One beat at the PHY boundary."""
    dat: int
    be: int
    first: int
    last: int


def beats(dwords, data_width):
    """Returns the beats of a TLP, which is a list of dwords."""
    lanes  = data_width // 32
    pieces = [dwords[n:n + lanes] for n in range(0, len(dwords), lanes)]
    return [Beat(
        dat   = sum(dword << 32 * n for n, dword in enumerate(piece)),
        be    = (1 << 4 * len(piece)) - 1,
        first = int(piece is pieces[0]),
        last  = int(piece is pieces[-1]),
    ) for piece in pieces]

# TLPs ---------------------------------------------------------------------------------------------


def example_read():
    """Returns a MRd of one dword with tag 0 and all byte enables."""
    return [FMT_TYPE_MRD_32 << 24 | 1, REQUESTER << 16 | 0x0f, BAR0 + abi.IDENTITY_BASE]


def example_answer(endianness):
    """Returns a CplD of one dword: successful, 4 bytes."""
    wire = abi.MAGIC.to_bytes(4, "little")
    return [FMT_TYPE_CPLD << 24 | 1, COMPLETER << 16 | 4, REQUESTER << 16, int.from_bytes(wire, endianness)]
