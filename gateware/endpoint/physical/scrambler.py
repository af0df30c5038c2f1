#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Scrambling of two symbols per cycle, and its removal."""

from functools import reduce
from operator import xor

from migen import *

from litex.gen import *

from litepcie_soc.endpoint.serdes.interface import COM, PAD, SKP

# x^16 + x^5 + x^4 + x^3 + 1 (PCIe 2.1 4.2.3). Bit 15 leaves first, for the least significant bit of the symbol.
POLYNOMIAL = 0x0039
SEED       = 0xffff
TS_SYMBOLS = 16  # Of a training set (TS1, TS2), COM included.

# Register -----------------------------------------------------------------------------------------


def _shifted(rows):
    """One step of the register. A row has the bits of the register before, as a mask, whose sum a bit is."""
    feedback = rows[15]
    return [(rows[n - 1] if n else 0) ^ (feedback if POLYNOMIAL >> n & 1 else 0) for n in range(16)]


def _symbol(rows):
    """Returns (masks of the eight bits that leave for a symbol, masks of the register after it)."""
    leaving = []
    for _ in range(8):
        leaving.append(rows[15])
        rows = _shifted(rows)
    return leaving, rows


def _sums(register, rows):
    return Cat(*[reduce(xor, [register[n] for n in range(16) if row >> n & 1], C(0, 1)) for row in rows])


def _constant(rows, value):
    return sum((bin(row & value).count("1") & 1) << n for n, row in enumerate(rows))

# Scrambler ----------------------------------------------------------------------------------------


class Scrambler(LiteXModule):
    """Adds the sequence of the register to the data symbols, which also removes it.

    COM loads the register, SKP leaves it as it is, every other symbol moves it on. Control symbols pass unchanged, and
    so do data symbols marked ``plain``, those of training sets. Two cycles from input to output.

    Attributes
    ----------
    valid   : 1, **in**, ``sys``; there are two symbols in this cycle. Otherwise the register stands still.
    data    : 16, **in**; symbols, the lower half first in time.
    k       : 2, **in**; control symbols.
    plain   : 2, **in**; symbols that are not scrambled.
    off     : 1, **in**; no symbol is scrambled.
    out_valid, out_data, out_k : 1, 16, 2, **out**.
    """
    def __init__(self):
        self.valid     = Signal()
        self.data      = Signal(16)
        self.k         = Signal(2)
        self.plain     = Signal(2)
        self.off       = Signal()
        self.out_valid = Signal()
        self.out_data  = Signal(16)
        self.out_k     = Signal(2)

        # # #

        valid    = Signal()
        data     = Signal(16)
        k, com, skp, change = Signal(2), Signal(2), Signal(2), Signal(2)
        register = Signal(16, reset=SEED)
        self.sync += [
            valid.eq(self.valid),
            data.eq(self.data),
            k.eq(self.k),
            [[
                com[n].eq(self.k[n] & (self.data[8*n:8*n + 8] == COM)),
                skp[n].eq(self.k[n] & (self.data[8*n:8*n + 8] == SKP)),
                change[n].eq(~self.k[n] & ~self.plain[n] & ~self.off),
            ] for n in range(2)],
        ]
        identity       = [1 << n for n in range(16)]
        first, after   = _symbol(identity)
        second, behind = _symbol(after)
        once           = _sums(register, after)
        self.sync += [
            self.out_valid.eq(valid),
            self.out_k.eq(k),
            self.out_data[:8].eq(data[:8] ^ Mux(change[0], _sums(register, first), 0)),
            # The second symbol has the register after the first one.
            self.out_data[8:].eq(data[8:] ^ Mux(change[1],
                Mux(com[0], _constant(first, SEED), Mux(skp[0], _sums(register, first), _sums(register, second))), 0)),
            If(valid,
                If(com[1],
                    register.eq(SEED)
                ).Elif(skp[1],
                    If(com[0], register.eq(SEED)).Elif(~skp[0], register.eq(once))
                ).Elif(com[0],
                    register.eq(_constant(after, SEED))
                ).Elif(skp[0],
                    register.eq(once)
                ).Else(
                    register.eq(_sums(register, behind))
                )
            )
        ]

# Descrambler --------------------------------------------------------------------------------------


class Descrambler(LiteXModule):
    """Removes scrambling from received symbols, of which it knows by itself which belong to training sets: the 15
    symbols after a COM, if the first of them is a link number or PAD. Three cycles from input to output.

    Attributes
    ----------
    valid, data, k : 1, 16, 2, **in**, ``sys``; as in `Scrambler`.
    error   : 2, **in**; symbols with a wrong code.
    off     : 1, **in**; the partner does not scramble.
    out_valid, out_data, out_k, out_error : 1, 16, 2, 2, **out**.
    """
    def __init__(self):
        self.scrambler = scrambler = Scrambler()
        self.valid     = Signal()
        self.data      = Signal(16)
        self.k         = Signal(2)
        self.error     = Signal(2)
        self.off       = scrambler.off
        self.out_valid = scrambler.out_valid
        self.out_data  = scrambler.out_data
        self.out_k     = scrambler.out_k
        self.out_error = Signal(2)

        # # #

        com, starts = Signal(2), Signal(2)  # A COM, and what may follow it in a training set.
        behind      = Signal()              # The symbol before was a COM.
        left        = Signal(max=TS_SYMBOLS)
        before, late = Signal(2), Signal(2)
        for n in range(2):
            symbol = self.data[8*n:8*n + 8]
            self.comb += [
                com[n].eq(self.k[n] & (symbol == COM)),
                starts[n].eq(~self.k[n] | (symbol == PAD)),
            ]
        plain  = Signal(2)
        follow = Signal(max=TS_SYMBOLS)  # What is left of the set after these symbols.
        self.comb += [
            If(com[0],
                plain[1].eq(starts[1]),
                If(starts[1], follow.eq(TS_SYMBOLS - 2)),
            ).Elif(behind,
                plain.eq(Replicate(starts[0], 2)),
                If(starts[0], follow.eq(TS_SYMBOLS - 3)),
            ).Else(
                plain.eq(Cat(left != 0, left > 1)),
                If(left > 2, follow.eq(left - 2)),
            ),
        ]
        self.sync += [
            If(self.valid,
                behind.eq(com[1]),
                left.eq(follow),
                If(com[1], left.eq(0)),
            ),
            scrambler.valid.eq(self.valid),
            scrambler.data.eq(self.data),
            scrambler.k.eq(self.k),
            scrambler.plain.eq(plain),
            # As many cycles as the symbols.
            before.eq(self.error),
            late.eq(before),
            self.out_error.eq(late),
        ]
