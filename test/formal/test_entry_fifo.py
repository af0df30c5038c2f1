#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Entry FIFO: gateware/tlp/completion_writer.py."""

from migen import *

from litex.gen import *

from litepcie_soc.tlp import completion_writer

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

DEPTH = 4

# Properties ---------------------------------------------------------------------------------------


class EntriesInOrder(Harness):
    """Entries leave in order and none is lost; alone, an entry is valid one cycle after it came.

    Assumed: no entry comes while DEPTH are inside. Entry n holds n.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = completion_writer.EntryFIFO([("number", 4)], DEPTH)
        sink, source   = dut.sink, dut.source
        came = Signal(4)
        left = Signal(4)
        self.free(sink.valid, source.ready)
        self.tied("*")
        self.assume("room", ~sink.valid | (dut.level < DEPTH))
        self.comb += sink.number.eq(came)
        self.sync += [
            came.eq(came + sink.valid),
            left.eq(left + (source.valid & source.ready)),
        ]
        inside = Signal(4)
        self.comb += inside.eq(came - left)
        self.implies("has_room", sink.valid, sink.ready)
        self.implies("in_order", source.valid, source.number == left)
        self.check("level", dut.level == inside)
        self.check("at_once", source.valid == (inside != 0))

# Proofs -------------------------------------------------------------------------------------------

PROOFS = [Proof("entry FIFO", EntriesInOrder, depth=12)]

MUTANTS = [
    Mutant("overtakes", PROOFS[0], completion_writer, "sink.valid & (waits | ~take)", "sink.valid & ~take"),
    Mutant("stored_twice", PROOFS[0], completion_writer, "fifo.sink.valid.eq(sink.valid & (waits | ~take)),",
        "fifo.sink.valid.eq(sink.valid),"),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
