#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What the link sends for instruments: compliance patterns, and in Loopback what it receives."""

from migen import *

from litex.gen import *

from litepcie_soc.endpoint.serdes.interface import COM, EDB

# Compliance ---------------------------------------------------------------------------------------
# What Polling.Compliance sends: the compliance pattern and the modified one (PCIe 2.1 4.2.6.2.2, 4.2.8, 4.2.9).

D21_5 = 0xb5
D10_2 = 0x4a

# Pattern ------------------------------------------------------------------------------------------


class CompliancePattern(LiteXModule):
    """Sends K28.5-, D21.5, K28.5+, D10.2 again and again, without SKP sets and without scrambling.

    The modified pattern adds two error status symbols, then K28.5-, K28.5+. The error status is that of `PatternLock`.
    A link with one lane needs no delay symbols.

    The first K28.5 of a pattern is coded with negative running disparity, whatever was sent before. All others follow
    from it: D21.5 and D10.2 are balanced, and two error status symbols that are equal leave the disparity as it is.
    Symbols have no disparity here, so only a test with 10 bit codes shows it: that of the SerDes
    (``test/gateware/endpoint/serdes/ecp5/``). Levels, jitter and de-emphasis are for an oscilloscope.

    Attributes
    ----------
    enable   : 1, **in**, ``sys``; begins with a K28.5-. Without it, the outputs are 0.
    modified : 1, **in**; the modified pattern.
    status   : 8, **in**; error status symbol.
    data, k  : 16, 2, **out**.
    negative : 1, **out**; the lower symbol is coded with negative running disparity.
    """
    def __init__(self):
        self.enable   = Signal()
        self.modified = Signal()
        self.status   = Signal(8)
        self.data     = Signal(16)
        self.k        = Signal(2)
        self.negative = Signal()

        # # #

        place = Signal(2)
        pairs = {
            0: [self.data.eq(D21_5 << 8 | COM), self.k.eq(0b01), self.negative.eq(1)],
            1: [self.data.eq(D10_2 << 8 | COM), self.k.eq(0b01)],
            2: [self.data.eq(Replicate(self.status, 2))],
            3: [self.data.eq(COM << 8 | COM), self.k.eq(0b11)],
        }
        self.sync += [
            self.data.eq(0),
            self.k.eq(0),
            self.negative.eq(0),
            place.eq(0),
            If(self.enable,
                Case(place, pairs),
                place.eq(Mux(self.modified, place + 1, place == 0)),
            ),
        ]

# Error Status -------------------------------------------------------------------------------------


class PatternLock(LiteXModule):
    """Finds the pattern of the partner, and counts the symbols that are wrong since then.

    Attributes
    ----------
    enable : 1, **in**, ``sys``; else the status is 0.
    valid, data, k, error : 1, 16, 2, 2, **in**; received symbols behind `SetAligner`.
    status : 8, **out**; error status symbol: the pattern was found (bit 7), wrong symbols since then, at most 127.
    """
    def __init__(self):
        self.enable = Signal()
        self.valid  = Signal()
        self.data   = Signal(16)
        self.k      = Signal(2)
        self.error  = Signal(2)
        self.status = Signal(8)

        # # #

        good   = self.valid & (self.error == 0) & (self.k == 0b01)
        first, second, before = Signal(), Signal(), Signal()
        wrong  = Signal(2)
        locked = self.status[7]
        count  = Signal(8)
        self.comb += count.eq(self.status[:7] + wrong)
        self.sync += [
            first.eq(good & (self.data == (D21_5 << 8 | COM))),
            second.eq(good & (self.data == (D10_2 << 8 | COM))),
            before.eq(first),
            wrong.eq(Mux(self.valid, self.error[0] + self.error[1], 0)),
            If(before & second, locked.eq(1)),
            If(locked, self.status[:7].eq(Mux(count[7], 127, count[:7]))),
            If(~self.enable, self.status.eq(0)),
        ]

# Loopback -----------------------------------------------------------------------------------------
# What a loopback slave sends (PCIe 2.1 4.2.6.10.2).


class Loopback(LiteXModule):
    """Sends back the received symbols, neither descrambled nor aligned. Only the elastic buffer adds or removes SKP.

    The SerDes has decoded the symbols, and codes them again. So a symbol with a wrong code or a wrong running disparity
    cannot go back as it came: EDB goes out instead, also for symbols that the elastic buffer lost. A master
    that compares sees an error in each case.

    Attributes
    ----------
    enable  : 1, **in**, ``sys``; without it, the outputs are 0.
    valid, data, k, error : 1, 16, 2, 2, **in**; received symbols, of `SerDesInterface`.
    data_out, k_out : 16, 2, **out**; a cycle later.
    """
    def __init__(self):
        self.enable   = Signal()
        self.valid    = Signal()
        self.data     = Signal(16)
        self.k        = Signal(2)
        self.error    = Signal(2)
        self.data_out = Signal(16)
        self.k_out    = Signal(2)

        # # #

        for n in range(2):
            good       = self.valid & ~self.error[n]
            self.sync += [
                self.data_out[8*n:8*n + 8].eq(Mux(good, self.data[8*n:8*n + 8], EDB)),
                self.k_out[n].eq(~good | self.k[n]),
            ]
        self.sync += If(~self.enable, self.data_out.eq(0), self.k_out.eq(0))
