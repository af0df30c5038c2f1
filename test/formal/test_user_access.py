#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Accesses of the host to the user's bus: gateware/tlp/completer_user.py."""

from migen import *

from litex.gen import *

from litepcie_soc.tlp import completer_user

from test.formal.harness import Harness, inner
from test.formal.proof import Mutant, Proof, cases

TIMEOUT = 4           # Cycles.
ORIGIN  = 0x8200_0000
SIZE    = 4096

# Properties ---------------------------------------------------------------------------------------


class Accesses(Harness):
    """Each access to the user's bus ends once, in time, with the answer of its own bus cycle or as failed.

    For any slave: silent, late, with errors, with answers at any time. Assumed: a request is held until it is done.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = completer_user.UserAccess(completer_user.UserBus(ORIGIN, SIZE, TIMEOUT))
        bus      = dut.bus
        self.free(dut.start, dut.we, dut.dword, dut.be, dut.dat_w, dut.abort, bus.ack, bus.err, bus.dat_r)
        request  = Cat(dut.we, dut.dword, dut.be, dut.dat_w)
        self.assume("held", ~self.previous(dut.start & ~dut.done) | (dut.start & (request == self.previous(request))))

        # Whose the cycle on the bus is: of this request, or of one that ended before its slave answered.
        begins, own, waited = Signal(), Signal(), Signal(8)
        begun  = self.since(begins, dut.done)
        self.comb += [
            begins.eq(bus.cyc & ~self.previous(bus.cyc)),
            own.eq(bus.cyc & (begins | begun)),
        ]
        self.sync += If(dut.start & ~dut.done, waited.eq(waited + 1)).Else(waited.eq(0))
        beyond   = dut.dword >= SIZE // 4
        answered = own & bus.ack & ~bus.err
        refused  = dut.abort | (bus.cyc & ~own) | beyond | (own & bus.err)

        self.check("never_hangs",           waited <= TIMEOUT + 3)
        self.implies("no_end_unasked",      dut.done, dut.start)
        self.implies("ends_once",           self.previous(dut.done), ~dut.done)
        self.implies("answer_is_its_own",   dut.done & ~dut.failed & (dut.be != 0),
            self.previous(answered) & (dut.dat_r == self.previous(bus.dat_r)))
        self.implies("failure_has_a_cause", dut.done & dut.failed, self.previous(refused) | (waited >= TIMEOUT))
        self.implies("without_bytes",       dut.start & (dut.be == 0), ~own & ~(dut.done & dut.failed))
        self.implies("asks_what_it_shall",  own,
            (bus.adr == ORIGIN // 4 + dut.dword) & (bus.we == dut.we) & (bus.sel == dut.be) & (bus.dat_w == dut.dat_w))
        self.implies("in_its_range",        bus.cyc, bus.adr[log2_int(SIZE // 4):] == ORIGIN // SIZE)
        cycle = Cat(bus.adr, bus.we, bus.sel, bus.dat_w)
        ends  = bus.ack | bus.err | dut.abort
        self.implies("cycle_stays",         self.previous(bus.cyc & ~ends), bus.cyc & (cycle == self.previous(cycle)))
        self.implies("cycle_ends",          self.previous(bus.cyc & ends), ~bus.cyc)
        self.check("strobe",                bus.stb == bus.cyc)
        state, count = dut.fsm.ongoing, inner(dut.timer, "count")
        self.helper("idle",    ~state("IDLE") | (waited == 0))
        self.helper("asked",   state("IDLE") | dut.start)
        self.helper("access",  ~state("ACCESS") | (own & (waited + count == TIMEOUT + 1)))
        self.helper("done",    ~state("DONE") | (waited <= TIMEOUT + 2))
        self.helper("open",    ~begun | ~state("IDLE"))
        self.helper("count",   count <= TIMEOUT)

PROOFS  = [Proof("user access", Accesses, depth=24, induction=4)]
MUTANTS = [
    Mutant("takes_a_late_answer", PROOFS[0], completer_user, ".Elif(opened | self.abort |", ".Elif(self.abort |"),
    Mutant("waits_for_ever",      PROOFS[0], completer_user, "If(answered | self.abort | timer.done,",
        "If(answered | self.abort,"),
    Mutant("takes_silence_as_an_answer", PROOFS[0], completer_user, "~bus.ack | bus.err)", "bus.err)"),
    Mutant("takes_an_error_as_an_answer", PROOFS[0], completer_user, "~bus.ack | bus.err)", "~bus.ack & ~bus.err)"),
    Mutant("ends_the_cycle_too_soon", PROOFS[0], completer_user, "If(opened & (answered | self.abort),",
        "If(opened & (answered | self.abort | timer.done),"),
    Mutant("leaves_the_range",    PROOFS[0], completer_user, "(self.dword[offset_bits:] != 0)", "0"),
    Mutant("forgets_the_abort",   PROOFS[0], completer_user, "If(opened & (answered | self.abort),",
        "If(opened & answered,"),
    Mutant("ends_twice",          PROOFS[0], completer_user, """            self.done.eq(1),
            NextState("IDLE")""", """            self.done.eq(1),
            If(~self.failed | ~self.start, NextState("IDLE")).Else(NextValue(self.failed, 0))"""),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
