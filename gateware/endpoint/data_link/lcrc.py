#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Cyclic redundancy checks of the data link layer, 16 bits per cycle: the LCRC of TLPs."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.endpoint.data_link.words import WORD

# One Step -----------------------------------------------------------------------------------------

LCRC = 0xedb88320  # Polynomial of TLPs, reflected (PCIe 2.1 3.5.2.2).
GOOD = 0xdebb20e3  # Register after a TLP and its LCRC.
NULL = 0x00000000  # Register after a TLP and its inverted LCRC.
ONES = 0xffffffff  # Register before a TLP.


def crc_step(crc, data, polynomial):
    """Expressions for the bits of the register ``crc`` after ``data``, bit 0 first. ``polynomial`` is reflected.

    Both are Signals; ``data`` is not wider than ``crc``. Each bit is a parity of bits of ``crc ^ data``.
    """
    bits, count = len(crc), len(data)
    mixed       = [crc[n] ^ data[n] if n < count else crc[n] for n in range(bits)]
    # Each bit of the register as the set of those bits of `mixed` that it is the parity of.
    register    = [{n} for n in range(bits)]
    for _ in range(count):
        out      = register[0]
        register = register[1:] + [set()]
        register = [terms ^ out if polynomial >> n & 1 else terms for n, terms in enumerate(register)]
    return [Reduce("XOR", [mixed[n] for n in sorted(terms)]) for terms in register]

# Transmit -----------------------------------------------------------------------------------------


class LCRCAppender(LiteXModule):
    """Passes the words of a TLP with its sequence number, and appends the LCRC.

    There is no gap between the last word of a TLP and its LCRC, nor between the LCRC and the next TLP.

    Attributes
    ----------
    sink   : stream of 16 bits, **in**; two bytes of sequence number, then the TLP; the first byte in bits 7:0.
    source : stream of 16 bits, **out**; the same and the four bytes of the LCRC.

    PCIe 2.1 3.5.2.2.
    """
    def __init__(self):
        self.sink   = sink   = stream.Endpoint(WORD)
        self.source = source = stream.Endpoint(WORD)

        # # #

        crc       = Signal(32, reset=ONES)
        low, high = Signal(), Signal()  # The half of the LCRC that is sent.
        following = Cat(*crc_step(crc, sink.data, LCRC))
        self.comb += [
            source.first.eq(sink.first & ~low & ~high),
            source.last.eq(high),
            source.valid.eq(sink.valid | low | high),
            sink.ready.eq(source.ready & ~low & ~high),
            source.data.eq(sink.data),
            If(low,  source.data.eq(~crc[:16])),
            If(high, source.data.eq(~crc[16:])),
        ]
        self.sync += If(source.valid & source.ready,
            high.eq(low),
            low.eq(sink.last & ~low & ~high),
            If(~low & ~high, crc.eq(following)),
            If(high, crc.eq(ONES)),
        )

# Receive ------------------------------------------------------------------------------------------


class LCRCChecker(LiteXModule):
    """Checks the LCRC of received TLPs.

    Between two TLPs there is at least one cycle without a word: their control symbols END and STP need it.

    Attributes
    ----------
    data      : 16, **in**; a word of a TLP, from the sequence number to the LCRC.
    valid     : 1, **in**; there is a word.
    last      : 1, **in**; it is the last one of its TLP.
    done      : 1, **out**; a pulse, two cycles after the last word, with these results:
    good      : 1, **out**; the LCRC is right.
    nullified : 1, **out**; the LCRC is the inverse of the right one.

    PCIe 2.1 3.5.3.1.
    """
    def __init__(self):
        self.data      = Signal(16)
        self.valid     = Signal()
        self.last      = Signal()
        self.done      = Signal()
        self.good      = Signal()
        self.nullified = Signal()

        # # #

        crc   = Signal(32, reset=ONES)
        ended = Signal()
        self.sync += [
            ended.eq(self.valid & self.last),
            If(ended,
                crc.eq(ONES),
            ).Elif(self.valid,
                crc.eq(Cat(*crc_step(crc, self.data, LCRC))),
            ),
            self.done.eq(ended),
            self.good.eq(crc == GOOD),
            self.nullified.eq(crc == NULL),
        ]
