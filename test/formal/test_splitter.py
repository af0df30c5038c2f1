#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Splitter: gateware/dma/descriptor.py."""

from migen import *

from litex.gen import *

from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.dma import descriptor

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

ENDPOINT_WIDTH = 20

# Properties ---------------------------------------------------------------------------------------


class SplitterCovers(Harness):
    """Requests cover each descriptor exactly, in order; none crosses a multiple of MPS, MRRS or 4 KiB.

    For descriptors of 1 to 2**24 - 1 bytes at every host address, boundaries of 128 to 4096 bytes and any
    back-pressure. Assumed: the boundary is constant, and set one cycle before the first descriptor; a descriptor does
    not wrap around the end of the host's addresses.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = self.make()
        sink, source   = dut.sink, dut.source
        self.free(sink, source.ready, dut.run)
        parts = self.parts(dut)
        self.tied(*[part.source.first for part in parts])
        self.constant(dut.boundary)
        self.assume("boundary", Reduce("OR", [dut.boundary == 1 << n for n in range(7, 13)]))
        self.assume("boundary_is_set", ~self.first_cycle | ~dut.run)
        self.assume("descriptor", (sink.length != 0) & (sink.reason == REASON_NONE)
            & (Cat(sink.host, Constant(0, 1)) + sink.length <= 1 << 64))

        # What is left of the descriptors that were accepted: of every second one, if the unit holds two.
        count = len(parts)
        enter, leave = [Signal() if count > 1 else Constant(0) for _ in range(2)]   # Of the next, and of the oldest.
        hosts     = [Signal(64, name=f"host{n}") for n in range(count)]
        endpoints = [Signal(ENDPOINT_WIDTH, name=f"endpoint{n}") for n in range(count)]
        lefts     = [Signal(24, name=f"left{n}") for n in range(count)]
        flags     = [Signal(2, name=f"flags{n}") for n in range(count)]
        if count > 1:
            self.sync += [
                If(sink.valid & sink.ready, enter.eq(~enter)),
                If(source.valid & source.ready & source.last, leave.eq(~leave)),
            ]
        for n in range(count):
            self.sync += [
                If(source.valid & source.ready & (leave == n),
                    hosts[n].eq(hosts[n] + source.length),
                    endpoints[n].eq(endpoints[n] + source.length),
                    lefts[n].eq(lefts[n] - source.length),
                ),
                If(sink.valid & sink.ready & (enter == n),
                    hosts[n].eq(sink.host),
                    endpoints[n].eq(sink.endpoint),
                    lefts[n].eq(sink.length),
                    flags[n].eq(Cat(sink.interrupt, sink.slot_last)),
                ),
            ]
        offset = Signal(13)  # Of the request, in its block of host memory.
        left   = Array(lefts)[leave]
        self.comb += offset.eq(source.host & (dut.boundary - 1))
        self.implies("covers_host", source.valid, source.host == Array(hosts)[leave])
        self.implies("covers_endpoint", source.valid, source.endpoint == Array(endpoints)[leave])
        self.implies("not_empty", source.valid, source.length != 0)
        self.implies("within_descriptor", source.valid, source.length <= left)
        self.implies("last_ends_descriptor", source.valid, source.last == (source.length == left))
        self.implies("within_boundary", source.valid, offset + source.length <= dut.boundary)
        self.implies("within_4_kib", source.valid, source.host[:12] + source.length <= 4096)
        self.implies("flags", source.valid, Cat(source.interrupt, source.slot_last) == Array(flags)[leave])
        self.implies("whole_before_next", sink.valid & sink.ready, Array(lefts)[enter] == 0)
        self.implies("goes_on", left != 0, source.valid)
        self.check("stable", self.stable(source))

        # What the registers hold, for induction.
        for n, part in enumerate(parts):
            size, mask, more = part.size, part.mask, part.more
            expected = Signal.like(more)
            at       = Signal(13)
            self.comb += [
                at.eq(part.source.host & (dut.boundary - 1)),
                expected.eq(lefts[n] + at - dut.boundary),
            ]
            self.helper(f"size_and_mask{n}", self.first_cycle | (size == dut.boundary) & (mask == dut.boundary - 1))
            self.helper(f"busy_until_whole{n}", part.busy == (lefts[n] != 0))
            self.helper(f"more{n}", ~part.busy | (more == expected))
        if count > 1:
            self.helper("turns", (enter == dut.enter) & (leave == dut.leave))
            self.helper("oldest_first", (enter == leave) == ((lefts[0] != 0) == (lefts[1] != 0)))
            self.helper("waits", (lefts[0] == 0) & (lefts[1] == 0) | (left != 0))
            for n, part in enumerate(parts):
                values = Cat(part.source.host, part.source.endpoint, part.source.interrupt, part.source.slot_last)
                model  = Cat(hosts[n], endpoints[n], flags[n])
                self.helper(f"holds{n}", ~part.busy | (values == model))

    def make(self):
        return descriptor.Splitter(ENDPOINT_WIDTH)

    def parts(self, dut):
        return [dut]


class PairCovers(SplitterCovers):
    """As a splitter alone, and no descriptor overtakes another one, although the next begins before one has ended."""
    def make(self):
        return descriptor.SplitterPair(ENDPOINT_WIDTH)

    def parts(self, dut):
        return dut.parts

# Proofs -------------------------------------------------------------------------------------------

PROOFS = [
    Proof("splitter", SplitterCovers, depth=6, induction=2),
    Proof("pair of splitters", PairCovers, depth=6, induction=2),
]

MUTANTS = [
    Mutant("length_without_mask", PROOFS[0], descriptor, "more[:12] & mask, size)", "more[:12], size)"),
    Mutant("length_without_offset", PROOFS[0], descriptor, "size) - offset),", "size)),"),
    Mutant("last_one_late", PROOFS[0], descriptor, "more[-1] | (more == 0)", "more[-1]"),
    Mutant("mask_of_half_the_boundary", PROOFS[0], descriptor, "size_mask(self.boundary))]",
        "size_mask(self.boundary) >> 1)]"),
    Mutant("pair_enters_out_of_turn", PROOFS[1], descriptor, "If(sink.valid & sink.ready, enter.eq(~enter)),",
        "If(sink.valid, enter.eq(~enter)),"),
    Mutant("pair_leaves_after_each_request", PROOFS[1], descriptor,
        "If(source.valid & source.ready & source.last, leave.eq(~leave)),",
        "If(source.valid & source.ready, leave.eq(~leave)),"),
    Mutant("pair_asks_both", PROOFS[1], descriptor, "part.source.ready.eq(source.ready & (leave == n)),",
        "part.source.ready.eq(source.ready),"),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
