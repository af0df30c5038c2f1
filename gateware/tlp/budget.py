#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Room of outstanding reads in the completion buffer of the PHY."""

from migen import *

from litex.gen import *

from litepcie_soc.common.pcie import RCB_BYTES
from litepcie_soc.tlp.context import BLOCKS_BITS

# Bytes that a completion of one RCB of 64 bytes takes in the PHY's buffer, 16 of them for its header (PCIe 4.0 2.6.1).
BLOCK_BYTES = RCB_BYTES + 16

FEW = 4     # Requests of fewer blocks can be taken in each cycle; longer ones take more cycles to arrive.

# Budget -------------------------------------------------------------------------------------------


class Budget(LiteXModule):
    """Counts the free blocks of the completion buffer.

    A host may split a read into completions that end at multiples of the Read Completion Boundary (RCB, PCIe 4.0
    2.3.1.1). A block is the room for one such completion, with its header. A request takes a block for each RCB-sized
    piece of host memory that it touches, and gives them back as its completions are taken out of the buffer, see
    `BlockReturn`.

    A request in quarantine keeps the blocks of the completions that are missing. They may come at any time, also while
    a client applies back-pressure, and then they wait in the buffer among those of other requests.

    The count is negative while a request larger than the buffer is outstanding.

    Parameters
    ----------
    completion_blocks : (int, int), blocks that fit in the buffer with an RCB of 64 and of 128 bytes.
    strict_blocks     : (int, int), the same without Relaxed Ordering, see `completion_buffer.py`; None: no difference.
    per_cycle         : bool, requests of few blocks may be taken in cycles that follow one another; otherwise any
        request is taken two cycles after the one before, or later.
    halves            : bool, a request with one short completion takes half a block of `completion_blocks`: the buffer
        is in the fabric, and keeps no header room apart. It takes a whole one of `strict_blocks`.

    Attributes
    ----------
    rcb_128 : Signal(), **in**, the host's RCB is 128 bytes; may change at any time.
    relaxed : Signal(), **in**, the host enables Relaxed Ordering; may change at any time. `strict_blocks` stay in force
        until every request without the attribute has ended.
    ordered : Signal(), **in**, a request that is outstanding or waits for room has no Relaxed Ordering. Meanwhile
        `strict_blocks` are in force for all: its completion may wait in the hard block, and then all others wait there.
    late    : Signal(), **in**, such a request has ended and its completions may still come. `strict_blocks` stay in
        force until the buffer is empty.
    settled : Signal(), **in**, no request is outstanding or waits for room.
    hold    : Signal(), **out**, no further request may be accepted, because a change of the RCB waits.
    large   : Signal(), **out**, blocks have 128 bytes, for requests and for completions.
    blocks  : Signal(7), **in**, blocks of the request that waits.
    half    : Signal(), **in**, it takes half a block; `blocks` is 1.
    fits    : Signal(), **out**, there is room for `blocks`, or the buffer is empty.
    take    : Signal(), **in**, take `blocks`. The count follows in the next cycle but one; in the cycle between, `fits`
        is deasserted unless both requests have few blocks and the buffer has room for more than both.
    give    : Signal(), **in**, `given` blocks are free again.
    given   : Signal(7), **in**.
    given_half : Signal(), **in**, half a block is free again; `given` is 1.
    """
    def __init__(self, completion_blocks, strict_blocks=None, per_cycle=False, halves=False):
        if min(completion_blocks) < 1:
            raise ValueError(f"completion_blocks {completion_blocks!r} are too few; give 1 or more for each RCB")
        self.rcb_128 = Signal()
        self.relaxed = Signal()
        self.ordered = Signal()
        self.late    = Signal()
        self.settled = Signal()
        self.hold    = Signal()
        self.large   = Signal()
        self.blocks  = Signal(BLOCKS_BITS)
        self.fits    = Signal()
        self.take    = Signal()
        self.give    = Signal()
        self.given   = Signal(BLOCKS_BITS)
        self.half    = Signal()
        self.given_half = Signal()

        # # #

        unit = 2 if halves else 1       # `free` counts in this part of a block.
        def units(blocks, half):
            return Cat(half, blocks[0] & ~half, blocks[1:]) if halves else blocks
        small, large = [unit*blocks for blocks in completion_blocks]
        self.free = free = Signal((max(bits_for(max(small, large)), bits_for(unit*(2**BLOCKS_BITS - 1))) + 1, True),
            reset=small)
        taken = Signal(BLOCKS_BITS)
        given = Signal(BLOCKS_BITS)
        taken_half = Signal()
        empty = Signal()
        differ = Signal()
        self.taken, self.taken_half = taken, taken_half  # Proofs read them.
        fits   = units(self.blocks, self.half) <= free
        ample  = free >= 2*FEW*unit
        if strict_blocks is not None:
            strict, wide = Signal.like(free, reset=strict_blocks[0]), Signal()
            relaxed      = Signal()     # `ordered` tells of all requests without the attribute.
            self.strict, self.all_relaxed = strict, relaxed     # Proofs read them.
            fits  = Mux(wide, fits, self.blocks <= strict)
            ample = Mux(wide, ample, strict >= 2*FEW)
            self.comb += wide.eq(relaxed & ~self.ordered)
            self.sync += [
                strict.eq(strict + given - taken),
                If(differ & self.settled & empty, strict.eq(Mux(self.rcb_128, strict_blocks[1], strict_blocks[0]))),
                If(~self.relaxed | self.late, relaxed.eq(0)).Elif(empty & (taken == 0), relaxed.eq(1)),
            ]
        self.comb += [
            If(self.give, given.eq(self.given)),
            empty.eq(free == (small if small == large else Mux(self.large, large, small))),
            self.fits.eq(fits | empty),
            *([If(taken != 0, self.fits.eq(self.is_few(self.blocks) & self.is_few(taken) & ample))]
                if per_cycle else []),
            # A change waits for the blocks in quarantine too, but meanwhile requests are not held up for them.
            differ.eq(self.rcb_128 != self.large),
            self.hold.eq(differ & (~self.settled | empty)),
        ]
        self.sync += [
            taken.eq(0),
            taken_half.eq(self.half),
            If(self.take, taken.eq(self.blocks)),
            free.eq(free + units(given, self.given_half & self.give) - units(taken, taken_half & (taken != 0))),
            If(differ & self.settled & empty,
                self.large.eq(self.rcb_128),
                free.eq(Mux(self.rcb_128, large, small)),
            ),
        ]

    @staticmethod
    def is_few(blocks):
        return blocks[log2_int(FEW):] == 0


