#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Messages of MSI-X: gateware/soc/msix.py."""

from migen import *

from litex.gen import *

from litepcie_soc.soc import msix
from litepcie_soc.tlp.ports import MemoryWritePort

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

VECTORS = 2

# Properties ---------------------------------------------------------------------------------------


class Messages(Harness):
    """A request of a vector gives one message or more, or pends; a masked vector or function begins none.

    For any vector, masks and enables that change at any time, resets, and messages that are dropped. Assumed: the port
    reports each message once after it took it, and requests have a vector of the table.
    """
    def __init__(self):
        Harness.__init__(self)
        port     = MemoryWritePort(64, "msix")
        self.dut = dut = msix.MSIX(port, VECTORS)
        sink, out, vector = dut.sink, port.sink, dut.vector
        self.free(sink, out.ready, port.sent, port.dropped, dut.enable, dut.function_mask, dut.can_send, dut.clear,
            dut.masked)
        which, wanted, may = Signal(max=VECTORS), Signal(), Signal()
        self.constant(which)
        taken = self.since(out.valid & out.ready, port.sent)
        self.assume("which",   which < VECTORS)
        self.assume("vectors", ~sink.valid | (sink.dat < VECTORS))
        self.assume("sent",    ~port.sent | taken)
        begins = Signal()
        self.comb += [
            begins.eq(out.valid & ~self.previous(out.valid & ~out.ready) & (vector == which)),
            may.eq(dut.enable & ~dut.function_mask & dut.can_send & ((dut.masked >> which) & 1 == 0)),
        ]
        # The host still has to get a message of the vector.
        self.sync += [
            If(begins, wanted.eq(0)),
            If((sink.valid & (sink.dat == which)) | (port.sent & port.dropped & (vector == which)), wanted.eq(1)),
            If(~dut.enable | dut.clear, wanted.eq(0)),
        ]
        pending = (dut.pending >> which) & 1
        self.implies("nothing_is_lost",       wanted & ~begins, pending)
        self.implies("nothing_is_invented",   pending, wanted)
        self.implies("mask_holds",            begins, self.previous(may))
        self.check("message_stays",           self.stable(out))
        self.implies("never_two_at_once",     out.valid, ~taken)
        self.helper("vector", vector < VECTORS)
        self.helper("taken",  taken == dut.fsm.ongoing("SENT"))
        self.helper("valid",  out.valid == dut.fsm.ongoing("SEND"))

PROOFS  = [Proof("msix", Messages, depth=26, induction=3)]
MUTANTS = [
    Mutant("forgets_the_function_mask", PROOFS[0], msix, "self.enable & ~self.function_mask &", "self.enable &"),
    Mutant("forgets_the_mask",          PROOFS[0], msix, "self.pending & ~self.masked &", "self.pending &"),
    Mutant("loses_a_dropped_message",   PROOFS[0], msix, "| Mux(lost, 1 << vector, 0)", ""),
    Mutant("loses_a_request",           PROOFS[0], msix, "taken.eq(ready)", "taken.eq(1)"),
    Mutant("keeps_what_it_sent",        PROOFS[0], msix, "~Mux(taken, 1 << vector, 0)", "~0"),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
