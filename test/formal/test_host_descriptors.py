#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Bounds of the user's descriptors in host memory: gateware/soc/host_descriptors.py."""

from migen import *

from litex.gen import *

from litepcie_soc.dma.engine import DIRECTIONS
from litepcie_soc.soc import host_buffers, host_descriptors

from test.formal.given_buffer import GivenBuffer
from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

BUFFERS, LIMIT, PAGE_BITS, MEMORY, DEPTH = 2, 0x4000, 12, 0x1000, 2

# Properties ---------------------------------------------------------------------------------------


class Bounds(Harness):
    """Descriptors that are executed lie in a buffer that the card has; it is busy until they have ended.

    For any descriptors, registers, resets, and ends that are taken at any time or never. Assumed: the driver replaces
    a buffer only after it took it and then saw it not busy; the reader and the writer end what they were given, in
    its order, and nothing else.
    """
    def __init__(self):
        Harness.__init__(self)
        self.host = host = host_buffers.HostBuffers(BUFFERS, LIMIT)
        self.dut  = dut  = host_descriptors.HostDescriptors(host, MEMORY, DEPTH)
        self.free(dut.sink, dut.source.ready, dut.can_send, dut.reset)
        self.tied("*")
        self.comb += host.reset.eq(dut.reset)
        given = GivenBuffer(self, host)
        which, base, pages, busy, gone = given.which, given.base, given.pages, given.busy, given.gone

        # A reader and a writer: how many descriptors, of all buffers and of this one, they have.
        for name in DIRECTIONS:
            source, done, idle = dut.sources[name], dut.dones[name], dut.idles[name]
            count, order = Signal(5), Signal(16)    # In `order`, bit n: the n-th oldest is of this buffer.
            mine = Signal()
            end  = Signal()
            self.free(source.ready, done.valid, done.last, done.reason, idle)
            self.comb += [
                mine.eq(source.valid & (dut.number == which)),
                end.eq(done.valid & done.last),
            ]
            pushes = source.valid & source.ready
            self.sync += [
                If(dut.forget,
                    count.eq(0), order.eq(0)
                ).Else(
                    count.eq(count + pushes - end),
                    order.eq((order | Mux(pushes & (dut.number == which), 1 << count, 0)) >> end),
                )
            ]
            self.assume(f"{name}_ends_what_it_has", ~done.valid | (count != 0))
            self.assume(f"{name}_idle", ~idle | (count == 0) | ~dut.run)
            self.assume(f"{name}_idle_has_no_end", ~idle | ~done.valid)
            self.assume(f"{name}_nothing_while_forgotten", ~dut.forget | ~done.valid)
            address = Signal(64)
            length  = Signal(64)
            self.comb += [
                address.eq(source.host - Cat(Constant(0, PAGE_BITS), base)),
                length.eq(address + source.length),
            ]
            self.implies(f"{name}_inside",    mine, (source.length != 0) & (address < LIMIT) &
                (length <= Cat(Constant(0, PAGE_BITS), pages)))
            self.implies(f"{name}_permitted", mine, given.may_write if name == "writer" else given.may_read)
            self.implies(f"{name}_endpoint",  source.valid, source.endpoint + source.length <= MEMORY)
            self.implies(f"{name}_busy_says_so", mine | (order != 0), busy)
            self.implies(f"{name}_nothing_after_busy", gone, ~mine & (order == 0))
            self.implies(f"{name}_fits", count == DEPTH, ~pushes)
        self.check("one_kind", ~(dut.sources["reader"].valid & dut.sources["writer"].valid))
        self.implies("reset_takes_all", self.previous(host.reset), host.valid.status == 0)
        # Every descriptor has one end, and each end a place.
        left = Signal(6)
        self.sync += left.eq(left + (dut.sink.valid & dut.sink.ready) - (dut.source.valid & dut.source.ready))
        self.implies("no_end_without_a_descriptor", left == 0, ~dut.source.valid)
        self.check("a_place_for_each", left <= DEPTH)
        for name in DIRECTIONS:
            ends = getattr(dut, f"ends_{name}")
            self.implies(f"{name}_end_fits", ends.sink.valid, ends.sink.ready)
        self.implies("refusal_fits", dut.refused.sink.valid, dut.refused.sink.ready)

PROOFS  = [Proof("host descriptors", Bounds, depth=16)]
MUTANTS = [
    Mutant("takes_an_old_address", PROOFS[0], host_descriptors, "Elif(~known,", "Elif(~table.known,"),
    Mutant("one_byte_more",        PROOFS[0], host_descriptors, "(end > Cat", "(end > 1 + Cat"),
    Mutant("ignores_permission",   PROOFS[0], host_descriptors, "Mux(wanted.write, table.may_write, table.may_read)",
        "table.may_read"),
    Mutant("forgets_the_endpoint", PROOFS[0], host_descriptors, "(end_endpoint > self.memory_size)", "0"),
    Mutant("busy_too_short",       PROOFS[0], host_descriptors, "If(self.under_check, Case", "If(0, Case"),
    Mutant("busy_until_passed",    PROOFS[0], host_descriptors, "*[If(count != 0,", "*[If(0,"),
    Mutant("one_place_too_few",    PROOFS[0], host_descriptors, "room.eq(used != self.depth)", "room.eq(1)"),
    Mutant("survives_a_reset",     PROOFS[0], host_buffers, "If(self.reset, valid.eq(0)),", ""),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
