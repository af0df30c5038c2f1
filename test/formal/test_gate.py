#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Link gate: gateware/phy/gate.py."""

from migen import *

from litex.gen import *

from litepcie_soc.phy import gate

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

# Properties ---------------------------------------------------------------------------------------


class GateEnds(Harness):
    """Each `first` of the gate is followed by one `last`; a link that goes down ends an open packet.

    For the gate with `ends`, any packets, any back-pressure and a link that goes down and up at any time.
    Assumed: the sink offers packets from `first` to `last`.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = gate.LinkGate(64, ends=True)
        sink, source   = dut.sink, dut.source
        self.free(sink, source.ready, dut.link_up)
        well_formed, inside = self.packets(sink)
        self.assume("packets", well_formed)
        opened = Signal()  # A packet began on `source` and did not end.
        self.sync += If(source.valid & source.ready, opened.eq(~source.last))
        self.implies("first_only_outside", source.valid & source.first, ~opened)
        self.implies("only_first_outside", source.valid & ~opened, source.first)
        self.implies("link_down_ends", opened & ~dut.link_up, source.valid & source.last)
        self.implies("cut_is_an_end", dut.cut, opened & source.valid & source.last)
        # The end that was added stays until it is accepted, also when the link is up again.
        self.check("cut_stays", ~self.previous(dut.cut & ~source.ready) | dut.cut)
        self.implies("down_drops", ~dut.link_up & ~dut.cut, ~source.valid)
        self.helper("inside", opened == dut.inside)
        self.helper("owed", ~dut.owed | opened)
        self.helper("sink_inside", ~opened | dut.owed | inside)


class GatePasses(Harness):
    """While the link is up, whole packets pass the gate unchanged; the gate never holds back a beat while it is down.

    For both kinds of gate. Assumed: the sink offers packets from `first` to `last`.
    """
    def __init__(self, ends):
        Harness.__init__(self)
        self.dut = dut = gate.LinkGate(64, ends=ends)
        sink, source   = dut.sink, dut.source
        self.free(sink, source.ready, dut.link_up)
        if not ends:
            self.tied(dut.cut, dut.owed)
        well_formed, inside = self.packets(sink)
        self.assume("packets", well_formed)
        # The packet on the sink began while the link was up and no end was owed, and the link did not go down since.
        whole  = Signal()
        begins = Signal()
        was    = Signal()
        self.comb += [
            begins.eq(sink.first & ~self.previous(dut.cut & ~source.ready)),
            whole.eq(dut.link_up & Mux(inside, was, begins)),
        ]
        self.sync += If(sink.valid & sink.ready, was.eq(whole)).Elif(~dut.link_up, was.eq(0))
        same = Cat(sink.dat, sink.be, sink.first, sink.last) == Cat(source.dat, source.be, source.first, source.last)
        self.implies("passes", whole & sink.valid, source.valid & same & (sink.ready == source.ready))
        self.implies("drops_the_rest", inside & ~whole & ~dut.cut, ~source.valid)
        self.implies("never_waits_for_a_lost_link", ~dut.link_up & ~dut.cut, sink.ready)
        self.helper("inside", (inside & was & dut.link_up) == (dut.inside & dut.link_up
            & ~self.previous(dut.cut & ~source.ready)))

PROOFS = [
    Proof("gate, with ends", GateEnds, depth=12, induction=2),
    Proof("gate, with ends", GatePasses, depth=12, induction=2, options=dict(ends=True)),
    Proof("gate, without", GatePasses, depth=12, induction=2, options=dict(ends=False)),
]

MUTANTS = [
    Mutant("loses_last", PROOFS[0], gate, "self.cut.eq(owed | (inside & ~self.link_up))", "self.cut.eq(owed)"),
    Mutant("forgets_the_end_it_owes", PROOFS[0], gate, "owed.eq(self.cut & ~source.ready)", "owed.eq(0)"),
    Mutant("passes_the_rest", PROOFS[2], gate, "(sink.first | inside)", "1"),
    Mutant("stops_without_link", PROOFS[2], gate, "Mux(passes, source.ready, ~owed)", "source.ready & passes"),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
