#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Status block in host memory, and the MSI behind it."""

from math import ceil

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import HEADER_3DW, HEADER_4DW

# Constants ----------------------------------------------------------------------------------------

STATUS_BYTES = 16

# Moderation ---------------------------------------------------------------------------------------


class Moderation(LiteXModule):
    """When interrupts that wait are due: enough of them, or the first waits long enough.

    Parameters
    ----------
    clk_freq : Hz of ``sys``.

    Attributes
    ----------
    count, us : 16, in, sys, limits; 0 in either means at once.
    waiting   : 16, in, sys, interrupts that wait.
    restart   : 1, in, sys, those that waited so far do not any more.
    due       : 1, out, sys, as of the last cycle.
    """
    def __init__(self, clk_freq):
        self.count   = Signal(16)
        self.us      = Signal(16)
        self.waiting = Signal(16)
        self.restart = Signal()
        self.due     = Signal()

        # # #

        cycles_per_us = max(1, ceil(clk_freq / 1e6))
        cycle  = Signal(max=max(2, cycles_per_us))
        waited = Signal(16)                        # Microseconds.
        self.sync += self.due.eq(
            (self.waiting >= self.count) | (waited >= self.us) | (self.us == 0))
        self.sync += If((self.waiting == 0) | self.restart,
            cycle.eq(0),
            waited.eq(0)
        ).Elif(cycle == cycles_per_us - 1,
            cycle.eq(0),
            If(waited != 0xffff, waited.eq(waited + 1))
        ).Else(
            cycle.eq(cycle + 1)
        )

# Status Unit --------------------------------------------------------------------------------------


