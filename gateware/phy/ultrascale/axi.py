#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The AXI streams of UltraScale's hard blocks: their layout, and what they cost.

Four interfaces: requester request (RQ) and completer completion (CC) to the host, completer request (CQ) and requester
completion (RC) of it. A TLP is a descriptor and its payload, dword by dword behind it ("Dword-aligned mode"), payload
bytes in memory order. Sources: PG156 4.4 (UltraScale) and PG213 1.3 (UltraScale+), "AXI4-Stream Interface Description";
the bits of `tuser` are in the tables "Sideband Signals" of each interface, those of 512 bit in tables of their own.

512 bit is used without straddle: each TLP begins in a beat of its own. A write of 256 bytes takes five beats of 64 for
its 272, so at 250 MHz writes end at 12.8 GB/s of the 14.4 that Gen3 x16 could carry; one of 512 takes nine (14.2 of
15.0). Completions of 256 bytes take five (12.8 of 14.6), of 128 three (10.7 of 13.6), of 64 two (8.0 of 12.0 GB/s).
At 128 and 256 bit there is no straddle but on RC (256 bit), where it is switched off, at the same rates of filling.
"""

from litex.soc.interconnect import stream

# Layout -------------------------------------------------------------------------------------------

BLOCK_WIDTHS   = (64, 128, 256, 512)  # Of the hard blocks.
ADAPTER_WIDTHS = (128, 256, 512)      # Of the adapters: a descriptor in one beat.

# Bits of `tuser`: UltraScale, UltraScale+, UltraScale+ at 512 bit.
USER_BITS = {
    "rq": (60, 62, 137),
    "rc": (75, 75, 161),
    "cq": (85, 88, 183),
    "cc": (33, 33,  81),
}


def axi_layout(interface, data_width, plus):
    """Beats of an interface: `dat`, `keep` (a bit a dword), `user` (`tuser`).

    Parameters
    ----------
    interface  : "rq", "rc", "cq" or "cc".
    data_width : int, bits.
    plus       : bool, UltraScale+.

    Raises ValueError for a width the blocks do not have.
    """
    if data_width not in BLOCK_WIDTHS:
        raise ValueError(f"data_width must be one of {BLOCK_WIDTHS}, not {data_width!r}")
    return stream.EndpointDescription([
        ("dat",  data_width),
        ("keep", data_width//32),
        ("user", USER_BITS[interface][2 if data_width == 512 else int(plus)]),
    ])


def check_adapter(data_width):
    """Raises ValueError for a width (bits) in which a descriptor takes more than one beat."""
    if data_width not in ADAPTER_WIDTHS:
        raise ValueError(f"data_width must be one of {ADAPTER_WIDTHS}, not {data_width!r}")


def dwords(dat, count=4):
    """The first dwords of a beat."""
    return [dat[32*n:32*n + 32] for n in range(count)]
