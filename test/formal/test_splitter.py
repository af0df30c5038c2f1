#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Splitter: gateware/dma/descriptor.py."""

import pytest

from migen import *

from litex.gen import *

from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.dma import descriptor

from test.formal.harness import Harness, inner
from test.formal.proof import Mutant, Proof, quick

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
        self.dut = dut = descriptor.Splitter(ENDPOINT_WIDTH)
        sink, source   = dut.sink, dut.source
        self.free(sink, source.ready, dut.run)
        self.tied(source.first)
        self.constant(dut.boundary)
        self.assume("boundary", Reduce("OR", [dut.boundary == 1 << n for n in range(7, 13)]))
        self.assume("boundary_is_set", ~self.first_cycle | ~dut.run)
        self.assume("descriptor", (sink.length != 0) & (sink.reason == REASON_NONE)
            & (Cat(sink.host, Constant(0, 1)) + sink.length <= 1 << 64))

        # What is left of the descriptor that was accepted last.
        host     = Signal(64)
        endpoint = Signal(ENDPOINT_WIDTH)
        left     = Signal(24)
        flags    = Signal(2)
        self.sync += [
            If(source.valid & source.ready,
                host.eq(host + source.length),
                endpoint.eq(endpoint + source.length),
                left.eq(left - source.length),
            ),
            If(sink.valid & sink.ready,
                host.eq(sink.host),
                endpoint.eq(sink.endpoint),
                left.eq(sink.length),
                flags.eq(Cat(sink.interrupt, sink.slot_last)),
            ),
        ]
        offset = Signal(13)  # Of the request, in its block of host memory.
        self.comb += offset.eq(source.host & (dut.boundary - 1))
        self.implies("covers_host", source.valid, source.host == host)
        self.implies("covers_endpoint", source.valid, source.endpoint == endpoint)
        self.implies("not_empty", source.valid, source.length != 0)
        self.implies("within_descriptor", source.valid, source.length <= left)
        self.implies("last_ends_descriptor", source.valid, source.last == (source.length == left))
        self.implies("within_boundary", source.valid, offset + source.length <= dut.boundary)
        self.implies("within_4_kib", source.valid, source.host[:12] + source.length <= 4096)
        self.implies("flags", source.valid, Cat(source.interrupt, source.slot_last) == flags)
        self.implies("whole_before_next", sink.valid & sink.ready, left == 0)
        self.check("stable", self.stable(source))

        # What the registers hold, for induction.
        size, mask, more = [inner(dut, name) for name in ("size", "mask", "more")]
        expected = Signal.like(more)
        self.comb += expected.eq(left + offset - dut.boundary)
        self.helper("size_and_mask", self.first_cycle | (size == dut.boundary) & (mask == dut.boundary - 1))
        self.helper("busy_until_whole", dut.busy == (left != 0))
        self.helper("more", ~dut.busy | (more == expected))

# Proofs -------------------------------------------------------------------------------------------

PROOFS = [Proof("splitter", SplitterCovers, depth=6, induction=2)]

MUTANTS = [
    Mutant("length_without_mask", PROOFS[0], descriptor, "more[:12] & mask, size)", "more[:12], size)"),
    Mutant("length_without_offset", PROOFS[0], descriptor, "size) - offset),", "size)),"),
    Mutant("last_one_late", PROOFS[0], descriptor, "more[-1] | (more == 0)", "more[-1]"),
    Mutant("mask_of_half_the_boundary", PROOFS[0], descriptor, "size_mask(self.boundary))]",
        "size_mask(self.boundary) >> 1)]"),
]


@pytest.mark.parametrize("proof", quick(PROOFS), ids=str)
def test_requests_cover_descriptors(proof):
    proof.check()


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_cover_fails_on_mutant(mutant):
    mutant.check()
