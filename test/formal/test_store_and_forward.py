#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Store-and-forward buffer: gateware/phy/store_and_forward.py."""

from unittest import mock

from migen import *

from litex.gen import *

from litepcie_soc.phy import store_and_forward

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

# Properties ---------------------------------------------------------------------------------------


class StoresWhole(Harness):
    """A TLP leaves without a gap, with one `last` for its `first`, in order; a truncated one does not leave.

    For a buffer of eight beats, any back-pressure, and TLPs of up to half of it. Assumed: the sink offers packets from
    `first` to `last`, and only a last beat is marked as the end of a truncated TLP.
    """
    def __init__(self):
        Harness.__init__(self)
        with mock.patch.object(store_and_forward, "MAX_PAYLOAD", 16):
            self.dut = dut = store_and_forward.StoreAndForward(64)
        sink, source = dut.sink, dut.source
        self.free(sink, source.ready, dut.cut)
        self.tied("replace", "sink_first", "sink_last")
        well_formed, _ = self.packets(sink)
        self.assume("packets", well_formed)
        length = Signal(3)
        self.sync += If(sink.valid & sink.ready, If(sink.last, length.eq(0)).Else(length.eq(length + 1)))
        self.assume("fits", (length < 3) | sink.last)
        self.assume("cut_only_at_the_end", ~dut.cut | sink.last)

        well_formed, opened = self.packets(source)
        self.check("packets", well_formed)
        self.implies("no_gap", opened, source.valid)
        self.check("stable", self.stable(source))

        # Whole TLPs in and out; an arbitrary one is followed.
        chosen = Signal(3)
        beat   = Signal(2)
        self.constant(chosen, beat)
        kept   = Signal(sink.dat.nbits)
        seen   = Signal()
        taken  = Signal()
        sent   = Signal(4)
        stored = Signal(4)
        place  = Signal(3)
        self.comb += taken.eq(sink.valid & sink.ready)
        self.sync += [
            If(taken & (stored == chosen) & (length == beat), kept.eq(sink.dat), seen.eq(1)),
            If(taken & sink.last,
                If(dut.cut, If(stored == chosen, seen.eq(0))).Else(stored.eq(stored + 1))),
            If(source.valid & source.ready,
                place.eq(place + 1),
                If(source.last, sent.eq(sent + 1), place.eq(0))),
        ]
        self.assume("few", stored < 8)
        self.implies("only_whole", source.valid, sent != stored)
        self.implies("same_beat", source.valid & (sent == chosen) & (place == beat), seen & (source.dat == kept))
        quiet = Signal(4)
        self.sync += If(source.valid | (sent == stored), quiet.eq(0)).Else(quiet.eq(quiet + 1))
        self.check("goes_on", quiet <= 7)

PROOFS = [Proof("store and forward", StoresWhole, depth=10)]

MUTANTS = [
    Mutant("forwards_at_once", PROOFS[0], store_and_forward, "If(~tlp.valid | tlp.cut,", "If(tlp.valid & tlp.cut,"),
    Mutant("forwards_truncated", PROOFS[0], store_and_forward, "If(~tlp.valid | tlp.cut,", "If(~tlp.valid,"),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
