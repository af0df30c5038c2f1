#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Delays of a PHY: moves the delays of a byte to the position that the training chooses."""

from migen import *

from litex.gen import *

# Resettable delays --------------------------------------------------------------------------------


class ResettableDelays(LiteXModule):
    """Moves delays that can be reset to their first tap, and then incremented. A position is a tap.

    Parameters
    ----------
    read_positions  : number of positions of reads.
    write_positions : number of positions of writes within a beat; 1 if writes have no delays.

    Attributes
    ----------
    start    : 1, **in**, one cycle: moves the delays to the positions below, which must not change until ``done``.
    writing  : 1, **in**, moves only writes: reads stay where they are.
    choosing : 1, **in**, the selected bytes start from position 0.
    read_position, write_position : log2(positions), **in**.
    done     : 1, **out**, the delays are in position; valid from the cycle after ``start``.
    read_delay_rst, read_delay_inc, write_delay_rst, write_delay_inc : 1, **out**, pulses for the PHY.
    cycles   : int, the most cycles from ``start`` to ``done``.
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

# Phase --------------------------------------------------------------------------------------------

# Cycles from one step of an MMCM's phase to the next: PSDONE follows PSEN after twelve (UG472).
STEP_CYCLES = 16


class PhaseDelays(LiteXModule):
    """Moves the delays of reads as ``ResettableDelays``, and the phase of the clock of DQS, for all bytes at once.

    It is for PHYs whose writes have no delays. A position of writes is a phase of DQS; the data stays where it is. The
    middle one is that with which the memory is used, so the phase returns to it for each setting that is chosen.

    Parameters
    ----------
    read_positions  : number of positions of reads.
    write_positions : number of positions of writes within a beat, odd.
    steps           : steps of the phase from one position to the next.

    Attributes
    ----------
    As ``ResettableDelays``, without the delays of writes, and:

    phase_move  : 1, **out**, for the MMCM: moves the phase by a step (PSEN).
    phase_later : 1, **out**, with it: the step makes DQS later (PSINCDEC).
    """
    def __init__(self, read_positions, write_positions, steps):
        self.read_positions  = read_positions
        self.write_positions = write_positions
        self.cycles          = max(read_positions, STEP_CYCLES*steps*(write_positions - 1) + 2)
        self.reads           = reads = ResettableDelays(read_positions, 1)
        self.start           = reads.start
        self.writing         = reads.writing
        self.choosing        = reads.choosing
        self.read_position   = reads.read_position
        self.read_delay_rst  = reads.read_delay_rst
        self.read_delay_inc  = reads.read_delay_inc
        self.write_position  = Signal(max=write_positions)
        self.done            = Signal()
        self.phase_move      = Signal()
        self.phase_later     = Signal()

        # # #

        # Steps after the earliest position.
        place  = Signal(max=steps*(write_positions - 1) + 1, reset=steps*(write_positions//2))
        target = Signal.like(place)
        pause  = Signal(max=STEP_CYCLES)
        self.comb += [
            self.phase_move.eq((pause == 0) & (place != target)),
            self.phase_later.eq(target > place),
            self.done.eq(reads.done & (pause == 0) & (place == target)),
        ]
        self.sync += [
            If(pause != 0, pause.eq(pause - 1)),
            If(self.phase_move,
                pause.eq(STEP_CYCLES - 1),
                place.eq(Mux(self.phase_later, place + 1, place - 1)),
            ),
            If(self.start, target.eq(steps*Mux(self.choosing, write_positions//2, self.write_position))),
        ]

# Wrapping delays ----------------------------------------------------------------------------------

TAPS = 512  # Taps of an UltraScale delay; the count wraps from the last to the first (UG571).

# The most taps by which delays of two pins differ that are calibrated to the same time.
SKEW_TAPS = 16


class WrappingDelays(LiteXModule):
    """Moves delays that are never reset but wrap around: those of UltraScale in TIME format.

    A reset would start another calibration there, and LiteDRAM's PHY has no reset of the DQS delay. So a delay returns
    to its start by wrapping around. Data and DQS move together from where they were calibrated.

    A tap is 2.5 to 15 ps long (DS892, DS923). The delay of DQS shows how many taps a beat has: it starts
    a quarter of the chips' clock cycle, half a beat, after the delay of the clock. While data is transferred it must
    not pass the last tap. Where a whole beat would not fit, the positions are closer together.

    Parameters
    ----------
    read_step       : taps between two positions of reads; the positions span all taps.
    write_positions : number of positions within a beat, a power of two.

    Attributes
    ----------
    As ``ResettableDelays``, without ``*_rst``, and:

    clock_taps, dqs_taps : 9, **in**, calibrated taps of the clock's and of DQS's delay; sampled at the first start.
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

        # Present and target taps of the delays that move.
        read, read_to   = Signal(max=TAPS), Signal(max=TAPS)
        write, write_to = Signal(max=TAPS), Signal(max=TAPS)
        moving          = Signal()
        # A signal of full width: in Verilog a product is only as wide as its context.
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
                If(self.choosing, read.eq(0), write.eq(0)),  # The next selected bytes start from position 0.
            ),
            If(self.start, moving.eq(1)),
        ]
