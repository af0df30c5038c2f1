#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Layouts of the AXI streams of UltraScale's hard blocks.

A block has four interfaces. Requester request (RQ) and completer completion (CC) carry TLPs to the host; completer
request (CQ) and requester completion (RC) carry TLPs of the host. A TLP is a descriptor, followed by its payload
without padding ("Dword-aligned mode"); payload bytes are in memory order. Sources: PG156 4.4 (UltraScale) and PG213 1.3
(UltraScale+), "AXI4-Stream Interface Description". The tables "Sideband Signals" of each interface list the bits of
`tuser`; 512 bits has separate tables.

On RC at 256 and 512 bits several completions may share a beat (`straddle.py`). Everywhere else each TLP begins in a
new beat, and the rest of a TLP's last beat is unused. Behind the aligner this holds for completions too. The table
shows the resulting limit at 512 bits and 250 MHz, compared with the limit of a Gen3 x16 link:

    TLP                       beats   limit of the interface   limit of the link
    write of 256 bytes        5       12.8 GB/s                14.4 GB/s
    write of 512 bytes        9       14.2 GB/s                15.0 GB/s
    completion of 256 bytes   5       12.8 GB/s                14.6 GB/s
    completion of 128 bytes   3       10.7 GB/s                13.6 GB/s
    completion of 64 bytes    2        8.0 GB/s                12.0 GB/s

The fraction of each beat that is used at other widths follows from the same calculation.
"""

from litex.soc.interconnect import stream

# Layout -------------------------------------------------------------------------------------------

BLOCK_WIDTHS   = (64, 128, 256, 512)  # Bits of the hard blocks.
ADAPTER_WIDTHS = (128, 256, 512)      # Bits of the adapters, which need a whole descriptor in one beat.

# Bits of `tuser`: UltraScale, UltraScale+ below 512 bits, UltraScale+ at 512 bits.
USER_BITS = {
    "rq": (60, 62, 137),
    "rc": (75, 75, 161),
    "cq": (85, 88, 183),
    "cc": (33, 33,  81),
}


def axi_layout(interface, data_width, plus):
    """Beats of an interface: `dat`, `keep` (one bit per dword), `user` (`tuser`).

    Raises ValueError for a width that the blocks do not have.

    Parameters
    ----------
    interface  : "rq", "rc", "cq" or "cc".
    data_width : int, bits.
    plus       : bool, UltraScale+.
    """
    if data_width not in BLOCK_WIDTHS:
        raise ValueError(f"data_width {data_width!r} is not supported; choose 64, 128, 256 or 512")
    return stream.EndpointDescription([
        ("dat",  data_width),
        ("keep", data_width//32),
        ("user", USER_BITS[interface][2 if data_width == 512 else int(plus)]),
    ])


def check_adapter(data_width):
    """Raises ValueError unless a descriptor fits in one beat of `data_width` bits."""
    if data_width not in ADAPTER_WIDTHS:
        raise ValueError(f"data_width {data_width!r} is not supported here; choose 128, 256 or 512")


def dwords(dat, count=4):
    """List of the first `count` dwords of a beat."""
    return [dat[32*n:32*n + 32] for n in range(count)]
