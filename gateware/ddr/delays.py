#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Delays of a PHY: how those of a byte come to a position that the training asks for."""

from migen import *

from litex.gen import *

# Delays that are reset ----------------------------------------------------------------------------


class ResetDelays(LiteXModule):
    """Delays that can be put to their first tap, and are counted up from there: a position is a tap.

    read_positions, write_positions : how many there are; of writes in a beat, 1 if they have no delays.

    Attributes
    ----------
    start    : 1, **in**: the five below are there, and stay until done.
    writing  : 1, **in**: reads stay where they are.
    choosing : 1, **in**: those for whom the pulses are stand at position 0.
    read_position, write_position : log2, **in**.
    done     : 1, **out**: there; from the cycle behind start on.
    read_delay_rst, read_delay_inc, write_delay_rst, write_delay_inc : 1, **out**, pulses.
    cycles   : that it takes, at most, until done.
    """
    def __init__(self, read_positions, write_positions):
        self.read_positions  = read_positions
        self.write_positions = write_positions
        self.cycles          = max(read_positions, write_positions)
        self.start           = Signal()
        self.writing         = Signal()
        self.choosing        = Signal()
        self.read_position   = Signal(max=read_positions)
        self.write_position  = Signal(max=max(write_positions, 2))
        self.done            = Signal()
        self.read_delay_rst  = Signal()
        self.read_delay_inc  = Signal()
        self.write_delay_rst = Signal()
        self.write_delay_inc = Signal()

        # # #

        reads  = Signal.like(self.read_position)
        writes = Signal.like(self.write_position)
        self.comb += [
            self.read_delay_rst.eq(self.start & ~self.writing),
            self.write_delay_rst.eq(self.start),
            self.read_delay_inc.eq(reads != 0),
            self.write_delay_inc.eq(writes != 0),
            self.done.eq(~self.read_delay_inc & ~self.write_delay_inc),
        ]
        self.sync += [
            If(self.read_delay_inc, reads.eq(reads - 1)),
            If(self.write_delay_inc, writes.eq(writes - 1)),
            If(self.start,
                reads.eq(Mux(self.writing, 0, self.read_position)),
                writes.eq(self.write_position),
            ),
        ]

# Delays that go round -----------------------------------------------------------------------------

TAPS = 512  # Of a delay of UltraScale; the first comes behind the last (UG571).

SKEW_TAPS = 16  # By which the delays of two pins differ, at most, when they are calibrated to the same time.


class RoundDelays(LiteXModule):
    """Delays that are never reset but go on round to where they were: those of UltraScale in TIME format.

    (There a reset asks for another calibration, and DQS has none in LiteDRAM's PHY.) Data and DQS are moved together
    from where they were calibrated. A tap is 2.5 to 15 ps long (DS892, DS923): how many make a beat is told by the
    delay of DQS, which begins a quarter of the chips' clock, half a beat, behind that of the clock. It must not get
    past the last tap while data is moved; then positions are a little closer to each other than they should be.

    read_step       : taps between two positions of a read; these reach over all taps.
    write_positions : in a beat; a power of two.

    Attributes: as ``ResetDelays``, without ``*_rst``, and
    ----------
    clock_taps, dqs_taps : 9, **in**: what the delays of clock and DQS were calibrated to; at the first start.
    """
    def __init__(self, read_step=8, write_positions=16):
        self.read_positions  = TAPS//read_step
        self.write_positions = write_positions
        self.cycles          = TAPS + 1
        self.start           = Signal()
        self.writing         = Signal()
        self.choosing        = Signal()
        self.read_position   = Signal(max=self.read_positions)
        self.write_position  = Signal(max=write_positions)
        self.clock_taps      = Signal(max=TAPS)
        self.dqs_taps        = Signal(max=TAPS)
        self.done            = Signal()
        self.read_delay_inc  = Signal()
        self.write_delay_inc = Signal()

        # # #

        # Taps of a beat.
        quarter  = Signal(max=TAPS)
        beat     = Cat(0, quarter)
        room     = Signal(max=TAPS)
        span     = Signal(max=TAPS)
        measured = Signal()
        self.sync += [
            quarter.eq(Mux(self.dqs_taps > self.clock_taps, self.dqs_taps - self.clock_taps, 0)),
            room.eq(Mux(self.dqs_taps < TAPS - SKEW_TAPS, TAPS - SKEW_TAPS - self.dqs_taps, 0)),
            If(self.start & ~measured,
                measured.eq(1),
                span.eq(Mux(beat < room, beat, room)),
            ),
        ]

        # From where those that are moved are, to where they shall be.
        read, read_to   = Signal(max=TAPS), Signal(max=TAPS)
        write, write_to = Signal(max=TAPS), Signal(max=TAPS)
        moving          = Signal()
        # As wide as it gets: in Verilog a product is no wider than what it is assigned to.
        product         = Signal(len(self.write_position) + len(span))
        self.comb += [
            product.eq(self.write_position*span),
            read_to.eq(self.read_position*read_step),
            self.read_delay_inc.eq(moving & ~self.writing & (read != read_to)),
            self.write_delay_inc.eq(moving & (write != write_to)),
            self.done.eq(~moving),
        ]
        self.sync += [
            write_to.eq(product >> log2_int(write_positions)),
            If(self.read_delay_inc, read.eq(read + 1)),
            If(self.write_delay_inc, write.eq(write + 1)),
            If(moving & ~self.read_delay_inc & ~self.write_delay_inc,
                moving.eq(0),
                If(self.choosing, read.eq(0), write.eq(0)),  # Where the next ones are.
            ),
            If(self.start, moving.eq(1)),
        ]
