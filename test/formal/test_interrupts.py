#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Messages of the user's interrupts: gateware/soc/interrupts.py."""

from migen import *

from litex.gen import *

from litepcie_soc.soc import interrupts

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

COUNT = 2

# Properties ---------------------------------------------------------------------------------------


class Interrupts(Harness):
    """An interrupt sends one message for each arming at most, and no pulse is lost.

    For any sources, registers, waits of the messages, and resets. Interrupt 0 is a level and 1 a pulse.
    """
    def __init__(self):
        Harness.__init__(self)
        level, pulse = Signal(), Signal()
        self.dut = dut = interrupts.UserInterrupts([("level", level, False), ("pulse", pulse, True)])
        self.free(level, pulse, dut.source.ready, dut.enable, dut.reset)
        self.tied("*")
        bits = {name: Signal(COUNT) for name in ("arm", "disarm", "forget")}
        self.free(*bits.values())
        for name, signal in bits.items():
            self.comb += [getattr(dut, name).re.eq(1), getattr(dut, name).storage.eq(signal)]
        self.comb += [dut.vector.fields.first.eq(0), dut.vector.fields.each.eq(1)]
        source  = dut.source
        sent    = Signal(COUNT)
        allowed = Signal(COUNT)   # Armed, and no message since.
        owed    = Signal()        # A pulse for which no message was sent.
        self.comb += If(source.valid & source.ready, sent.eq(1 << source.dat))
        self.sync += [
            allowed.eq(((allowed & ~sent) | bits["arm"]) & ~Replicate(dut.reset, COUNT)),
            owed.eq((owed & ~sent[1] & ~bits["forget"][1] & ~dut.reset) | pulse),
        ]
        begins = source.valid & ~self.previous(source.valid & ~source.ready)
        for n in range(COUNT):
            self.implies(f"once_for_each_arming_{n}", begins & (source.dat == n) & ~self.previous(dut.reset),
                self.previous(allowed[n]))
            self.implies(f"has_a_cause_{n}", begins & (source.dat == n), self.previous(dut.pending.status[n]))
            self.implies(f"disarmed_after_message_{n}", self.previous(sent[n]), ~dut.armed.status[n])
            self.implies(f"fired_says_so_{n}", self.previous(sent[n] & ~dut.reset), dut.fired.status[n])
        self.check("no_pulse_is_lost", dut.pending.status[1] == owed)
        self.check("message_stays",    self.stable(source))
        # An armed pulse has its message soon, if nothing holds the messages.
        held   = ~dut.enable | ~source.ready | dut.reset | (bits["disarm"] | bits["forget"] != 0)
        waits  = Signal(4)
        self.sync += If(held | ~(dut.armed.status[1] & dut.pending.status[1]), waits.eq(0)).Else(waits.eq(waits + 1))
        self.check("comes_soon", waits <= 3*COUNT)

PROOFS  = [Proof("user interrupts", Interrupts, depth=24)]
MUTANTS = [
    Mutant("stays_armed",       PROOFS[0], interrupts, "armed.eq((armed | arm) & ~disarm & ~sent)",
        "armed.eq((armed | arm) & ~disarm)"),
    Mutant("sends_unarmed",     PROOFS[0], interrupts, "self.add_sender(count, armed & pending, sent)",
        "self.add_sender(count, pending, sent)"),
    Mutant("loses_a_pulse",     PROOFS[0], interrupts, "pending[n].eq(source | latched)",
        "pending[n].eq(Mux(sent[n], 0, source | latched))"),
    Mutant("keeps_a_pulse",     PROOFS[0], interrupts, "pending[n] & ~sent[n] & ~forget[n]", "pending[n] & ~forget[n]"),
    Mutant("forgets_to_say_so", PROOFS[0], interrupts, "(fired & ~arm & ~disarm) | sent",
        "(fired | sent) & ~arm & ~disarm"),
    Mutant("stays_at_one",      PROOFS[0], interrupts, "Mux(number == count - 1, 0, number + 1)", "0"),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