class StatusUnit(LiteXModule):
    """Writes the status block when something was completed that the host waits for.

    What it reports has landed: a reader's data is in the endpoint memory, a writer's was accepted
    by the PHY before this block. The MSI is raised after the block was accepted by the PHY. Events
    while a block is on its way are reported by the next one.

    Parameters
    ----------
    port     : MemoryWritePort of the block.
    clk_freq : Hz of ``sys``.

    Attributes
    ----------
    address       : 64, in, sys, of the block, a multiple of 16.
    completed     : 32, in, sys, with
    reason, stopped_bytes, bytes : 8, 24, 64, in, sys, what the block says.
    count, us     : 16, in, sys, moderation.
    slot          : 1, in, sys, one cycle, ``completed`` grows.
    interrupt     : 1, in, sys, a descriptor with INTERRUPT was completed: block and MSI.
    quiet         : 1, in, sys, nothing to do: report what is not reported.
    stop          : 1, in, sys, one cycle, the engine stopped: block and MSI, not moderated. A
        block that begins in this cycle has the ``reason``.
    enable        : 1, in, sys, blocks and MSIs may begin. Without, none waits.
    no_block      : 1, in, sys, there is no place for a block.
    msi           : Endpoint(``dat``: vector), out, sys.
    idle          : 1, out, sys, no block is on its way.
    settled       : 1, out, sys, everything is told, but for interrupts that moderation holds.
    """
    def __init__(self, port, *, clk_freq):
        self.address       = Signal(64)
        self.completed     = Signal(32)
        self.reason        = Signal(8)
        self.stopped_bytes = Signal(24)
        self.bytes         = Signal(64)
        self.count         = Signal(16)
        self.us            = Signal(16)
        self.slot          = Signal()
        self.interrupt     = Signal()
        self.quiet         = Signal()
        self.stop          = Signal()
        self.enable        = Signal()
        self.no_block      = Signal()
        self.msi           = stream.Endpoint([("dat", 8)])
        self.idle          = Signal()
        self.settled       = Signal()

        # # #

        self.port       = port
        self.moderation = moderation = Moderation(clk_freq)
        begin    = Signal()      # A block begins: what it says is as of this cycle.
        raised   = Signal()      # The MSI was taken.
        dirty    = Signal()      # An event is not in a block yet.
        urgent   = Signal()      # The stop is not yet told.
        untold   = Signal()      # ``completed`` is not what the last block said.
        seen     = Signal(16)    # Interrupts, modulo 2**16; of these
        reported = Signal(16)    # so many are in a block,
        raised_for = Signal(16)  # and so many had their MSI.
        waiting  = Signal(16)    # The others, as of the last cycle.
        owed     = Signal()      # Some are in a block and had no MSI.
        self.comb += [
            moderation.count.eq(self.count),
            moderation.us.eq(self.us),
            moderation.waiting.eq(waiting),
            moderation.restart.eq(raised),
        ]
        self.sync += [
            seen.eq(seen + self.interrupt),
            waiting.eq(seen - raised_for),
            If(begin,
                dirty.eq(self.interrupt),
                untold.eq(self.slot),
                reported.eq(seen),
                owed.eq(seen != raised_for)
            ).Else(
                If(self.interrupt | self.stop, dirty.eq(1)),
                If(self.slot, untold.eq(1))
            ),
            If(raised,
                raised_for.eq(reported),
                owed.eq(0),
                If(~dirty, urgent.eq(0))
            ),
            If(self.stop, urgent.eq(1)),
        ]
        self.add_packet(begin)

        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            If(self.enable,
                If((owed & moderation.due) | (urgent & ~dirty),
                    NextState("MSI")
                ).Elif(dirty | (self.quiet & untold),
                    begin.eq(1),
                    NextState("BLOCK"),
                    If(self.no_block, NextState("IDLE"))
                )
            )
        )
        fsm.act("BLOCK",
            port.sink.valid.eq(1),
            If(port.sink.ready & port.sink.last, NextState("SENT"))
        )
        fsm.act("SENT",
            If(port.sent, NextState("IDLE"))
        )
        fsm.act("MSI",
            # Taken back by a reset: a PHY whose MSI is not enabled may never take it.
            self.msi.valid.eq(1),
            raised.eq(self.msi.ready),
            If(raised | ~self.enable, NextState("IDLE"))
        )
        self.comb += [
            self.idle.eq(~fsm.ongoing("BLOCK") & ~fsm.ongoing("SENT")),
            self.settled.eq(fsm.ongoing("IDLE") & ~dirty & ~urgent & ~untold),
        ]

    def add_packet(self, begin):
        """The four dwords, held from ``begin`` on, in the lanes they have in the TLP."""
        sink   = self.port.sink
        lanes  = len(sink.dat) // 32
        dwords = STATUS_BYTES // 4
        long   = Signal()                    # Four dwords of header; the address is set long before.
        beat   = Signal(max=4)
        block  = Signal(8 * STATUS_BYTES)
        choice = [Signal(max=dwords) for _ in range(lanes)]  # Dword of a lane.
        cases  = {}
        for is_long, header in ((0, HEADER_3DW // 4), (1, HEADER_4DW // 4)):
            lane  = header % lanes
            beats = ceil((lane + dwords) / lanes)
            cases[is_long] = [sink.last.eq(beat == beats - 1)]
            # Lanes of the header and behind the end repeat dwords: one multiplexer of four a lane.
            for n in range(lanes):
                place = Signal(max=dwords)
                self.comb += place.eq(lanes * beat + (n - lane) % dwords)
                cases[is_long].append(choice[n].eq(place))
        self.comb += [
            Case(long, cases),
            *[sink.dat[32 * n:32 * (n + 1)].eq(
                Array(block[32 * m:32 * (m + 1)] for m in range(dwords))[choice[n]])
                for n in range(lanes)],
            sink.first.eq(beat == 0),
            sink.address.eq(self.address),
            sink.length.eq(STATUS_BYTES),
        ]
        self.sync += [
            long.eq(self.address[32:] != 0),
            If(begin,
                beat.eq(0),
                block.eq(Cat(self.completed, self.reason, self.stopped_bytes, self.bytes))
            ).Elif(sink.valid & sink.ready,
                beat.eq(beat + 1)
            )
        ]
