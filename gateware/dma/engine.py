#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""DMA engine: descriptor ring, reader or writer, status unit, counters and control.

    doorbell --> EngineRegisters --> control --------> reset, STOPPED with a reason
                                        |
    host memory --> DescriptorRing --> Reader or Writer --> Progress, Counters
                    (`fetch.py`)        |                     |
                                  endpoint memory        StatusUnit --> status block, then MSI
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import REASON_BAD_RING, REASON_DOORBELL, REASON_NONE
from litepcie_soc.dma.descriptor import PAIR_BITS, SIZE_MAX, at_most
from litepcie_soc.dma.fetch import ADDRESS_SHIFT, COUNT_BITS, RING_LOG2_MAX
from litepcie_soc.dma.reader import Reader
from litepcie_soc.dma.registers import Counters, EngineRegisters, Progress
from litepcie_soc.dma.ring import DescriptorRing
from litepcie_soc.dma.settle import settled
from litepcie_soc.dma.status import StatusUnit
from litepcie_soc.dma.writer import Writer

# DMA Engine ---------------------------------------------------------------------------------------

DIRECTIONS = ("reader", "writer")

# Below this width the registers of the direct descriptor are ignored, to save LUTs: their links are slow.
DIRECT_BITS = 128

# Descriptors of the first request of a fetch, by width; the others save the LUTs. At 128 bit this is for a writer only:
# the data of a reader would come no earlier, because on that link it shares the path of completions with descriptors.
# At 512 bit the second request follows later than four descriptors last.
EARLY = {128: 4, 256: 4, 512: 8}