def blocks_of(address, length, last, large):
    """Number of block boundaries that `length` bytes from `address` reach.

    Without `last`, blocks that end within these bytes. With `last`, also the block in which the last byte is. The sum
    over the completions of a request, of which only the last one has `last`, is the number for the request itself.
    """
    start = Cat(address[:log2_int(RCB_BYTES)], address[log2_int(RCB_BYTES)] & large)
    end   = start + length
    part  = (end & Mux(large, 2*RCB_BYTES - 1, RCB_BYTES - 1)) != 0     # Of the block in which the last byte is.
    return Mux(large, end >> log2_int(2*RCB_BYTES), end >> log2_int(RCB_BYTES)) + (part & last)

# Return -------------------------------------------------------------------------------------------
# Gives the room of completions in the PHY's buffer back.

# Completions whose last beat came, less those whose entry came: -1 to one for each lookup in the pipeline of the check.
AHEAD_BITS = 4


class BlockReturn(LiteXModule):
    """Gives the blocks of a completion back when its last beat has left the PHY and its check is over.

    The result of a check (the entry) comes in the order of the completions, after the first beat and before the entry
    of the next completion or event. So at most one entry waits for the last beat. A client that applies back-pressure
    does not delay the return: beats that have left the PHY take no room there.

    Attributes
    ----------
    entry : Record of `valid` and `entry_layout`, **in**, results of the check; each is valid for one cycle.
    last  : Signal(), **in**, the last beat of a completion has left the PHY.
    large : Signal(), **in**, blocks have 128 bytes.
    give  : Signal(), **out**, `given` blocks are free; asserted for one cycle.
    given : Signal(7), **out**.
    half  : Signal(), **out**, with `give`: only half a block is free, and `given` is 1.
    """
    def __init__(self, entry):
        self.entry = entry
        self.last  = Signal()
        self.large = Signal()
        self.give  = Signal()
        self.given = Signal(BLOCKS_BITS)
        self.half  = Signal()

        # # #

        held  = Signal()                        # `given` is to be given back.
        ahead = Signal((AHEAD_BITS, True))
        self.held, self.ahead = held, ahead  # Proofs read them.
        self.comb += self.give.eq(held & ~ahead[-1])
        self.sync += [
            ahead.eq(ahead + self.last - (entry.valid & entry.has_beats)),
            If(self.give, held.eq(0)),
            If(entry.valid & entry.live,
                held.eq(1),
                self.given.eq(blocks_of(entry.lower, entry.covered, entry.covers_end, self.large)),
                # Such a request has one completion. One that is wrong covers nothing.
                self.half.eq(entry.half & entry.covers_end),
            ),
        ]
