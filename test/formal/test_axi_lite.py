#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The user's bus as an AXI4-Lite master: gateware/standalone/axi_lite.py."""

from migen import *

from litex.gen import *

from litepcie_soc.standalone import axi_lite

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

# Properties ---------------------------------------------------------------------------------------


class Transactions(Harness):
    """Each cycle of the user's bus gets the answer of its own AXI4-Lite transaction; valid and payload stay.

    For any slave, any reset of the slave, any abort, and any time that the handshake takes between the two clocks.
    Assumed: a cycle stays until it is answered or aborted, then it is off for a clock cycle.
    """
    def __init__(self):
        Harness.__init__(self)
        self.requester = requester = axi_lite.AXILiteRequester()
        self.master    = master    = axi_lite.AXILiteMaster()
        bus, reset     = requester.bus, master.reset
        self.free(bus.cyc, bus.adr, bus.we, bus.sel, bus.dat_w, reset)
        self.free(*[getattr(master, name) for name, _, way in axi_lite.axi_lite_layout() if way == "input"])
        asks    = Signal()  # When a value of the other side is seen.
        answers = Signal()
        self.free(asks, answers)
        self.sync += [
            If(asks, master.asked.eq(requester.asked)),
            If(answers, requester.answered.eq(master.answered)),
        ]
        self.comb += [
            bus.stb.eq(bus.cyc),
            master.request.eq(requester.request),
            requester.answer.eq(master.answer),
        ]
        cycle = Cat(bus.adr, bus.we, bus.sel, bus.dat_w)
        ends  = bus.ack | bus.err
        self.assume("cycle_stays", ~self.previous(bus.cyc & ~ends) | ~bus.cyc | (cycle == self.previous(cycle)))
        self.assume("cycle_ends",  ~self.previous(bus.cyc & ends) | ~bus.cyc)

        # Channels ---------------------------------------------------------------------------------
        for valid, ready, payload in (
            (master.awvalid, master.awready, Cat(master.awaddr, master.awprot)),
            (master.wvalid,  master.wready,  Cat(master.wdata, master.wstrb)),
            (master.arvalid, master.arready, Cat(master.araddr, master.arprot)),
        ):
            name  = valid.backtrace[-1][0]
            waits = self.previous(valid & ~ready) & ~reset
            self.implies(f"{name}_stays", waits, valid & (payload == self.previous(payload)))
            self.implies(f"{name}_not_in_reset", reset, ~valid)

        # Transactions: what was accepted and not answered -----------------------------------------
        wrote = Signal()
        took  = Signal()
        read  = Signal()
        for state, begins, ended in (
            (wrote, master.awvalid & master.awready, master.bvalid & master.bready),
            (took,  master.wvalid & master.wready,   master.bvalid & master.bready),
            (read,  master.arvalid & master.arready, master.rvalid & master.rready),
        ):
            self.sync += If(reset | ended, state.eq(0)).Elif(begins, state.eq(1))
        self.implies("one_at_a_time", master.awvalid, ~wrote & ~read & ~master.arvalid)
        self.implies("one_datum",     master.wvalid, ~took & ~read & ~master.arvalid)
        self.implies("one_read",      master.arvalid, ~read & ~wrote & ~took)
        self.implies("b_after_both",  master.bready, wrote & took)
        self.implies("r_after_ar",    master.rready, read)

        # The cycle on the bus has begun the request: it, not one that was aborted ------------------
        owned = requester.owned
        own   = bus.cyc & owned
        self.implies("asks_what_it_shall", own, (Cat(requester.request.address, requester.request.we,
            requester.request.be, requester.request.dat) == Cat(Constant(0, 2), cycle)))
        self.implies("reads_it",  own & master.arvalid, ~bus.we & (master.araddr == bus.adr << 2))
        self.implies("writes_it", own & master.awvalid, bus.we & (master.awaddr == bus.adr << 2))
        self.implies("its_bytes", own & master.wvalid,
            bus.we & (master.wdata == bus.dat_w) & (master.wstrb == bus.sel))

        # The answer of the transaction of this cycle ----------------------------------------------
        mine = self.since(requester.asked & ~self.previous(requester.asked) & bus.cyc, ~bus.cyc | ends)
        good = Signal()
        bad  = Signal()
        data = Signal(32)
        performed = Signal()
        b, r = master.bvalid & master.bready, master.rvalid & master.rready
        self.sync += [
            If(b | r,
                performed.eq(1),
                good.eq(~Mux(b, master.bresp[1], master.rresp[1])),
                bad.eq(Mux(b, master.bresp[1], master.rresp[1])),
                data.eq(master.rdata),
            ).Elif(reset & ~performed, bad.eq(1)),
            # A new request.
            If(requester.asked & ~self.previous(requester.asked), performed.eq(0), good.eq(0), bad.eq(reset)),
        ]
        self.implies("answers_its_own", ends, mine)
        self.implies("one_answer",     bus.ack, ~bus.err)
        self.implies("good_is_good",   bus.ack, good & ~bad & performed)
        self.implies("data_is_read",   bus.ack & ~bus.we, bus.dat_r == data)
        self.implies("bad_has_cause",  bus.err, bad)

        # The registers, for the induction ---------------------------------------------------------
        aw, w, ar = master.aw, master.w, master.ar
        idle, write, reads, answer = [master.fsm.ongoing(state) for state in ("IDLE", "WRITE", "READ", "ANSWER")]
        self.helper("phase_idle",   ~idle | ~master.answered)
        self.helper("phase_write",  ~write | (requester.asked & master.asked & ~master.answered & ~requester.answered))
        self.helper("phase_read",   ~reads | (requester.asked & master.asked & ~master.answered & ~requester.answered))
        self.helper("phase_answer", ~answer | master.answered | (requester.asked & master.asked & ~requester.answered))
        self.helper("phase_seen",   ~(answer & master.answered) | requester.asked | requester.answered)
        self.helper("seen_asked",   ~idle | ~master.asked | requester.asked)
        self.helper("seen_answer",  ~idle | ~requester.asked | ~requester.answered)
        self.helper("released",     ~(requester.asked & requester.answered) | (answer & master.answered & master.asked))
        self.helper("not_asked",    ~(requester.asked & ~master.asked & ~requester.answered) | idle)
        self.helper("address",      Mux(write, aw ^ wrote, ~(aw | wrote)))
        self.helper("datum",        Mux(write, w ^ took, ~(w | took)))
        self.helper("read",         Mux(reads, ar ^ read, ~(ar | read)))
        self.helper("kind",         ~(write | reads) | (requester.request.we == write))
        self.helper("owner",        ~owned | requester.asked)
        self.helper("mine",         ~(owned & bus.cyc) | mine | ~self.previous(requester.asked))
        self.helper("unperformed",  ~(write | reads | (idle & self.previous(requester.asked) & requester.asked)) |
            ~(performed | good))
        failed, dat = master.answer.failed, master.answer.dat
        waits = requester.asked & answer
        self.helper("not_yet",      ~(write | reads) | failed)
        self.helper("good",         ~waits | failed | (good & ~bad & performed & (dat == data)))
        self.helper("bad",          ~waits | ~failed | bad)

PROOFS  = [Proof("AXI4-Lite", Transactions, depth=20, induction=3)]
MUTANTS = [
    Mutant("drops_valid", PROOFS[0], axi_lite, "If(reset | self.awready,", "If(reset | self.awready | self.wready,"),
    Mutant("answers_before_the_data", PROOFS[0], axi_lite, "~aw & ~w & ~reset", "~aw & ~reset"),
    Mutant("takes_an_error_as_an_answer", PROOFS[0], axi_lite, "NextValue(answer.failed, resp[1])",
        "NextValue(answer.failed, 0)"),
    Mutant("gives_an_old_answer", PROOFS[0], axi_lite, "ends.eq(owned & bus.cyc)", "ends.eq(bus.cyc)"),
    Mutant("asks_too_soon", PROOFS[0], axi_lite, "~self.answered & bus.cyc", "bus.cyc"),
    Mutant("forgets_the_reset", PROOFS[0], axi_lite, "self.arvalid.eq(ar & ~reset)", "self.arvalid.eq(ar)"),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