class DMAEngine(LiteXModule):
    """Executes the descriptors of one ring in host memory.

    The engine starts and pauses with ENABLE; a pause begins at a descriptor boundary. An error stops it:
    it issues no more requests, drains those in flight, then writes the reason into the status block
    and waits in STOPPED. RESET returns every state to OFF: it drains the requests in flight and clears all state.

    Parameters
    ----------
    direction       : "reader" (host memory to endpoint memory) or "writer".
    clk_freq        : Hz of ``sys``.
    descriptor_port : MemoryReadPort for descriptors; two tags or more.
    data_port       : MemoryReadPort of a reader, MemoryWritePort of a writer.
    status_port     : MemoryWritePort for the status block.
    memory          : MemoryWriteStream of a reader, MemoryReadStream of a writer; None for a
        stream (``StreamEngine``).
    descriptors     : descriptors prefetched, a power of two. One request fetches at most half of them
        and at most MRRS. The prefetched descriptors must cover the host's latency: at two cycles per
        descriptor, 64 cover about 100 cycles; 128 with four tags cover more.
    longest_read    : most bytes of a request for data, a power of two from 128, even if MRRS is larger.

    Attributes
    ----------
    max_payload_size, max_request_size : 16, **in**, MPS and MRRS in force, bytes.
    can_send  : 1, **in**, requests can be sent: bus mastering is on and the link is up. The status block and its MSI
        wait for it.
    reset     : 1, **in**, one cycle: resets the engine as the register field RESET does.
    forget    : 1, **in**, a reset that ends meanwhile also sets the registers that the host wrote to 0.
    resetting : 1, **out**, a reset is in progress; high from the cycle after ``reset``.
    msi       : Endpoint(``dat``: vector), **out**.

    Registers
    ---------
    ENGINE_* of ``litepcie_regs.h``, in the order of ``get_csrs(sort=True)``.

    Raises ``ValueError`` if ``direction`` is neither "reader" nor "writer".
    """
    MOVERS  = {"reader": Reader, "writer": Writer}
    FLUSHES = False  # Whether there is a register FLUSH_US.

    def __init__(self, direction, *, clk_freq, descriptor_port, data_port, status_port,
        memory=None, descriptors=64, longest_read=SIZE_MAX):
        if direction not in DIRECTIONS:
            raise ValueError(f"direction must be one of {DIRECTIONS}, not {direction!r}")
        self.direction        = direction
        self.longest_read     = longest_read
        self.max_payload_size = Signal(16)
        self.max_request_size = Signal(16)
        self.can_send         = Signal(reset=1)
        self.reset            = Signal()
        self.forget           = Signal()
        self.resetting        = Signal()
        self.msi              = stream.Endpoint([("dat", 8)])

        # # #

        # One ResetInserter: the end of a reset clears all these modules in the same cycle.
        clear = ResetInserter()
        wide  = data_port.data_width >= PAIR_BITS
        self.direct = data_port.data_width >= DIRECT_BITS
        self.ring      = clear(DescriptorRing(descriptor_port,
            memory_size = None if memory is None else memory.size,
            depth       = descriptors,
            direct      = self.direct,
            early       = EARLY.get(data_port.data_width, 0) if direction == "writer" or wide else 0,
        ))
        self.mover     = clear(self.make_mover(data_port, memory))
        self.progress  = clear(Progress())
        self.status    = clear(StatusUnit(status_port, clk_freq=clk_freq))
        self.counters  = clear(Counters())
        self.registers = EngineRegisters(self.counters, self.FLUSHES)

        self.doorbell = Signal(32)   # The last doorbell that was legal.
        self.reason   = Signal(4)    # Why the engine stops.
        self.clear    = Signal()
        self.work     = Signal()     # DOORBELL and COMPLETED differ; two cycles late.
        self.drained  = Signal()     # No request is in flight.
        self.halted   = Signal()     # Drained while ``stopping``, so none will follow; one cycle late.
        self.idle     = Signal(reset=1)  # Drained, and no work is left or the engine is off; one cycle late.
        self.comb += [
            *[part.reset.eq(self.clear) for part in (
                self.ring, self.mover, self.progress, self.status, self.counters)],
            self.drained.eq(self.ring.idle & self.mover.idle),
        ]
        self.add_control()
        self.add_doorbell()
        self.add_data_path()
        self.add_status()
        self.add_counters()

    def make_mover(self, port, memory):
        return settled(self.MOVERS[self.direction](port, memory), memory)

    def get_csrs(self, sort=False):
        return self.registers.get_csrs(sort=sort)

    # Control --------------------------------------------------------------------------------------

    def add_control(self):
        registers = self.registers
        control   = registers.control
        enable    = control.fields.enable
        reset     = control.fields.reset
        requested = Signal()         # ``reset`` was pulsed.
        self.running  = Signal()
        self.stopping = Signal()     # No request is issued.
        self.stopped  = Signal()     # Stopping, and drained.
        self.stopped_bytes = Signal(24)
        self.bad_doorbell = Signal() # The doorbell moved backwards, or is more than a ring ahead of COMPLETED.
        self.failure  = Signal(4)
        self.comb += [
            self.resetting.eq(reset | requested),
            If(self.progress.reason != REASON_NONE,
                self.failure.eq(self.progress.reason)
            ).Elif(self.bad_doorbell,
                self.failure.eq(REASON_DOORBELL)
            )
        ]
        self.fsm = fsm = FSM(reset_state="OFF")
        fsm.act("OFF",
            If(self.resetting,
                NextState("RESET")
            ).Elif(self.failure != REASON_NONE,
                NextValue(self.reason, self.failure),
                NextState("STOPPING")
            ).Elif(enable,
                NextState("CHECK")
            )
        )
        bad_ring = Signal()
        self.sync += bad_ring.eq(self.bad_ring())
        fsm.act("CHECK",
            NextState("RUN"),
            If(bad_ring,
                NextValue(self.reason, REASON_BAD_RING),
                NextState("STOPPING")
            )
        )
        fsm.act("RUN",
            self.running.eq(1),
            If(self.resetting,
                NextState("RESET")
            ).Elif(self.failure != REASON_NONE,
                NextValue(self.reason, self.failure),
                NextState("STOPPING")
            ).Elif(~enable,
                NextState("OFF")
            )
        )
        fsm.act("STOPPING",
            self.stopping.eq(1),
            If(self.resetting,
                NextState("RESET")
            ).Elif(self.halted,
                self.status.stop.eq(1),
                NextState("STOPPED")
            )
        )
        fsm.act("STOPPED",
            self.stopping.eq(1),
            self.stopped.eq(1),
            If(self.resetting, NextState("RESET"))
        )
        fsm.act("RESET",
            self.stopping.eq(1),
            If(self.halted & self.status.idle,
                self.clear.eq(1),
                NextValue(self.reason, REASON_NONE),
                NextState("OFF")
            )
        )
        self.sync += [
            self.halted.eq(self.stopping & self.drained),
            If(fsm.ongoing("STOPPING"), self.stopped_bytes.eq(self.progress.unfinished_bytes)),
            If(self.clear, requested.eq(0), self.stopped_bytes.eq(0)),
            If(self.reset, requested.eq(1)),
            # The ring, its requests and the status block in flight use the registers until the engine is off and idle.
            registers.locked.eq(enable | ~fsm.ongoing("OFF") | ~self.idle | ~self.status.idle),
        ]
        self.comb += [
            control.we.eq(self.clear),
            control.dat_w.eq(0),
            registers.forget.eq(self.clear & self.forget),
            registers.status.fields.running.eq(enable & ~self.stopping & ~self.resetting),
            registers.status.fields.stopped.eq(self.stopped),
            registers.status.fields.resetting.eq(self.resetting),
            registers.status.fields.reason.eq(self.reason),
            registers.status.fields.idle.eq(
                (self.idle | self.stopped) & self.status.settled & ~self.resetting),
        ]

    def bad_ring(self):
        """Expression: the ring's size is out of range, or the ring or the status block is misaligned.

        The ring must be aligned to its size, but at least to 64 and at most to 4096 bytes.
        """
        registers = self.registers
        log2      = registers.ring_log2.storage
        mask      = Cat(Constant(63, 6), self.ring.index_mask[6 - ADDRESS_SHIFT:12 - ADDRESS_SHIFT])
        return (
            (log2 == 0) | (log2 > RING_LOG2_MAX) | (registers.ring_lo.storage[:12] & mask != 0) |
            self.status.no_block
        )

    # Doorbell -------------------------------------------------------------------------------------

    def add_doorbell(self):
        register = self.registers.doorbell
        # The check takes two cycles, to keep its carry chains short. ``sampled`` is the register one cycle late,
        # ``candidate`` two cycles late, at the same time as ``too_far`` and ``backwards``.
        sampled   = Signal(32)
        distance  = Signal(32)       # doorbell - completed - 1: below the ring size while the doorbell is valid.
        differ    = Signal()         # Doorbell and COMPLETED differ; ``distance`` is -1 if they are equal.
        candidate = Signal(32)
        too_far   = Signal()         # ``candidate`` is more than a ring ahead of COMPLETED, or less than it.
        backwards = Signal()         # ``candidate`` is less than ``doorbell``; valid unless ``too_far``.
        accept    = Signal()
        moved     = Signal()         # ``candidate`` is not ``doorbell``.
        direct    = Signal(3)        # DIRECT_DOORBELL was written; one, two and three cycles late.
        # Proofs read them.
        self.sampled, self.distance = sampled, distance
        self.candidate, self.too_far, self.backwards = candidate, too_far, backwards
        # Two doorbells that are not too far from COMPLETED differ by at most the largest ring.
        low       = COUNT_BITS + 1
        following = Signal(low)      # ``doorbell`` of the next cycle.
        step      = Signal(low)
        self.comb += [
            differ.eq(distance != 2**32 - 1),
            accept.eq(self.running & ~too_far & ~backwards),
            self.bad_doorbell.eq(self.running & (too_far | backwards)),
            following.eq(Mux(accept, candidate[:low], self.doorbell[:low])),
            step.eq(sampled[:low] - following),
            register.clear.eq(self.clear),
        ]
        self.sync += [
            sampled.eq(register.storage),
            # COMPLETED only grows, so a late value makes the check stricter, never more lenient.
            distance.eq(register.storage + ~self.progress.completed),
            candidate.eq(sampled),
            self.work.eq(differ),
            too_far.eq(differ & (distance & ~Cat(self.ring.index_mask, Replicate(0, 20)) != 0)),
            backwards.eq(step[-1]),
            moved.eq(step != 0),
            direct.eq(Cat(self.registers.direct_doorbell.written, direct)),
            self.ring.direct_go.eq(accept & moved & direct[-1]),
            If(accept, self.doorbell.eq(candidate)),
            If(self.clear, self.doorbell.eq(0))
        ]

    # Ring and Mover -------------------------------------------------------------------------------

    def add_data_path(self):
        registers, ring, mover = self.registers, self.ring, self.mover
        boundary = (at_most(self.longest_read, self.max_request_size) if self.direction == "reader" else
            self.max_payload_size)
        self.comb += [
            ring.base.eq(Cat(registers.ring_lo.storage, registers.ring_hi.storage)),
            ring.size_log2.eq(registers.ring_log2.storage),
            ring.doorbell.eq(self.doorbell[:COUNT_BITS]),
            ring.max_request_size.eq(self.max_request_size),
            ring.run.eq(self.running),
            ring.direct.eq(Cat(*[register.written for register in registers.direct])),
            ring.direct_dat.eq(registers.direct_doorbell.dat),   # All registers see the same bus data.
            ring.source.connect(mover.sink),
            mover.boundary.eq(boundary),
            mover.run.eq(self.running),
            mover.issue.eq(~self.stopping),
            self.progress.done.eq(mover.done),
        ]

    # Status Block and MSI -------------------------------------------------------------------------

    def add_status(self):
        registers, status, progress = self.registers, self.status, self.progress
        self.comb += [
            status.address.eq(
                Cat(registers.status_address_lo.storage, registers.status_address_hi.storage)),
            status.no_block.eq(registers.status_address_lo.storage[:4] != 0),
            status.completed.eq(progress.completed),
            status.reason.eq(self.reason),
            status.stopped_bytes.eq(self.stopped_bytes),
            status.bytes.eq(progress.bytes),
            status.count.eq(registers.moderation.fields.count),
            status.us.eq(registers.moderation.fields.us),
            status.vector.eq(registers.interrupt.fields.vector),
            status.when_idle.eq(registers.interrupt.fields.idle),
            status.slot.eq(progress.slot),
            status.interrupt.eq(progress.interrupt),
            status.quiet.eq(self.idle & ~self.stopping),
            status.enable.eq(~self.resetting),
            status.can_send.eq(self.can_send),
            status.msi.connect(self.msi),
        ]
        self.sync += self.idle.eq(
            self.drained & ~self.mover.splitter.busy & (~self.running | ~self.work))

    # Registers ------------------------------------------------------------------------------------

    def add_counters(self):
        registers, mover, progress, counters = (
            self.registers, self.mover, self.progress, self.counters)
        self.comb += [
            counters.run.eq(
                self.work & ~self.stopped & ~self.resetting & (self.running | ~mover.idle)),
            counters.moved.eq(mover.moved),
            counters.tlp.eq(mover.tlp),
            counters.descriptor.eq(progress.descriptor),
            counters.wait_tag_now.eq(mover.wait_tag),
            counters.wait_link_now.eq(mover.wait_link),
            counters.wait_data_now.eq(mover.wait_data),
            registers.completed.status.eq(progress.completed),
            registers.stopped_bytes.status.eq(self.stopped_bytes),
            registers.bytes.eq(progress.bytes),
        ]
