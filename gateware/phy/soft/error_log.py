#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""First Error Pointer and Header Log: the first uncorrectable error, and the header of its TLP."""

from migen import *

from litex.gen import *

from litepcie_soc.phy.soft.beats import swapped
from litepcie_soc.phy.soft.error_kinds import KINDS, REPORTED, SOURCES

HEADER_BITS  = 128
FOUR_DWORDS  = 32 - 3  # Of the first dword of a header, whose byte 0 is in bits 31:24.

# Header Words -------------------------------------------------------------------------------------


class HeaderWords(LiteXModule):
    """Collects the header of a TLP from the words in which it comes.

    Attributes
    ----------
    word   : 16, **in**; a word, with the first byte on the wire in bits 7:0.
    take   : 1, **in**; there is one.
    place  : **in**; its number in the TLP.
    header : 128, **out**; the header in the order of the registers: the first byte in the upper bits of a dword, the
             first dword in bits 31:0. The fourth dword is undefined if the header has three.

    Parameters
    ----------
    place : Signal.
    first : int, ``place`` of the first word of the header.
    """
    def __init__(self, place, first=0):
        self.word   = Signal(16)
        self.take   = Signal()
        self.header = Signal(HEADER_BITS)

        # # #

        words      = [Signal(16, name=f"word{n}", reset_less=True) for n in range(HEADER_BITS//16)]
        self.sync += If(self.take, Case(place, {first + n: word.eq(swapped(self.word))
            for n, word in enumerate(words)}))
        self.comb += self.header.eq(Cat(*[words[n ^ 1] for n in range(len(words))]))

# Error Log ----------------------------------------------------------------------------------------


class ErrorLog(LiteXModule):
    """Holds the number of an error and a header until the host clears the error (PCIe 2.1 6.2.4.2, 7.10.7, 7.10.8).

    The header of the newest TLP of each source is kept, so that an error has it at hand when it is known. The source of
    a logged error keeps that one. There is one log: while it is in use, errors set their bits only. It reads as 0 when
    it is free, and the header of an error without a TLP as well.

    Attributes
    ----------
    headers  : [128] for each of SOURCES, **in**; see `HeaderWords`.
    load     : [1], **in**; a pulse, at the latest with the error: the header is that of the newest TLP.
    unknown  : [1], **in**; with ``load``: nobody has its header.
    logged   : {name: 1}, **in**; pulses for each of KINDS, see `ErrorReports`, a cycle after the error.
    cleared  : 32, **in**; bits that are cleared in Uncorrectable Error Status in this cycle.
    hold     : 1, **in**; errors do not count.
    pointer  : 5, **out**; First Error Pointer.
    address  : 2, **in**; dword of Header Log.
    data     : 32, **out**; it, in the next cycle.
    """
    def __init__(self):
        self.headers = [Signal(HEADER_BITS, name=f"header{n}") for n in SOURCES]
        self.load    = [Signal(name=f"load{n}") for n in SOURCES]
        self.unknown = [Signal(name=f"unknown{n}") for n in SOURCES]
        self.logged  = {name: Signal(name=f"log_{name}") for name in KINDS}
        self.cleared = Signal(32)
        self.hold    = Signal()
        self.pointer = Signal(5)
        self.address = Signal(2)
        self.data    = Signal(32)

        # # #

        kept  = [Signal(HEADER_BITS, name=f"kept{n}", reset_less=True) for n in SOURCES]
        fresh = Signal(len(SOURCES))  # What is kept is of the newest TLP.
        used  = Signal(len(SOURCES))  # The log shows it.
        free  = Signal()
        for n in SOURCES:
            self.sync += If(self.load[n],
                fresh[n].eq(~used[n] & ~self.unknown[n]),
                If(~used[n], kept[n].eq(self.headers[n])),
            )
        self.comb += [
            free.eq(self.pointer == 0),
            Case(self.pointer, {bit: If(self.cleared[bit], free.eq(1)) for bit in REPORTED}),
        ]
        choice = If(self.hold)
        for name, kind in KINDS.items():
            choice = choice.Elif(self.logged[name],
                self.pointer.eq(kind.bit),
                used.eq(0 if kind.source is None else fresh & 1 << kind.source),
            )
        self.sync += [
            If(free, self.pointer.eq(0), used.eq(0), choice),
            # One dword of each header, and none of those that are not used or have no fourth one.
            self.data.eq(Reduce("OR", [Mux(used[n] & ((self.address != 3) | kept[n][FOUR_DWORDS]),
                self.dword(kept[n]), 0) for n in SOURCES])),
        ]

    def dword(self, header):
        return Array([header[32*n:32*n + 32] for n in range(4)])[self.address]
