#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Header fields of the completions of a read of BAR0."""

from migen import *

from litex.gen import *

# Constants ----------------------------------------------------------------------------------------

# Completions of a read end at multiples of this, the Read Completion Boundary of an endpoint (PCIe 4.0 2.3.1.1). It is
# also the smallest Max_Payload_Size (PCIe 4.0 7.5.3.4), so that a completion never exceeds the one in force.
COMPLETION_DWORDS = 32

# Read Span ----------------------------------------------------------------------------------------

class ReadSpan(LiteXModule):
    """Length, byte count and lower address of the completions of a read (PCIe 4.0 tables 2-36, 2-37), pipelined.

    Attributes
    ----------
    single            : Signal(), **in**, the request has one dword.
    first_be, last_be : Signal(4), **in**, byte enables of the request; like `single`, stable for two cycles.
    left              : Signal(11), **in**, dwords of the request that remain, those of the next completion included.
    dword             : Signal(30), **in**, address of the first of them in dwords.
    first             : Signal(), **in**, none was completed before.
    dwords            : Signal(6), **out**, after one cycle, length of the next completion.
    byte_count        : Signal(12), **out**, after one cycle; 1 for a zero-length read.
    lower             : Signal(2), **out**, after one cycle, bits 1:0 of the lower address of the first completion.
    """
    def __init__(self):
        self.single     = Signal()
        self.left       = Signal(11)
        self.dword      = Signal(30)
        self.first      = Signal()
        self.dwords     = Signal(max=COMPLETION_DWORDS + 1)
        self.first_be   = Signal(4)
        self.last_be    = Signal(4)
        self.byte_count = Signal(12)
        self.lower      = Signal(2)

        # # #

        tail_be  = Signal(4)  # Byte enables of the last dword.
        disabled = Signal(2)  # Bytes of the last dword after its last enabled byte.
        upto     = Signal.like(self.dwords)  # Dwords up to the boundary.
        self.comb += upto.eq(COMPLETION_DWORDS - self.dword[:log2_int(COMPLETION_DWORDS)])
        self.comb += tail_be.eq(Mux(self.single, self.first_be, self.last_be))
        self.sync += [
            Case(self.first_be, {
                **{be: self.lower.eq((be & -be).bit_length() - 1) for be in range(1, 16)},
                "default": self.lower.eq(0),
            }),
            Case(tail_be, {
                **{be: disabled.eq(4 - be.bit_length()) for be in range(1, 16)},
                "default": disabled.eq(3),
            }),
            self.dwords.eq(Mux(self.left < upto, self.left, upto)),
            self.byte_count.eq(Cat(Constant(0, 2), self.left) - Mux(self.first, self.lower, 0) - disabled),
        ]
