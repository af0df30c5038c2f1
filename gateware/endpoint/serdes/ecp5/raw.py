#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Symbols from and to code words of ten bits in the fabric, for a SerDes channel without its own coding.

LiteX's encoders send. Its decoder is not used: it reports neither every code word that does not exist nor a wrong
running disparity.
"""

import functools

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.cores.code_8b10b import (
    SingleEncoder, table_3b4b, table_3b4b_unbalanced, table_5b6b, table_5b6b_unbalanced,
)

from litepcie_soc.endpoint.serdes.ecp5.coded import BUS, DECODE_ERROR, DISPARITY_ERROR, HALF
from litepcie_soc.endpoint.serdes.interface import COM, UNDECODABLE

# Code ---------------------------------------------------------------------------------------------
# The code 8b/10b as tables. Bit a of a code word is bit 0; disparity 0 is negative. PCIe 2.1 4.2.1.1.

CONTROL   = {28 | y << 5 for y in range(8)} | {x | 7 << 5 for x in (23, 27, 29, 30)}
SWAPPED   = (1, 2, 5, 6)  # Balanced halves that a control symbol inverts at negative disparity.
ALTERNATE = {0: (17, 18, 20), 1: (11, 13, 14)}


def flipped(word, bits):
    return int(f"{word:0{bits}b}"[::-1], 2)


def six(x, k, disparity):
    """Returns the first six bits, bit a highest, and the disparity after them."""
    if k and x == 28:
        return (0b110000 if disparity else 0b001111), disparity ^ 1
    word = table_5b6b[x]  # For positive disparity.
    if not disparity and (table_5b6b_unbalanced[x] or x == 7):
        word ^= 0b111111
    return word, disparity ^ table_5b6b_unbalanced[x]


def four(x, y, k, disparity):
    """Returns the last four bits, bit f highest, and the disparity after them."""
    if y == 7 and (k or x in ALTERNATE[disparity]):
        return (0b1000 if disparity else 0b0111), disparity ^ 1
    word = table_3b4b[y]
    if not disparity and (table_3b4b_unbalanced[y] or y == 3 or k and y in SWAPPED):
        word ^= 0b1111
    return word, disparity ^ table_3b4b_unbalanced[y]


def encode(data, k, disparity):
    """Returns the code word and the disparity after it."""
    x, y           = data & 31, data >> 5
    first, middle  = six(x, k, disparity)
    second, after  = four(x, y, k, middle)
    return flipped(first, 6) | flipped(second, 4) << 6, after


@functools.cache
def codes():
    """Returns {(code word, disparity before it): (data, K, disparity after it)}."""
    found = {}
    for disparity in (0, 1):
        for symbol in range(512):
            data, k = symbol & 0xff, symbol >> 8
            if not k or data in CONTROL:
                word, after = encode(data, k, disparity)
                assert (word, disparity) not in found
                found[word, disparity] = data, k, after
    return found

WORD   = 10
COMMAS = [encode(COM, 1, disparity)[0] for disparity in (0, 1)]
FAULTS = 8   # Until the comma is searched again. A cycle with a wrong symbol counts 1, one without -1.
STRAY  = 4   # What a comma at another bit counts: most symbols of TS1 are right one bit later, too.
DRAIN  = 12  # Cycles from a word to its last bit on the lane; the block needs 5 to 7 (FPGA-DS-02012).

# Transmitter --------------------------------------------------------------------------------------


class RawTransmitter(LiteXModule):
    """Encodes two symbols per cycle.

    The block has no electrical idle for single words without its own coding. ``quiet`` asks for it when the symbols
    before it have left the block, and ends it at once.

    Attributes
    ----------
    data     : 16, **in**, pcie; two symbols, the lower half is first in time.
    k        : 2, **in**, pcie; control symbols.
    negative : 1, **in**, pcie; the disparity is negative before the lower symbol.
    idle     : 2, **in**, pcie; electrical idle.
    bus      : 24, **out**, pcie; two code words in the lower bits of its halves, from registers.
    quiet    : 1, **out**, pcie; for ``FFC_EI_EN``, from a register.
    """
    def __init__(self):
        self.data     = Signal(16)
        self.k        = Signal(2)
        self.negative = Signal()
        self.idle     = Signal(2)
        self.bus      = Signal(BUS)
        self.quiet    = Signal(reset=1)

        # # #

        # LiteX's encoder of two symbols cannot be told a disparity, so its single ones are chained here.
        encoders            = [ClockDomainsRenamer("pcie")(SingleEncoder(lsb_first=True)) for _ in range(2)]
        self.lower          = lower = encoders[0]
        self.upper          = upper = encoders[1]
        disparity, negative = Signal(), Signal()
        self.comb          += [lower.disp_in.eq(disparity & ~negative), upper.disp_in.eq(lower.disp_out)]
        asked, idle         = Signal(), Signal(2)
        self.sync.pcie     += [
            asked.eq(self.negative),
            negative.eq(asked),
            idle.eq(self.idle),
            disparity.eq(upper.disp_out),
        ]
        for half, encoder in enumerate(encoders):
            self.comb      += encoder.ce.eq(1)
            self.sync.pcie += [
                encoder.d.eq(self.data[8*half:8*half + 8]),
                encoder.k.eq(self.k[half]),
                self.bus[half*HALF:half*HALF + WORD].eq(encoder.output),
            ]
        count           = Signal(max=DRAIN + 1, reset=DRAIN)
        self.sync.pcie += [
            self.quiet.eq(0),
            If(idle != 0b11,
                count.eq(0),
            ).Elif(count != DRAIN,
                count.eq(count + 1),
            ).Else(
                self.quiet.eq(1),
            )
        ]

# Receiver -----------------------------------------------------------------------------------------


def decode_rows():
    """Returns for every code word {disparity afterwards, by that before: 2; wrong by disparity before: 2; symbol: 9}.

    A word that does not exist is UNDECODABLE, wrong at both disparities, and keeps them.
    """
    rows = []
    for word in range(1 << WORD):
        found  = [codes().get((word, disparity)) for disparity in (0, 1)]
        known  = [one or other for one, other in zip(found, reversed(found))]
        data, k, _ = known[0] or (UNDECODABLE, 1, 0)
        afters = [disparity if one is None else one[2] for disparity, one in enumerate(known)]
        wrong  = [one is None for one in found]
        rows.append(data | k << 8 | wrong[0] << 9 | wrong[1] << 10 | afters[0] << 11 | afters[1] << 12)
    return rows


class CommaAligner(LiteXModule):
    """Finds the comma at any bit and gives code words.

    Attributes
    ----------
    sink   : 20, **in**, pcie_rx; received bits, the lowest is first in time.
    search : 1, **in**, pcie_rx; the next comma sets the alignment.
    source : 20, **out**, pcie_rx; two code words, the lower one is first in time. Three cycles after the bits.
    found  : 1, **out**, pcie_rx; a pulse: the alignment was set.
    stray  : 1, **out**, pcie_rx; a pulse: there was a comma at another bit.
    """
    def __init__(self):
        self.sink   = Signal(2*WORD)
        self.search = Signal()
        self.source = Signal(2*WORD)
        self.found  = Signal()
        self.stray  = Signal()

        # # #

        before         = Signal(2*WORD)
        window, same   = Signal(3*WORD - 1), Signal(3*WORD - 1)
        seen, offset   = Signal(WORD), Signal(max=WORD)
        now            = Cat(before, self.sink)
        is_comma       = lambda bits: Reduce("OR", [bits == comma for comma in COMMAS])
        self.sync.pcie_rx += [
            before.eq(self.sink),
            window.eq(now[:3*WORD - 1]),
            [seen[n].eq(is_comma(now[n:n + WORD]) | is_comma(now[n + WORD:n + 2*WORD])) for n in range(WORD)],
            # The offset is there with the window in which it was seen.
            same.eq(window),
            self.found.eq(self.search & (seen != 0)),
            self.stray.eq(Reduce("OR", [seen[n] & (offset != n) for n in range(WORD)])),
            If(self.search, Case(seen, {1 << n: offset.eq(n) for n in range(WORD)})),
            Case(offset, {n: self.source.eq(same[n:n + 2*WORD]) for n in range(WORD)}),
        ]


class RawReceiver(LiteXModule):
    """Aligns and decodes two code words per cycle.

    Attributes
    ----------
    bus    : 24, **in**, pcie_rx; of the block, with ten bits in each half.
    invert : 1, **in**, asynchronous; invert the lane.
    data   : 16, **out**, pcie_rx; two symbols, the lower half is first in time.
    k      : 2, **out**, pcie_rx; control symbols.
    strict : 1, **in**; without effect.
    error  : 2, **out**, pcie_rx; symbols with a code that does not exist, or with a wrong running disparity.
    status : 6, **out**, pcie_rx; for each symbol the status that the block would report of the same error.
    valid  : 1, **out**, pcie_rx; 1.
    """
    def __init__(self):
        self.bus    = Signal(BUS)
        self.invert = Signal()
        self.data   = Signal(16)
        self.k      = Signal(2)
        self.strict = Signal()
        self.error  = Signal(2)
        self.status = Signal(6)
        self.valid  = Constant(1)

        # # #

        self.aligner   = aligner = CommaAligner()
        invert         = Signal()
        self.specials += MultiReg(self.invert, invert, "pcie_rx")
        bus            = Signal(BUS)
        bits           = Cat(bus[:WORD], bus[HALF:HALF + WORD])
        self.sync.pcie_rx += [bus.eq(self.bus), aligner.sink.eq(bits ^ Replicate(invert, 2*WORD))]

        # Not attributes: LiteX would put a memory that it finds in a module onto the bus of the registers.
        table = Memory(13, 1 << WORD, init=decode_rows())
        ports = [table.get_port(clock_domain="pcie_rx", mode=READ_FIRST) for _ in range(2)]
        rows  = [Signal(13) for _ in range(2)]
        self.specials += table, *ports
        self.comb     += [port.adr.eq(aligner.source[WORD*half:WORD*half + WORD]) for half, port in enumerate(ports)]
        self.sync.pcie_rx += [row.eq(port.dat_r) for row, port in zip(rows, ports)]

        disparity  = [Signal() for _ in range(3)]
        faults     = Signal(max=FAULTS + 1, reset=FAULTS)
        wrong      = Signal(2)
        for half, row in enumerate(rows):
            self.comb += [
                wrong[half].eq(Mux(disparity[half], row[10], row[9])),
                disparity[half + 1].eq(Mux(disparity[half], row[12], row[11])),
            ]
            self.sync.pcie_rx += [
                self.data[8*half:8*half + 8].eq(row[:8]),
                self.k[half].eq(row[8]),
                self.status[3*half:3*half + 3].eq(Mux(wrong[half], Mux(row[9] & row[10], DECODE_ERROR, DISPARITY_ERROR),
                    0)),
            ]
        self.comb += aligner.search.eq(faults == FAULTS)
        self.sync.pcie_rx += [
            disparity[0].eq(disparity[2]),
            self.error.eq(wrong),
            If(aligner.found,
                faults.eq(0),
            ).Elif(aligner.stray & (faults < FAULTS - STRAY),
                faults.eq(faults + STRAY),
            ).Elif(aligner.stray,
                faults.eq(FAULTS),
            ).Elif((wrong != 0) & (faults != FAULTS),
                faults.eq(faults + 1),
            ).Elif((wrong == 0) & (faults != 0) & (faults != FAULTS),
                faults.eq(faults - 1),
            ),
        ]
