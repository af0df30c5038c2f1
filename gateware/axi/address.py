#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Address channels of an AXI4 slave: what a burst reaches, and whether AXI4 allows it (ARM IHI 0022, A3.4.1)."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream
from litex.soc.interconnect.axi import BURST_FIXED, BURST_INCR, BURST_RESERVED, BURST_WRAP

# Constants ----------------------------------------------------------------------------------------

PAGE_BITS = 12  # No burst crosses a multiple of 4 KiB.
SIZE_MAX  = 7   # AxSIZE of 128 bytes, the largest one that there is.

# Layouts ------------------------------------------------------------------------------------------


def burst_layout(id_width, address_width):
    """A burst of which the slave knows what it reaches. ``spot``, ``low`` and ``mask`` are those of ``next_beat``."""
    return [
        ("id",      id_width),
        ("address", address_width),  # Of the lowest byte that the burst reaches.
        ("bytes",   PAGE_BITS + 1),  # That it reaches; 0 if it is bad.
        ("len",     8),              # Beats, less one.
        ("spot",    PAGE_BITS),      # Address of the first beat in its page.
        ("low",     SIZE_MAX),       # Bytes of a beat, less one.
        ("mask",    PAGE_BITS),      # Bits of the address that change from beat to beat.
        ("bad",     1),              # AXI4 does not allow the burst, or its beats are wider than the data.
    ]


def next_beat(place, low, mask):
    """Expression: the address of the beat after the one at ``place``, in the same page."""
    return (place & ~mask) | (((place | low) + 1) & mask)

# Burst Checker ------------------------------------------------------------------------------------


class BurstChecker(LiteXModule):
    """Takes a burst from an address channel every four cycles.

    Parameters
    ----------
    channel    : ``aw`` or ``ar`` of an ``AXIInterface``.
    data_width : bits of the data.

    Attributes
    ----------
    source : Endpoint(burst_layout), **out**.
    """
    def __init__(self, channel, data_width):
        self.source = source = stream.Endpoint(burst_layout(len(channel.id), len(channel.addr)))

        # # #

        size  = Signal(3)
        burst = Signal(2)
        start = Signal.like(channel.addr)
        span  = Signal(9 + SIZE_MAX)    # Bytes of all beats.
        inner = Signal(SIZE_MAX)        # Place of the first byte in its beat.
        end   = Signal(10 + SIZE_MAX)   # Of an INCR burst in its page.
        wraps = Signal()                # The length of a WRAP burst is allowed.
        block = Signal(PAGE_BITS)       # Bytes of all beats, less one, of a WRAP burst.
        self.comb += [
            inner.eq(start & source.low),
            end.eq((start[:PAGE_BITS] & ~source.low) + span),
            block.eq(span - 1),
            wraps.eq(Reduce("OR", [source.len == beats - 1 for beats in (2, 4, 8, 16)])),
        ]
        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            channel.ready.eq(1),
            NextValue(start, channel.addr),
            NextValue(size,  channel.size),
            NextValue(burst, channel.burst),
            NextValue(source.id,  channel.id),
            NextValue(source.len, channel.len),
            If(channel.valid, NextState("SPAN"))
        )
        fsm.act("SPAN",
            NextValue(span, (source.len + 1) << size),
            NextValue(source.low, (1 << size) - 1),
            NextState("CHECK")
        )
        fsm.act("CHECK",
            NextValue(source.spot, start),
            NextValue(source.address, start),
            NextValue(source.bad, size > log2_int(data_width // 8)),
            Case(burst, {
                BURST_FIXED: [
                    NextValue(source.mask, 0),
                    NextValue(source.bytes, source.low - inner + 1),
                ],
                BURST_INCR: [
                    NextValue(source.mask, 2**PAGE_BITS - 1),
                    NextValue(source.bytes, span - inner),
                    If(end > 1 << PAGE_BITS, NextValue(source.bad, 1)),
                ],
                BURST_WRAP: [
                    NextValue(source.mask, block),
                    NextValue(source.bytes, span),
                    NextValue(source.address, start & ~block),
                    If(~wraps | (inner != 0), NextValue(source.bad, 1)),
                ],
                BURST_RESERVED: NextValue(source.bad, 1),
            }),
            NextState("GIVE")
        )
        fsm.act("GIVE",
            source.valid.eq(1),
            If(source.ready, NextState("IDLE"))
        )
