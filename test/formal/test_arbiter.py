#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Packet arbiter: gateware/common/arbiter.py."""

from migen import *

from litex.gen import *

from litepcie_soc.common import arbiter

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

COUNT = 3

# Properties ---------------------------------------------------------------------------------------


class ArbiterKeepsPackets(Harness):
    """Packets of the sinks pass whole and unmixed, no beat is lost or made up, and no sink waits for ever.

    For three sinks, packets of any length and any back-pressure. Assumed: each sink offers packets from `first` to
    `last`, and does not change a beat that waits. `soon` has any value.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = arbiter.PacketArbiter([("dat", 4)], COUNT)
        source   = dut.source
        self.free(*dut.sinks, dut.soon, source.ready)
        insides = []
        for n, sink in enumerate(dut.sinks):
            well_formed, inside = self.packets(sink)
            insides.append(inside)
            self.assume(f"packets_{n}", well_formed & self.stable(sink))
        well_formed, inside = self.packets(source)
        self.check("packets", well_formed)
        self.check("stable", self.stable(source))

        # The sinks that a beat leaves are one, and it is the beat on `source`.
        taken = Signal(COUNT)
        other = Signal(COUNT)  # Has a packet open while another sink sends.
        for n, sink in enumerate(dut.sinks):
            self.comb += taken[n].eq(sink.valid & sink.ready)
            self.implies(f"same_beat_{n}", taken[n], source.valid & source.ready & (source.dat == sink.dat)
                & (source.first == sink.first) & (source.last == sink.last))
            self.comb += other[n].eq(insides[n] & (dut.grant != n))
        self.check("one_sink", (taken & (taken - 1)) == 0)
        self.check("no_beat_made_up", ~(source.valid & source.ready) | (taken != 0))
        self.check("unmixed", other == 0)

        # A sink that waits is passed over by at most one packet of each other sink.
        for n, sink in enumerate(dut.sinks):
            passed = Signal(4)
            self.sync += If(~sink.valid | taken[n], passed.eq(0)).Elif(
                source.valid & source.ready & source.first, passed.eq(passed + 1))
            self.check(f"served_{n}", passed <= COUNT)
            # Each packet brings the grant nearer to the sink.
            bound = Array([COUNT - (n - grant) % COUNT for grant in range(COUNT)])[dut.grant]
            self.helper(f"nearer_{n}", ~sink.valid | (passed <= bound + inside))

        # A sink that has a packet waits for no sink that has none, but for one cycle.
        waits = Reduce("OR", [sink.valid for sink in dut.sinks])
        self.check("no_second_idle_cycle", ~self.previous(waits & ~source.valid & ~inside) | source.valid)

        # For induction.
        self.helper("inside", inside == dut.inside)
        self.helper("inside_of_grant", inside == Array(insides)[dut.grant])
        self.helper("grant", dut.grant < COUNT)

PROOFS = [Proof("arbiter", ArbiterKeepsPackets, depth=12, induction=2)]

MUTANTS = [
    Mutant("grant_changes_in_a_packet", PROOFS[0], arbiter, "source.ready & source.last, ~inside",
        "source.ready, ~inside"),
    Mutant("soon_passes_over_valid", PROOFS[0], arbiter, "(self.soon[n] & (valid == 0))", "self.soon[n]"),
    Mutant("always_the_first_sink", PROOFS[0], arbiter, "range(1, count + 1)", "range(count, count + 1)"),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
