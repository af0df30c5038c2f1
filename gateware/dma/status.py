#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Status block in host memory, and the MSI sent after it."""

from math import ceil

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import HEADER_3DW, HEADER_4DW

# Constants ----------------------------------------------------------------------------------------

STATUS_BYTES = 16

# Moderation ---------------------------------------------------------------------------------------


class Moderation(LiteXModule):
    """Decides when waiting interrupts are due: when there are enough of them, or the first has waited long enough.

    Parameters
    ----------
    clk_freq : Hz of ``sys``.

    Attributes
    ----------
    count, us : 16, **in**, limits, interrupts and microseconds; 0 in either means no delay.
    waiting   : 16, **in**, number of interrupts that wait.
    restart   : 1, **in**, an MSI was sent: the time starts again from 0.
    due       : 1, **out**, one cycle late.
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
    """Writes the status block to host memory and raises the MSI after it.

    A block is written when a descriptor with INTERRUPT completes, when the engine becomes idle with unreported
    descriptors, and when the engine stops. What the block reports has landed: a reader's data is in the endpoint
    memory; the PHY accepted a writer's data before this block. The MSI is raised after the PHY accepted the block.
    The next block reports events that happen while a block is in flight.

    The transaction layer drops blocks while bus mastering is off or the link is down. The unit writes a dropped block
    again, and raises no MSI before a block has reached the host.

    Parameters
    ----------
    port     : MemoryWritePort of the block.
    clk_freq : Hz of ``sys``.

    Attributes
    ----------
    address       : 64, **in**, host address of the block, a multiple of 16.
    completed, reason, stopped_bytes, bytes : 32, 8, 24, 64, **in**, contents of the block.
    count, us     : 16, **in**, limits of ``Moderation``.
    slot          : 1, **in**, one cycle: ``completed`` increments in the next cycle.
    interrupt     : 1, **in**, one cycle: a descriptor with INTERRUPT completed; causes a block and an MSI.
    quiet         : 1, **in**, the engine is idle: causes a block if something is unreported.
    when_idle     : 1, **in**, while the engine is idle, an MSI is sent without moderation.
    vector        : 5, **in**, vector of the MSI.
    stop          : 1, **in**, one cycle: the engine stopped; causes a block and an MSI without moderation. A
        block that begins in this cycle already contains the ``reason``.
    enable        : 1, **in**, blocks and MSIs may begin; without it, an MSI that is not yet accepted is withdrawn.
    can_send      : 1, **in**, requests can be sent: bus mastering is on and the link is up. Without it, as without
        ``enable``.
    no_block      : 1, **in**, ``address`` is not valid: no block is written.
    msi           : Endpoint(``dat``: vector), **out**.
    idle          : 1, **out**, no block is in flight.
    settled       : 1, **out**, everything is reported, except for interrupts that moderation delays.
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
        self.when_idle     = Signal()
        self.vector        = Signal(5)
        self.stop          = Signal()
        self.enable        = Signal()
        self.can_send      = Signal()
        self.no_block      = Signal()
        self.msi           = stream.Endpoint([("dat", 8)])
        self.idle          = Signal()
        self.settled       = Signal()

        # # #

        self.port       = port
        self.moderation = moderation = Moderation(clk_freq)
        begin       = Signal()    # A block begins; its contents are those of this cycle.
        lost        = Signal()    # The block was dropped.
        raised      = Signal()    # The PHY accepted the MSI.
        may_begin   = Signal()
        dirty       = Signal()    # An interrupt or the stop is not in a block yet.
        urgent      = Signal()    # The MSI of the stop has not been sent.
        unreported  = Signal()    # ``completed`` differs from the last block.
        # Interrupts, modulo 2^16: all so far, those reported in a block, and those whose MSI was sent.
        seen        = Signal(16)
        reported    = Signal(16)
        raised_for  = Signal(16)
        waiting     = Signal(16)  # Interrupts whose MSI was not sent; one cycle late.
        msi_pending = Signal()    # Some of them are in a block.
        self.comb += [
            moderation.count.eq(self.count),
            moderation.us.eq(self.us),
            moderation.waiting.eq(waiting),
            moderation.restart.eq(raised),
            may_begin.eq(self.enable & self.can_send),
        ]
        self.sync += [
            seen.eq(seen + self.interrupt),
            waiting.eq(seen - raised_for),
            If(begin,
                dirty.eq(self.interrupt),
                unreported.eq(self.slot),
                reported.eq(seen),
                msi_pending.eq(seen != raised_for)
            ).Else(
                If(self.interrupt | self.stop, dirty.eq(1)),
                If(self.slot, unreported.eq(1))
            ),
            If(raised,
                raised_for.eq(reported),
                msi_pending.eq(0),
                If(~dirty, urgent.eq(0))
            ),
            If(self.stop, urgent.eq(1)),
            # The next block reports again what this one did, and decides about the MSI.
            If(lost, dirty.eq(1), msi_pending.eq(0)),
        ]
        self.add_packet(begin)

        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            If(may_begin,
                If((msi_pending & (moderation.due | (self.when_idle & self.quiet))) | (urgent & ~dirty),
                    NextState("MSI")
                ).Elif(dirty | (self.quiet & unreported),
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
            lost.eq(port.sent & port.dropped),
            If(port.sent, NextState("IDLE"))
        )
        fsm.act("MSI",
            # A reset withdraws the MSI: a PHY with MSI disabled may never accept it.
            self.msi.valid.eq(self.can_send),
            self.msi.dat.eq(self.vector),
            raised.eq(self.can_send & self.msi.ready),
            If(raised | ~may_begin, NextState("IDLE"))
        )
        self.comb += [
            self.idle.eq(~fsm.ongoing("BLOCK") & ~fsm.ongoing("SENT")),
            self.settled.eq(fsm.ongoing("IDLE") & ~dirty & ~urgent & ~unreported),
        ]

    def add_packet(self, begin):
        """The block's four dwords, sampled at ``begin``, in the lanes they have in the TLP."""
        sink   = self.port.sink
        lanes  = len(sink.dat) // 32
        dwords = STATUS_BYTES // 4
        long   = Signal()                    # Header of four dwords. A register: the address is set long before.
        beat   = Signal(max=4)
        block  = Signal(8 * STATUS_BYTES)
        choice = [Signal(max=dwords) for _ in range(lanes)]  # Dword of the block in each lane.
        cases  = {}
        for is_long, header in ((0, HEADER_3DW // 4), (1, HEADER_4DW // 4)):
            lane  = header % lanes
            beats = ceil((lane + dwords) / lanes)
            cases[is_long] = [sink.last.eq(beat == beats - 1)]
            # Lanes before and after the block repeat its dwords: each lane needs just one 4:1 multiplexer.
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
