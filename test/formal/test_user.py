# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Interrupts of the user, MSI-X, and the user's bus."""

from migen import *
from litex.gen import *

from litepcie_soc.axi import lite
from litepcie_soc.soc import interrupts, msi
from litepcie_soc.tlp import completer_user
from litepcie_soc.tlp.ports import MemoryWritePort
from test.formal.harness import Harness, inner
from test.formal.proof import Mutant, Proof, cases

# Messages of the user's interrupts: gateware/soc/interrupts.py ------------------------------------

COUNT = 2


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
        self.sync += [allowed.eq(((allowed & ~sent) | bits["arm"]) & ~Replicate(dut.reset, COUNT)),
            owed.eq((owed & ~sent[1] & ~bits["forget"][1] & ~dut.reset) | pulse)]
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
    Mutant("loses_a_pulse",     PROOFS[0], interrupts, "pending[n].eq(source | latched)",
        "pending[n].eq(Mux(sent[n], 0, source | latched))")]


VECTORS = 2


class Messages(Harness):
    """A request of a vector gives one message or more, or pends; a masked vector or function begins none.

    For any vector, masks and enables that change at any time, resets, and messages that are dropped. Assumed: the port
    reports each message once after it took it, and requests have a vector of the table.
    """
    def __init__(self):
        Harness.__init__(self)
        port     = MemoryWritePort(64, "msix")
        self.dut = dut = msi.MSIX(port, VECTORS)
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
        self.comb += [begins.eq(out.valid & ~self.previous(out.valid & ~out.ready) & (vector == which)),
            may.eq(dut.enable & ~dut.function_mask & dut.can_send & ((dut.masked >> which) & 1 == 0))]
        # The host still has to get a message of the vector.
        self.sync += [If(begins, wanted.eq(0)),
            If((sink.valid & (sink.dat == which)) | (port.sent & port.dropped & (vector == which)), wanted.eq(1)),
            If(~dut.enable | dut.clear, wanted.eq(0))]
        pending = (dut.pending >> which) & 1
        self.implies("nothing_is_lost",       wanted & ~begins, pending)
        self.implies("nothing_is_invented",   pending, wanted)
        self.implies("mask_holds",            begins, self.previous(may))
        self.check("message_stays",           self.stable(out))
        self.implies("never_two_at_once",     out.valid, ~taken)
        self.helper("vector", vector < VECTORS)
        self.helper("taken",  taken == dut.fsm.ongoing("SENT"))
        self.helper("valid",  out.valid == dut.fsm.ongoing("SEND"))

NEW = [Proof("msix", Messages, depth=26, induction=3)]
PROOFS  += NEW
MUTANTS += [
    Mutant("forgets_the_mask",          NEW[0], msi, "self.pending & ~self.masked &", "self.pending &"),
    Mutant("loses_a_dropped_message",   NEW[0], msi, "| Mux(lost, 1 << vector, 0)", "")]

# Accesses of the host to the user's bus: gateware/tlp/completer_user.py ---------------------------

TIMEOUT = 4           # Cycles.
ORIGIN  = 0x8200_0000
SIZE    = 4096


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
        self.comb += [begins.eq(bus.cyc & ~self.previous(bus.cyc)), own.eq(bus.cyc & (begins | begun))]
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

NEW = [Proof("user access", Accesses, depth=24, induction=4)]
PROOFS  += NEW
MUTANTS += [
    Mutant("takes_a_late_answer", NEW[0], completer_user, ".Elif(opened | self.abort |", ".Elif(self.abort |"),
    Mutant("ends_twice",          NEW[0], completer_user, """            self.done.eq(1),
            NextState("IDLE")""", """            self.done.eq(1),
            If(~self.failed | ~self.start, NextState("IDLE")).Else(NextValue(self.failed, 0))"""),
]

# The user's bus as an AXI4-Lite master: gateware/axi/lite.py --------------------------------------

class Transactions(Harness):
    """Each cycle of the user's bus gets the answer of its own AXI4-Lite transaction; valid and payload stay.

    For any slave, any reset of the slave, any abort, and any time that the handshake takes between the two clocks.
    Assumed: a cycle stays until it is answered or aborted, then it is off for a clock cycle.
    """
    def __init__(self):
        Harness.__init__(self)
        self.requester = requester = lite.AXILiteRequester()
        self.master    = master    = lite.AXILiteMaster()
        bus, reset     = requester.bus, master.reset
        self.free(bus.cyc, bus.adr, bus.we, bus.sel, bus.dat_w, reset)
        self.free(*[getattr(master, name) for name, _, way in lite.axi_lite_layout() if way == "input"])
        asks    = Signal()  # When a value of the other side is seen.
        answers = Signal()
        self.free(asks, answers)
        self.sync += [If(asks, master.asked.eq(requester.asked)), If(answers, requester.answered.eq(master.answered))]
        self.comb += [bus.stb.eq(bus.cyc), master.request.eq(requester.request), requester.answer.eq(master.answer)]
        cycle = Cat(bus.adr, bus.we, bus.sel, bus.dat_w)
        ends  = bus.ack | bus.err
        self.assume("cycle_stays", ~self.previous(bus.cyc & ~ends) | ~bus.cyc | (cycle == self.previous(cycle)))
        self.assume("cycle_ends",  ~self.previous(bus.cyc & ends) | ~bus.cyc)
        # Channels ---------------------------------------------------------------------------------
        for valid, ready, payload in (
            (master.awvalid, master.awready, Cat(master.awaddr, master.awprot)),
            (master.wvalid,  master.wready,  Cat(master.wdata, master.wstrb)),
            (master.arvalid, master.arready, Cat(master.araddr, master.arprot))):
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
            (read,  master.arvalid & master.arready, master.rvalid & master.rready)):
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
        self.implies("its_bytes", own & master.wvalid, bus.we & (master.wdata == bus.dat_w) & (master.wstrb == bus.sel))
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
            If(requester.asked & ~self.previous(requester.asked), performed.eq(0), good.eq(0), bad.eq(reset))]
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

NEW = [Proof("AXI4-Lite", Transactions, depth=20, induction=3)]
PROOFS  += NEW
MUTANTS += [
    Mutant("gives_an_old_answer", NEW[0], lite, "ends.eq(owned & bus.cyc)", "ends.eq(bus.cyc)"),
    Mutant("forgets_the_reset", NEW[0], lite, "self.arvalid.eq(ar & ~reset)", "self.arvalid.eq(ar)")]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
